/** Compares the subject of a question with the columns: a subject without a column cannot be answered from the file, and the report says so. */
import { nameTokens } from '../../table/column-role.ts';
import type { TableProfile } from '../../table/table-profile.ts';
import { endsSentence, readTokens, type Token } from './prompt-tokens.ts';

/** `grouping`: an everyday word that counts only in the form of a grouping: "which product", "per customer". */
type Subject = { name: string; keywords: ReadonlySet<string>; columns: RegExp; grouping?: true };

const set = (list: string) => new Set(list.split(' '));
const money =
  /amount|revenue|sales|turnover|total|price|value|paid|spent|spend|cost|fee|income|umsatz|betrag|erlös|einnahme|preis|wert|kosten|ausgabe|summe|netto|brutto|net$|gross|budget|actual|invoice|rent|salary|wage|gehalt|lohn|saldo|balance|rate$|stundensatz|tarif|£|\$|€|eur|usd|gbp|chf/i;
const subjects: readonly Subject[] = [
  { name: 'revenue', keywords: set('revenue revenues turnover umsatz umsätze erlös erlöse'), columns: money },
  { name: 'cost', keywords: set('cost costs kosten kostet'), columns: money },
  {
    name: 'profit',
    keywords: set('profit profits profitable margin margins gewinn gewinne marge margen'),
    columns: /profit|margin|gewinn|marge|ergebnis|earning|deckungsbeitrag/i,
  },
  {
    name: 'country or place',
    keywords: set('country countries land länder ländern nation'),
    columns: /country|countries|land|nation|region|market|iso|locale|ort|stadt|city|location|place|address|adresse/i,
  },
  {
    name: 'city or place',
    keywords: set('city cities stadt städte town towns'),
    columns: /city|cities|stadt|ort|town|location|place|address|adresse|branch|filiale|store|site|standort|station|plz|postcode|zip/i,
  },
  {
    name: 'region',
    keywords: set('region regions'),
    columns: /region|area|gebiet|territory|country|land|state|city|stadt|ort|location|bezirk|zone|market/i,
  },
  { name: 'age', keywords: set('age ages alter'), columns: /age|alter|birth|geburt|dob|years|jahr/i },
  { name: 'gender', keywords: set('gender sex geschlecht'), columns: /gender|sex|geschlecht|anrede/i },
  {
    name: 'supplier',
    keywords: set('supplier suppliers vendor vendors lieferant lieferanten'),
    columns: /supplier|vendor|lieferant|hersteller|manufacturer|carrier|provider|company|firma|name/i,
  },
  {
    name: 'weather',
    keywords: set('weather wetter'),
    columns: /weather|wetter|temp|rain|regen|wind|sun|cloud|niederschlag/i,
  },
  { name: 'e-mail address', keywords: set('email emails'), columns: /mail|contact|kontakt|address|adresse/i },
  { name: 'phone number', keywords: set('phone telephone telefonnummer telefon'), columns: /phone|tel|mobil|fax|contact|kontakt|nummer/i },
  {
    name: 'satisfaction or rating',
    keywords: set('satisfaction satisfied rating ratings zufriedenheit zufrieden bewertung'),
    columns: /satisf|rating|score|stars|zufried|bewert|sterne|nps|recommend|note|grade|feedback|review|comment|kommentar/i,
  },
  {
    name: 'salary',
    keywords: set('salary salaries wage wages gehalt gehälter lohn löhne'),
    columns: /salar|wage|gehalt|lohn|pay|comp|income|brutto|netto|gross|amount|betrag|rate/i,
  },
  { name: 'teacher', keywords: set('teacher teachers lehrer lehrerin lehrkraft'), columns: /teacher|lehr|tutor|instructor|staff|name/i },
  {
    name: 'discount',
    keywords: set('discount discounts rabatt rabatte'),
    columns: /discount|rabatt|nachlass|price|preis|skonto|percent|%/i,
  },
  {
    name: 'competitors',
    keywords: set('competitor competitors competition konkurrenz wettbewerber'),
    columns: /compet|konkurr|wettbewerb|company|firma|brand/i,
  },
  {
    name: 'reason',
    keywords: set('reasons grund gründe gründen'),
    columns:
      /reason|grund|ursache|cause|comment|kommentar|note|remark|bemerk|category|kategorie|type|diagnos|complaint|issue|fault|problem|status|code/i,
  },
  {
    name: 'product',
    grouping: true,
    keywords: set('product products produkt produkte artikel'),
    columns: /product|produkt|artik|article|item|sku|name|good|ware|material|model|type|categor|desc|bezeich|title|part|ean|service|plan/i,
  },
  {
    name: 'customer',
    grouping: true,
    keywords: set('customer customers kunde kunden client clients'),
    columns:
      /custom|kunde|client|name|user|member|buyer|account|company|firma|mail|person|guest|gast|patient|subscriber|contact|debitor|empf/i,
  },
  {
    name: 'department or team',
    grouping: true,
    keywords: set('department departments abteilung abteilungen'),
    columns: /depart|abteil|team|division|unit|bereich|group|kostenstelle|cost.?cent|section|dept|function/i,
  },
  {
    name: 'seller or staff member',
    grouping: true,
    keywords: set('salesperson salespeople seller sellers verkäufer verkäuferin cashier'),
    columns: /sales|seller|verk|agent|rep|staff|employee|mitarb|cashier|kass|name|person|owner|by|user/i,
  },
  {
    name: 'channel',
    grouping: true,
    keywords: set('channel channels kanal kanäle'),
    columns: /channel|kanal|source|quelle|medium|campaign|platform|via|type|origin/i,
  },
  {
    name: 'payment method',
    keywords: set('zahlungsart zahlungsarten zahlungsmethode'),
    columns: /pay|zahl|method|card|karte|bar|cash|art$/i,
  },
  {
    name: 'stock',
    grouping: true,
    keywords: set('stock inventory lagerbestand lagerbestände vorrat vorräte'),
    columns: /stock|invent|bestand|lager|hand|qty|quant|menge|avail|vorrat|anzahl|count|level/i,
  },
  {
    name: 'returns',
    grouping: true,
    keywords: set('returns refunds retouren rücksendungen'),
    columns: /return|refund|retour|rück|status|state|type|reason|qty|quant|amount|menge/i,
  },
  {
    name: 'complaints',
    grouping: true,
    keywords: set('complaint complaints beschwerde beschwerden reklamation reklamationen'),
    columns: /complain|beschwer|reklam|ticket|issue|comment|feedback|category|type|subject|status/i,
  },
  {
    name: 'delivery',
    grouping: true,
    keywords: set('delivery deliveries lieferzeit lieferung lieferungen'),
    columns: /deliver|liefer|ship|versand|arriv|eta|received|carrier|transit|dispatch|eingang/i,
  },
  {
    name: 'budget or target',
    grouping: true,
    keywords: set('budget budgets target targets soll planwert planwerte'),
    columns: /budget|target|plan|soll|ziel|goal|forecast|quota|vorgabe/i,
  },
  { name: 'tax', keywords: set('vat mwst mehrwertsteuer umsatzsteuer'), columns: /tax|vat|mwst|ust|steuer|netto|brutto|net$|gross/i },
  {
    name: 'temperature',
    keywords: set('temperature temperatures temperatur temperaturen'),
    columns: /temp|grad|°|celsius|fahrenheit|deg|value|wert|reading/i,
  },
  {
    name: 'sickness or absence',
    keywords: set('sickness absences absenteeism krankheit krankheitstage fehlzeiten'),
    columns: /sick|absen|krank|fehl|leave|away|present|attend|reason|grund|type|art|status/i,
  },
  {
    name: 'nationality',
    keywords: set('nationality nationalities nationalität nationalitäten'),
    columns: /nation|country|land|citizen|origin|herkunft|staat/i,
  },
  {
    name: 'brand or maker',
    keywords: set('brand brands marke marken manufacturer manufacturers hersteller'),
    columns: /brand|marke|manufact|herstell|maker|make|vendor|supplier|model|company|firma|name|product|artikel/i,
  },
  { name: 'emissions', keywords: set('emission emissions emissionen co2'), columns: /co2|emiss|carbon|ghg|abgas/i },
  {
    name: 'currency',
    keywords: set('currency currencies währung währungen'),
    columns: /curr|währ|waehr|eur|usd|gbp|chf|€|\$|£|amount|price|betrag|preis/i,
  },
  { name: 'snow', keywords: set('snow schnee snowfall schneefall'), columns: /snow|schnee|precip|niederschlag|weather|wetter/i },
  { name: 'wind', keywords: set('wind windgeschwindigkeit'), columns: /wind|gust|böe|weather|wetter|speed/i },
  {
    name: 'return on investment',
    keywords: set('roi roas'),
    columns: /roi|roas|revenue|umsatz|sales|income|return|profit|gewinn|erlös|value|wert|gain/i,
  },
  {
    name: 'attendance',
    grouping: true,
    keywords: set('attendance anwesenheit'),
    columns: /attend|present|anwes|visit|besuch|absent|fehl|particip|teiln|spectator|zuschauer/i,
  },
  { name: 'mileage', keywords: set('mileage kilometerstand laufleistung'), columns: /mile|km|kilomet|odometer|distance|strecke|lauf/i },
  { name: 'warranty', keywords: set('warranty garantie gewährleistung'), columns: /warrant|garantie|gewähr/i },
  { name: 'insurance', keywords: set('insurance versicherung versicherungen'), columns: /insur|versicher|policy|police|premium|prämie/i },
  { name: 'language', grouping: true, keywords: set('language languages sprache sprachen'), columns: /lang|sprach|locale/i },
  {
    name: 'colour',
    grouping: true,
    keywords: set('color colors colour colours farbe farben'),
    columns: /colo|farb|name|variant|desc|product|artikel/i,
  },
  { name: 'browser or device', keywords: set('browser browsers'), columns: /browser|agent|device|client|gerät/i },
];
const causes = set('why warum weshalb wieso reason cause');
const questioning = set(
  'how what which who where when why whose wie was welche welcher welches welchem wer wo wann warum wieviel show tell give list find calculate compute name zeige nenne finde berechne',
);

