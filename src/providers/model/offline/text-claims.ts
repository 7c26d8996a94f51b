/** What a text says of counts and sums beside what a table gives: both figures and their difference. */
import { nameTokens } from '../../table/column-role.ts';
import { clean } from '../../table/columns-in-memory.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { addsUp, countOf, exact, groupedRows, listed, mainMeasure, safe } from './figure.ts';
import { readTokens } from './prompt-tokens.ts';
import { questionsIn } from './questions.ts';
import type { Answer, TextMaterial } from './report.ts';
import { type Checked, statedFigures } from './stated-figures.ts';
import { type Applied, appliedRules } from './stated-rules.ts';
import { type Amount, amountsIn, isMoney, unitOf } from './text/amounts.ts';
import { figuresIn } from './text/figures-in-text.ts';
import { numberOfWord } from './text/number-words.ts';
import { passagesOf } from './text/passages.ts';
import { readUnits, type Unit } from './text/units.ts';

const comparing = wordSet(
  'against compare compared agree agrees match matches check verify true vergleiche vergleichen stimmt stimmen prüfe passt comparez compare vérifie compara comprueba confronta verifica right correct wrong hold holds add differ differs difference richtig wahr falsch korrekt stimmig vrai vraies exact exacte exactes juste justes correcto correctos cierto corretto corrette giusto',
);
const saying = wordSet(
  'say says said claim claims claimed states article letter text report note notes memo minutes mail email statement statements sagt sagen aussage aussagen notiz notizen protokoll angaben affirmation affirmations note notes afirmaciones affermazioni behauptet steht dit affirme dice afirma',
);
const maxLines = 8;
const maxUnits = 2000;
/** Words that begin alike are taken as one: "donations" and "donation". */
const minPrefix = 5;
const minCount = 5;
const countTolerance = 0.2;
/** An amount that is more times larger or smaller is of something else. */
const maxTimes = 2;
/** Units of what is no number of rows. */
const measured = wordSet('% day days hour minute second week month year km metre meter kg mile degree point step litre percent');

/** Questions that a rule of the text answers once it is applied to the table. */
const onRules: readonly (readonly [Applied['kind'], RegExp])[] = [
  [
    'fee',
    /(?<![\p{L}])(?:fees?|fines?|penalt(?:y|ies)|charges?|surcharges?|Gebühr(?:en)?|Strafen?|Zuschl(?:ag|äge)|pénalités?|amendes?|frais|multas?|recargos?|multe|boetes?)(?![\p{L}])/iu,
  ],
  [
    'expected',
    /(?<![\p{L}])(?:expected|missing|lacking|absent|not (?:there|in)|fehlt|fehlen|erwartet\p{L}{0,2}|manquent?|attendue?s?|faltan?|esperad[oa]s?|mancan?o?|attes[oi]|ontbre\p{L}{2,4})(?![\p{L}])/iu,
  ],
  [
    'limit',
    /(?<![\p{L}])(?:limits?|exceed\p{L}{0,3}|allowed|permitted|Grenzwert\p{L}{0,2}|Grenze|überschritten|überschreite\p{L}{1,2}|dépass\p{L}{1,3}|limites?|límites?|superad[oa]s?)(?![\p{L}])/iu,
  ],
];
const meaning = wordSet('them it these those sie diese es les celles ceux');
const maxNotChecked = 6;

