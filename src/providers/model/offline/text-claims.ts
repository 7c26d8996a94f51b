/** What a text says of counts and sums beside what a table gives: both figures and their difference. */
import { nameTokens } from '../../table/column-role.ts';
import { clean } from '../../table/columns-in-memory.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { addsUp, countOf, exact, groupedRows, listed, mainMeasure, safe } from './figure.ts';
import { readTokens } from './prompt-tokens.ts';
import { questionsIn } from './questions.ts';
import type { Answer, TextMaterial } from './report.ts';
import { type Amount, amountsIn, isMoney, unitOf } from './text/amounts.ts';
import { figuresIn } from './text/figures-in-text.ts';
import { numberOfWord } from './text/number-words.ts';
import { readUnits, type Unit } from './text/units.ts';

const comparing = wordSet(
  'against compare compared agree agrees match matches check verify true vergleiche vergleichen stimmt stimmen prüfe passt comparez compare vérifie compara comprueba confronta verifica',
);
const saying = wordSet('say says said claim claims claimed states article letter text report sagt behauptet steht dit affirme dice afirma');
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

/** Answers for the questions that ask whether what a text says agrees with a table. */
export function claimAnswers(task: string, tables: readonly TableProfile[], texts: readonly TextMaterial[]): Answer[] {
  const filled = tables.filter(({ rows }) => rows > 0);
  if (filled.length === 0 || texts.length === 0) return [];
  return questionsIn(task).flatMap((question) => {
    const words = readTokens(question).flatMap(({ kind, lower }) => (kind === 'word' || kind === 'quoted' ? [lower] : []));
    const isNamed = ({ name }: { name: string }) => words.includes(name.toLowerCase());
    const asked = filled.filter(isNamed);
    const isOnText = words.some((word) => saying.has(word)) || texts.some(isNamed);
    if (asked.length === 0 || !isOnText || !words.some((word) => comparing.has(word))) return [];
    const lines = texts.flatMap((text) => asked.flatMap((table) => claims(text, table))).slice(0, maxLines);
    if (lines.length === 0 && !words.some((word) => saying.has(word))) return [];
    const none = `Not compared: no count or sum in ${listed(texts.map(({ name }) => safe(name)))} could be related to the figures of ${listed(asked.map(({ name }) => safe(name)))}`;
    return [
      lines.length === 0
        ? { question, short: none, lines: [`${none}.`] }
        : { question, short: lines.join(' ').replace(/\.$/, ''), lines: lines.map((line) => `- ${line}`) },
    ];
  });
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