/** A sentence for each requested subject that no column of any table covers. */
export function absentSubjects(task: string, tables: readonly TableProfile[]): string[] {
  const columns = tables.filter(({ column_count: count }) => count > 0).flatMap((table) => table.columns.map(({ name }) => name));
  if (columns.length === 0) return [];
  const tokens = readTokens(task.slice(0, 8000));
  const values = new Set(
    tables.flatMap(({ columns: own }) => own.flatMap(({ frequent }) => (frequent ?? []).map(({ value }) => value.toLowerCase()))),
  );
  const found: string[] = [];
  for (const { name, keywords, columns: speaking, grouping } of subjects) {
    const word = tokens.find(
      (token, i) =>
        token.kind === 'word' && keywords.has(token.lower) && isAsked(tokens, i) && (grouping !== true || isGrouping(tokens, i)),
    );
    if (word === undefined || columns.some((column) => speaking.test(column)) || values.has(word.lower)) continue;
    // budget24.csv is about the budget, whatever its columns are called.
    if (tables.some((table) => [...keywords].some((each) => each.length > 3 && table.name.toLowerCase().includes(each)))) continue;
    // The remarks contain the result of price and cost.
    if (name === 'profit' && tables.some(({ remarks }) => remarks.some(({ kind }) => kind === 'margin' || kind === 'flows'))) continue;
    if (
      tables.some((table) => table.columns.some((column) => column.unit !== undefined && /[$€£]|EUR|USD|GBP|CHF/.test(column.unit))) &&
      speaking === money
    )
      continue;
    found.push(`Not in the data: no column tells ${name} ("${word.text}" was asked for), so this cannot be answered from the files.`);
  }
  return found;
}