/** Answers for the questions that ask whether what a text says agrees with a table, and what else could be checked. */
export function claimAnswers(task: string, tables: readonly TableProfile[], texts: readonly TextMaterial[]): Answer[] {
  const filled = tables.filter(({ rows }) => rows > 0);
  if (filled.length === 0 || texts.length === 0) return [];
  const all = texts.filter(({ facts }) => facts.log === null).map((text) => checkedIn(text, filled, texts.length > 1));
  const stated = all.flatMap(({ statements }) => statements);
  const applied = all.flatMap(({ rules }) => rules);
  const toldRules = new Set<Applied['kind']>();
  let isTold = false;
  const answers = questionsIn(task).flatMap((question): Answer[] => {
    const words = readTokens(question).flatMap(({ kind, lower }) => (kind === 'word' || kind === 'quoted' ? [lower] : []));
    const isNamed = ({ name }: { name: string }) => words.includes(name.toLowerCase());
    const named = filled.filter(isNamed);
    // "Are the statements right? Check them against a.csv."
    const isOnText = words.some((word) => saying.has(word)) || texts.some(isNamed) || (isTold && words.some((word) => meaning.has(word)));
    const rule = onRules.find(([kind, form]) => form.test(question) && applied.some((each) => each.kind === kind))?.[0];
    if (rule !== undefined) {
      toldRules.add(rule);
      return [
        answerOf(
          question,
          applied.filter(({ kind }) => kind === rule).map(({ told }) => told),
        ),
      ];
    }
    const asked = named.length > 0 ? named : stated.length > 0 ? filled.slice(0, 1) : [];
    if (asked.length === 0 || !isOnText || !words.some((word) => comparing.has(word))) return [];
    const decided = stated.filter(({ verdict }) => verdict !== 'not checked');
    const isDecided = (line: string) => decided.some(({ place }) => line.startsWith(`${place}, and `));
    const counts = named.length === 0 ? [] : texts.flatMap((text) => asked.flatMap((table) => claims(text, table))).slice(0, maxLines);
    const lines = [...decided.map(({ told }) => told), ...counts.filter((line) => !isDecided(line)), ...notChecked(stated, counts)];
    if (lines.length === 0 && !words.some((word) => saying.has(word))) return [];
    isTold = true;
    const none = `Not compared: no count or sum in ${listed(texts.map(({ name }) => safe(name)))} could be related to the figures of ${listed(asked.map(({ name }) => safe(name)))}`;
    return [answerOf(question, lines.length === 0 ? [`${none}.`] : lines)];
  });
  const rest = [
    ...(isTold ? [] : [...stated.filter(({ verdict }) => verdict !== 'not checked').map(({ told }) => told)]),
    ...applied.filter(({ kind }) => !toldRules.has(kind)).map(({ told }) => told),
  ];
  if (rest.length === 0) return answers;
  const title = `What ${listed(texts.map(({ name }) => name))} states, beside ${listed(filled.map(({ name }) => name))}`;
  return [...answers, answerOf(title, [...rest, ...(isTold ? [] : notChecked(stated, []))])];
}

function answerOf(question: string, lines: readonly string[]): Answer {
  return {
    question,
    short: lines.join(' ').replace(/\.$/, ''),
    lines: lines.length === 1 && lines[0]!.startsWith('Not compared') ? [...lines] : lines.map((line) => `- ${line}`),
  };
}

type Statement = { verdict: Checked['verdict']; place: string; line: number; told: string };

/** The statements of a text on the tables, and its rules applied to them; what several tables could decide is not decided. */
function checkedIn({ name, text }: TextMaterial, tables: readonly TableProfile[], several: boolean) {
  const passages = passagesOf(readUnits(text)).slice(0, maxUnits);
  const found = tables.flatMap((table) => statedFigures(passages, table).map((each) => ({ ...each, table })));
  const statements = [...Map.groupBy(found, ({ line, said }) => `${line} ${said}`).values()].map((each): Statement => {
    const decided = each.filter(({ verdict }) => verdict !== 'not checked');
    const { line, said, computed, table } = decided[0] ?? each[0]!;
    const verdict = decided.length === 1 ? decided[0]!.verdict : 'not checked';
    const place = `${safe(name)}, line ${line}`;
    return {
      verdict,
      place,
      line,
      told: `${place}: "${safe(said)}" ${verdict === 'holds' ? 'holds' : 'differs'}: ${computed} (${safe(table.name)}).`,
    };
  });
  const rules = tables.flatMap((table) =>
    appliedRules(passages, table).map(({ kind, line, text: told }) => ({
      kind,
      line,
      told: `${told} (rule: ${several ? `${safe(name)}, ` : ''}line ${line}).`,
    })),
  );
  const ruleLines = new Set(rules.map(({ line }) => line));
  return {
    statements: statements.filter(({ line, verdict }) => verdict !== 'not checked' || !ruleLines.has(line)),
    rules: rules.filter(({ told }, i) => rules.findIndex((other) => other.told === told) === i),
  };
}

function notChecked(stated: readonly Statement[], counts: readonly string[]): string[] {
  const open = stated.filter(
    ({ verdict, place }) => verdict === 'not checked' && !counts.some((line) => line.startsWith(`${place}, and `)),
  );
  if (open.length === 0) return [];
  const places = open.slice(0, maxNotChecked).map(({ place }) => place);
  const more = open.length > maxNotChecked ? ` and ${open.length - maxNotChecked} more` : '';
  return [`Not checked, since no column or group could be found for it with certainty: ${listed(places, maxNotChecked)}${more}.`];
}

type Figure = Pick<Amount, 'value' | 'unit' | 'written'>;
/** What a sentence is about: all rows of the table, or those of one group. */
type Subject = { what: string; rows: number; sum: { value: number; rows: number } | null };

function claims({ name, text }: TextMaterial, table: TableProfile): string[] {
  const main = mainMeasure(table);
  const money = main !== undefined && addsUp(main) ? main : undefined;
  return readUnits(text)
    .slice(0, maxUnits)
    .flatMap((unit) => claimsIn(unit, table, money, name));
}

