/** What a question is about, held against the columns: a subject that no column speaks of cannot be answered from the file, and the report says so. */
import { nameTokens } from '../../tools/table/column-role.ts';
import type { TableProfile } from '../../tools/table/table-profile.ts';
import { endsSentence, readTokens, type Token } from './prompt-tokens.ts';

type Subject = { name: string; asked: ReadonlySet<string>; columns: RegExp };

const set = (list: string) => new Set(list.split(' '));
const money =
  /amount|revenue|sales|turnover|total|price|value|paid|spent|spend|cost|fee|income|umsatz|betrag|erlös|einnahme|preis|wert|kosten|ausgabe|summe|netto|brutto|net$|gross|budget|actual|invoice|rent|salary|wage|gehalt|lohn|saldo|balance|rate$|stundensatz|tarif|£|\$|€|eur|usd|gbp|chf/i;
const subjects: readonly Subject[] = [
  { name: 'revenue', asked: set('revenue revenues turnover umsatz umsätze erlös erlöse'), columns: money },
  { name: 'cost', asked: set('cost costs kosten'), columns: money },
  {
    name: 'profit',
    asked: set('profit profits profitable margin margins gewinn gewinne marge margen'),
    columns: /profit|margin|gewinn|marge|ergebnis|earning|deckungsbeitrag/i,
  },
  {
    name: 'country or place',
    asked: set('country countries land länder ländern nation'),
    columns: /country|countries|land|nation|region|market|iso|locale|ort|stadt|city|location|place|address|adresse/i,
  },
  {
    name: 'city or place',
    asked: set('city cities stadt städte town towns'),
    columns: /city|cities|stadt|ort|town|location|place|address|adresse|branch|filiale|store|site|standort|station|plz|postcode|zip/i,
  },
  {
    name: 'region',
    asked: set('region regions'),
    columns: /region|area|gebiet|territory|country|land|state|city|stadt|ort|location|bezirk|zone|market/i,
  },
  { name: 'age', asked: set('age ages alter'), columns: /age|alter|birth|geburt|dob|years|jahr/i },
  { name: 'gender', asked: set('gender sex geschlecht'), columns: /gender|sex|geschlecht|anrede/i },
  {
    name: 'supplier',
    asked: set('supplier suppliers vendor vendors lieferant lieferanten'),
    columns: /supplier|vendor|lieferant|hersteller|manufacturer|carrier|provider|company|firma|name/i,
  },
  {
    name: 'weather',
    asked: set('weather wetter'),
    columns: /weather|wetter|temp|rain|regen|wind|sun|cloud|niederschlag/i,
  },
  { name: 'e-mail address', asked: set('email emails'), columns: /mail|contact|kontakt|address|adresse/i },
  { name: 'phone number', asked: set('phone telephone telefonnummer telefon'), columns: /phone|tel|mobil|fax|contact|kontakt|nummer/i },
  {
    name: 'satisfaction or rating',
    asked: set('satisfaction satisfied rating ratings zufriedenheit zufrieden bewertung'),
    columns: /satisf|rating|score|stars|zufried|bewert|sterne|nps|recommend|note|grade|feedback|review|comment|kommentar/i,
  },
  {
    name: 'salary',
    asked: set('salary salaries wage wages gehalt gehälter lohn löhne'),
    columns: /salar|wage|gehalt|lohn|pay|comp|income|brutto|netto|gross|amount|betrag|rate/i,
  },
  { name: 'teacher', asked: set('teacher teachers lehrer lehrerin lehrkraft'), columns: /teacher|lehr|tutor|instructor|staff|name/i },
  { name: 'discount', asked: set('discount discounts rabatt rabatte'), columns: /discount|rabatt|nachlass|price|preis|skonto|percent|%/i },
  {
    name: 'competitors',
    asked: set('competitor competitors competition konkurrenz wettbewerber'),
    columns: /compet|konkurr|wettbewerb|company|firma|brand/i,
  },
  { name: 'browser or device', asked: set('browser browsers'), columns: /browser|agent|device|client|gerät/i },
];
const causes = set('why warum weshalb wieso reason reasons cause');
const questioning = set(
  'how what which who where when why whose wie was welche welcher welches welchem wer wo wann warum wieviel show tell give list find calculate compute name zeige nenne finde berechne',
);

/** A sentence for each subject that is asked for and that no column of any table speaks of. */
export function absentSubjects(task: string, tables: readonly TableProfile[]): string[] {
  const columns = tables.filter(({ column_count: count }) => count > 0).flatMap((table) => table.columns.map(({ name }) => name));
  if (columns.length === 0) return [];
  const tokens = readTokens(task.slice(0, 8000));
  const values = new Set(
    tables.flatMap(({ columns: own }) => own.flatMap(({ frequent }) => (frequent ?? []).map(({ value }) => value.toLowerCase()))),
  );
  const found: string[] = [];
  for (const { name, asked, columns: speaking } of subjects) {
    const word = tokens.find((token, i) => token.kind === 'word' && asked.has(token.lower) && isAsked(tokens, i));
    if (word === undefined || columns.some((column) => speaking.test(column)) || values.has(word.lower)) continue;
    if (
      tables.some((table) => table.columns.some((column) => column.unit !== undefined && /[$€£]|EUR|USD|GBP|CHF/.test(column.unit))) &&
      speaking === money
    )
      continue;
    found.push(`Not in the data: no column tells ${name} ("${word.text}" was asked for), so this cannot be answered from the files.`);
  }
  return found;
}

/** "Why …?": a table shows where figures stand out, and not what caused them. */
export function causeRemark(task: string, tables: readonly TableProfile[]): string[] {
  if (tables.every(({ rows }) => rows === 0)) return [];
  const tokens = readTokens(task.slice(0, 8000));
  if (!tokens.some(({ lower, kind }) => kind === 'word' && causes.has(lower))) return [];
  if (
    tables.some((table) =>
      table.columns.some(({ name }) => nameTokens(name).some((token) => ['reason', 'grund', 'cause', 'ursache'].includes(token))),
    )
  )
    return [];
  return ['As to why: the table tells which rows and groups make up a figure, not what caused them; no column gives reasons.'];
}

/** "Will it be better next month?" */
export function forecastRemark(task: string, tables: readonly TableProfile[]): string[] {
  if (tables.every(({ rows }) => rows === 0)) return [];
  const asks =
    /(?<![\p{L}])(?:will (?:it|we|they|sales|this|the)|what will|wird (?:es|der|die|das)|wie wird|werden wir)(?![\p{L}])[^.!?\n]{0,200}\?/iu.test(
      task.slice(0, 8000),
    );
  return asks ? ['What will be is not in the files: the report tells what was, and makes no forecast.'] : [];
}

/** Within a sentence that asks or orders, not in one that tells. */
function isAsked(tokens: readonly Token[], at: number): boolean {
  let from = at;
  while (from > 0 && at - from < 40 && !endsSentence(tokens, from - 1)) from--;
  for (let i = from; i < tokens.length && i < at + 40; i++) {
    if (questioning.has(tokens[i]!.lower) || tokens[i]!.text === '?') return true;
    if (i > at && endsSentence(tokens, i)) return false;
  }
  return false;
}