/** "Why …?": a table shows notable figures, not their causes. */
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

const groupingLeads = set('which welche welcher welches welchen per pro je by nach what each every jede jeder jedes jedem');

/** "Which product", "by the customer". */
function isGrouping(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(Math.max(0, at - 2), at).map(({ lower }) => lower);
  return groupingLeads.has(before.at(-1) ?? '') || (before.at(-1) === 'the' && groupingLeads.has(before[0]!));
}

/** Within a sentence that asks or orders, not in a statement. */
function isAsked(tokens: readonly Token[], at: number): boolean {
  let from = at;
  while (from > 0 && at - from < 40 && !endsSentence(tokens, from - 1)) from--;
  for (let i = from; i < tokens.length && i < at + 40; i++) {
    if (questioning.has(tokens[i]!.lower) || tokens[i]!.text === '?') return true;
    if (i > at && endsSentence(tokens, i)) return false;
  }
  return false;
}

/** "Compared to last year" over data of one year only. */
export function comparedYearRemark(task: string, tables: readonly TableProfile[]): string[] {
  const asks =
    /(?<!\p{L})(?:last year|previous year|prior year|year[ -](?:over|on)[ -]year|yoy|vorjahr\p{L}{0,4}|letzte[sn]? jahr)(?!\p{L})/iu.test(
      task.slice(0, 8000),
    );
  const dates = tables.flatMap(({ columns }) => columns.flatMap(({ dates: own }) => (own === undefined ? [] : [own])));
  const years = new Set(dates.flatMap(({ first, last }) => [first.slice(0, 4), last.slice(0, 4)]));
  const named = tables.some(({ columns, name }) =>
    [name, ...columns.map((column) => column.name)].some((text) => /(?:19|20)\d\d|year|jahr|prev|last|py/i.test(text)),
  );
  if (!asks || dates.length === 0 || years.size !== 1 || named) return [];
  return [`Not in the data: all dates are in ${[...years][0]}, so nothing can be compared with the year before.`];
}