function claimsIn({ text, line }: Unit, table: TableProfile, money: ColumnProfile | undefined, file: string): string[] {
  const figures = countsAndAmounts(text);
  if (figures.length === 0) return [];
  const subject = subjectOf(text, table, money);
  const counts = figures.filter(
    ({ value, unit }) => !isMoney({ unit }) && !measured.has(unit) && Number.isInteger(value) && value >= minCount,
  );
  const count = counts.find(({ value }) => Math.abs(value - subject.rows) <= subject.rows * countTolerance);
  const isNamed = namesTable(text, table);
  const amount = figures.find(
    ({ value, unit }) =>
      isMoney({ unit }) &&
      isIn(money, unit) &&
      subject.sum !== null &&
      value <= subject.sum.value * maxTimes &&
      value >= subject.sum.value / maxTimes,
  );
  // A figure alone may be of anything.
  if (!isNamed && [count, amount, subject.what === '' ? undefined : subject].filter((each) => each !== undefined).length < 2) return [];
  const parts: string[] = [];
  if (count !== undefined)
    parts.push(`"${safe(count.written)}" beside ${countOf(subject.rows, 'row')}${subject.what}, ${difference(subject.rows, count.value)}`);
  if (amount !== undefined) {
    const { value, rows } = subject.sum!;
    parts.push(
      `"${safe(amount.written)}" beside ${safe(money!.name)}${subject.what}, which adds up to ${exact(value)} over ${countOf(rows, 'row')}, ${difference(value, amount.value)}${uncounted(money!, subject)}`,
    );
  }
  return parts.length === 0 ? [] : [`${safe(file)}, line ${line}, and ${safe(table.name)}: ${parts.join('; ')}.`];
}

function countsAndAmounts(text: string): Figure[] {
  const words = figuresIn(text).flatMap((written) => {
    const value = numberOfWord(written.split(' ')[0]!);
    return value === null || /^\d/.test(written) ? [] : [{ value, unit: '', written }];
  });
  return [...amountsIn(text), ...words];
}

/** The group that the sentence names, if it names only one. */
function subjectOf(text: string, table: TableProfile, money: ColumnProfile | undefined): Subject {
  const words = wordsOf(text);
  const named = table.groups.flatMap((group) =>
    group.values
      .filter(({ value }) => value.length >= minPrefix - 1 && isAmong(value.toLowerCase(), words))
      .map((value) => ({ group, ...value })),
  );
  const [one] = named;
  if (named.length === 1 && one !== undefined) {
    const own = money === undefined ? undefined : one.figures[money.name];
    return {
      what: ` with ${safe(one.group.by)} ${safe(one.value)}`,
      rows: one.rows,
      sum: own === undefined ? null : { value: own.sum, rows: own.count },
    };
  }
  const numbers = money?.numbers;
  return {
    what: '',
    rows: table.groups[0] === undefined ? table.rows : groupedRows(table, table.groups[0]),
    sum: numbers === undefined ? null : { value: numbers.sum, rows: numbers.count },
  };
}

function namesTable(text: string, { name, columns }: TableProfile): boolean {
  const words = wordsOf(text);
  const names = [...nameTokens(name.replace(/\.[a-z]{1,6}$/i, '')), ...columns.flatMap((column) => nameTokens(column.name))];
  return names.some((token) => token.length >= minPrefix && isAmong(token, words));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}]+/u);
}

function isAmong(name: string, words: readonly string[]): boolean {
  return words.some(
    (word) =>
      word === name || (word.length >= minPrefix && name.length >= minPrefix && word.slice(0, minPrefix) === name.slice(0, minPrefix)),
  );
}

/** Whether the column may be in the currency. */
function isIn(money: ColumnProfile | undefined, unit: string): boolean {
  const own = [money?.unit ?? '', ...nameTokens(money?.name ?? '')].map(unitOf).find((each) => isMoney({ unit: each }));
  return own === undefined || own === unit;
}

/** What the table has, seen from what the text says. */
function difference(found: number, said: number): string {
  const change = clean(found - said);
  return change === 0 ? 'the same' : `${exact(Math.abs(change))} ${change > 0 ? 'more' : 'less'}`;
}

function uncounted({ name, left_out: texts = [], missing }: ColumnProfile, { what, rows, sum }: Subject): string {
  const without = rows - sum!.rows;
  if (without <= 0) return '';
  const why = [
    ...texts.map(({ value, count }) => `'${safe(value)}' in ${exact(count)}`),
    ...(missing > 0 ? [`missing in ${exact(missing)}`] : []),
  ];
  return ` (${countOf(without, 'row')} without a countable ${safe(name)}${what === '' && why.length > 0 ? `: ${listed(why, 4)}` : ''})`;
}