const relating =
  /(?<!\p{L})(?:correlat\p{L}{0,6}|relation(?:ship)?s?|related|depends?|dependen\p{L}{0,4}|influences?|affects?|effects?|connection|connected|link(?:ed)?|impacts?|zusammenhang|zusammenhänge|hängt|hängen|abhängig\p{L}{0,4}|beeinfluss\p{L}{0,4}|einfluss|auswirk\p{L}{0,6}|korrel\p{L}{0,8}|(?:longer|older|larger|bigger|higher|cheaper|heavier|younger|faster)(?: \p{L}{1,30}){1,6} (?:more|less|higher|lower|better|worse|fewer|longer))(?!\p{L})/iu;

/** If the task asks whether columns are related, weak correlations are reported too. */
export function relationAnswers(task: string, tables: readonly TableProfile[]): string[] {
  if (!relating.test(task.slice(0, 8000))) return [];
  return tables.flatMap(({ correlations, columns }) =>
    correlations
      .filter(
        ({ rows, columns: pair }) =>
          rows >= 5 && pair.every((name) => columns.some((column) => column.name === name && column.derived !== true)),
      )
      .slice(0, 6)
      .map(({ columns: [a, b], r, rows }) => {
        const size = Math.abs(r);
        const word = size >= 0.7 ? 'a strong' : size >= 0.4 ? 'a moderate' : size >= 0.2 ? 'a weak' : 'no clear';
        return `Correlation of ${a} and ${b}: ${r.toFixed(2)} over ${rows} rows, ${word} linear relation${size >= 0.2 ? (r > 0 ? ' (they rise together)' : ' (the one falls where the other rises)') : ''}; a correlation is no proof of cause.`;
      }),
  );
}
