/**
 * What the sentences of a text state about a table, against the computed figures: who has most, the sum or the number of rows of a group, the rows
 * with a status, and changes from one month to the next. A statement whose column or group is not certain is said to be not checked.
 */
import { monthNumber } from '../../table/month-names.ts';
import type { ColumnProfile, Figures, GroupProfile, TableProfile } from '../../table/table-profile.ts';
import { onlyColumnFor } from './column-synonyms.ts';
import { addsUp, countedRows, exact, measures, round, safe } from './figure.ts';
import { late, lateRows } from './stated-rules.ts';
import { type Amount, amountsIn, isMoney } from './text/amounts.ts';
import { findDates } from './text/dates.ts';
import { numberOfWord } from './text/number-words.ts';
import type { Passage } from './text/passages.ts';

export type Checked = { line: number; said: string; verdict: 'holds' | 'differs' | 'not checked'; computed: string };

const maxChecked = 40;
const maxSentence = 400;
/** Before the word of what is counted: "the most visits"; the highest single value is something else. */
const most =
  /(?<![\p{L}])(?:most|(?:highest|largest|greatest|biggest) (?:number|count|total|sum)|meisten|größte (?:Zahl|Anzahl|Summe)|plus|más|più|meeste)(?: of the| of| an| von| de| d['’])? ?(?=\p{L})/iu;
const least =
  /(?<![\p{L}])(?:fewest|least|(?:lowest|smallest) (?:number|count|total|sum)|wenigsten|kleinste (?:Zahl|Anzahl|Summe)|moins|menos|meno|minste)(?: of the| of| an| von| de| d['’])? ?(?=\p{L})/iu;
const rising =
  /(?<![\p{L}])(?:ros[ei]|risen|rises?|grew|grown|grows?|increas\p{L}{1,3}|went up|gained|up by|stieg(?:en)?|gestiegen|steigen|zugenommen|gewachsen|augment\p{L}{1,3}|progressé|en hausse|aument\p{L}{1,4}|subi(?:do|eron|ó)|crecid[oa]|cresciut[oaie]|aumentat[oaie]|gestegen)(?![\p{L}])/iu;
const falling =
  /(?<![\p{L}])(?:fell|fallen|falls?|dropp?ed|drops?|decreas\p{L}{1,3}|declin\p{L}{1,3}|went down|lost|down by|sank(?:en)?|gesunken|fiel(?:en)?|gefallen|zurückgegangen|abgenommen|baiss\p{L}{1,3}|diminu\p{L}{1,4}|reculé|en baisse|bajad[oa]|bajaron|cay(?:ó|eron)|descend\p{L}{1,4}|calat[oaie]|diminuit[oaie]|gedaald)(?![\p{L}])/iu;
/** Of other times, of a part, or only roughly. */
const uncertain =
  /\?|(?<![\p{L}])(?:about|around|roughly|nearly|almost|over|more than|less than|at least|up to|some|if|would|should|could|may|might|plan\p{L}{0,4}|target|goal|budget|expect\p{L}{0,3}|hopes?|hoped|want\p{L}{0,2}|need\p{L}{0,2}|hoffen|hofft|wollen|brauchen|espér\p{L}{1,4}|veulent|voulons|than last year|previous year|per|each|every|on average|average|first|another|further|of which|must|rund|etwa|circa|fast|über|mindestens|höchstens|falls|wenn|würde\p{L}{0,2}|soll\p{L}{0,3}|geplant|Ziel|Vorjahr|je|pro|durchschnittlich|davon|weitere[nr]?|muss|müssen|environ|presque|plus de|moins de|au moins|si|objectif|prévu\p{L}{0,2}|chaque|par|en moyenne|dont|doit|doivent|unos|casi|cada|media|previsto|circa|quasi|ogni)(?![\p{L}])/iu;
const total =
  /(?<![\p{L}])(?:total\p{L}{0,3}|altogether|in all|overall|sum|insgesamt|Summe|gesamt\p{L}{0,2}|au total|somme|suma|en total|in totale)(?![\p{L}])/iu;
const timed =
  /(?<![\p{L}])(?:(?:next|last|this|nächsten?|letzten?|diesen?|prochain|dernier|ce|próximo|pasado|prossimo|scorso) (?:month|year|Monat|Jahr|mois|mes|año|mese|anno)|mois (?:prochain|dernier)|week|today|yesterday|Woche|heute|gestern|semaine|hier|semana|settimana|quarter|Quartal|trimestre)(?![\p{L}])/iu;

/** The statements of the passages on one table. */
export function statedFigures(passages: readonly Passage[], table: TableProfile): Checked[] {
  const found: Checked[] = [];
  const names = new Names(table);
  for (const passage of passages) {
    if (found.length === maxChecked) break;
    if (passage.text.length > maxSentence) continue;
    const checked = checkOf(passage, table, names);
    if (checked !== null) found.push({ line: passage.line, said: passage.text, ...checked });
  }
  return found;
}

type Outcome = Pick<Checked, 'verdict' | 'computed'>;

function checkOf(passage: Passage, table: TableProfile, names: Names): Outcome | null {
  const { text } = passage;
  const figures = [...passage.amounts, ...countsInWords(text)];
  if (figures.length === 0 && !most.test(text) && !least.test(text)) return null;
  const words = wordsOf(text);
  const columns = [...new Set(words.flatMap((word) => names.columnOf(word) ?? []))];
  const named = names.groupsIn(words);
  const thing = namesRows(words, table);
  const isRank = isRankOf(text, names, table);
  const isOnTable = columns.length > 0 || thing || named.length > 0;
  if (!isOnTable || (figures.length === 0 && !(isRank && named.length > 0))) return null;
  const none = { verdict: 'not checked' as const, computed: '' };
  const rate = figures.length === 1 && figures[0]!.unit === '%' ? figures[0]! : undefined;
  const months = [...new Set(words.map(monthNumber).filter((month) => month > 0))];
  if (uncertain.test(isRank ? text.replace(most, ' ').replace(least, ' ') : text) || timed.test(text) || findDates(text).length > 0)
    return none;
  if (rate !== undefined && rising.test(text) !== falling.test(text))
    return columns.length === 1 && addsUp(columns[0]!) && months.length === 1 && named.length === 0
      ? changed(table, columns[0]!, months[0]!, rate, falling.test(text))
      : none;
  if (columns.some((column) => !addsUp(column))) return none;
  if (isRank && figures.length === 0)
    return named.length === 1 && months.length === 0 && (columns.length === 1 || (columns.length === 0 && thing))
      ? ranked(named[0]!, columns[0], !least.test(text), table)
      : none;
  if (figures.length !== 1 || months.length > 1 || named.length > 1) return none;
  if (late.test(text)) return thing && named.length === 0 && months.length === 0 ? (lateOnes(figures[0]!, table) ?? none) : none;
  return counted(figures[0]!, text, { columns, named: named[0], month: months[0], thing, table }) ?? none;
}

type Group = { group: GroupProfile; value: GroupProfile['values'][number] };
type About = {
  columns: readonly ColumnProfile[];
  named: Group | undefined;
  month: number | undefined;
  thing: boolean;
  table: TableProfile;
};

/** A number of rows, or the sum of one column: of all rows, of one group, or of one month. */
function counted(figure: Figure, text: string, { columns, named, month, thing, table }: About): Outcome | null {
  const money = measures(table).filter((column) => addsUp(column) && isMoneyColumn(column));
  const column = columns.length === 1 ? columns[0] : columns.length === 0 && isMoney(figure) && money.length === 1 ? money[0] : undefined;
  if (isMoney(figure) && (column === undefined || !isMoneyColumn(column))) return null;
  if (named !== undefined && month !== undefined) return null;
  const what = named === undefined ? '' : ` with ${safe(named.group.by)} ${safe(named.value.value)}`;
  if (column !== undefined) {
    const isSum = named !== undefined || month !== undefined || total.test(text);
    if (!isSum) return null;
    const own =
      named !== undefined
        ? named.value.figures[column.name]
        : month !== undefined
          ? monthOf(table, column.name, month)?.figures
          : column.numbers;
    return own === undefined
      ? null
      : compared(figure.value, own.sum, `${safe(column.name)}${what}${monthText(month)} adds up to ${exact(own.sum)}`);
  }
  // "14 open orders", "6 loans in March": rows, where the number stands before the word.
  if (!thing || figure.unit === '%' || isMoney(figure)) return null;
  const rows = named !== undefined ? named.value.rows : month !== undefined ? monthOf(table, null, month)?.rows : countedRows(table);
  if (rows === undefined) return null;
  // A quality that is no value of a column makes them other rows.
  if (named === undefined && month === undefined && !isPlainCount(text, figure, table)) return null;
  return compared(figure.value, rows, `${exact(rows)} rows${what}${monthText(month)}`);
}

/** Whether a superlative stands right before a column or the word of the rows. */
function isRankOf(text: string, names: Names, table: TableProfile): boolean {
  const found = most.exec(text) ?? least.exec(text);
  const [next] = found === null ? [] : wordsOf(text.slice(found.index + found[0].length, found.index + found[0].length + 40));
  return next !== undefined && next.length > 2 && (names.columnOf(next) !== null || namesRows([next], table));
}

/** "Three loans came back late". */
function lateOnes({ value, unit }: Figure, table: TableProfile): Outcome | null {
  const rows = lateRows(table);
  return rows === null || unit === '%' || isMoney({ unit }) ? null : compared(value, rows.count, safe(rows.text));
}

function compared(said: number, found: number, computed: string): Outcome {
  return { verdict: Math.abs(said - found) < 0.005 ? 'holds' : 'differs', computed };
}

/** Who has most or least: of the only group that the sentence names. */
function ranked({ group, value }: Group, column: ColumnProfile | undefined, isMost: boolean, table: TableProfile): Outcome {
  if (group.shortened === true || group.values.length < 2) return { verdict: 'not checked', computed: '' };
  const figureOf = (each: GroupProfile['values'][number]) => (column === undefined ? each.rows : (each.figures[column.name]?.sum ?? 0));
  const ordered = group.values.toSorted((a, b) => (isMost ? figureOf(b) - figureOf(a) : figureOf(a) - figureOf(b)));
  const first = ordered[0]!;
  const what = column === undefined ? `rows of ${safe(table.name)}` : safe(column.name);
  const shown = [...ordered.slice(0, 3), ...(ordered.indexOf(value) >= 3 ? [value] : [])];
  const list = shown.map((each) => `${safe(each.value)} ${exact(figureOf(each))}`).join(', ');
  const isFirst = figureOf(value) === figureOf(first);
  const others = ordered.filter((each) => each !== value && figureOf(each) === figureOf(first));
  const tie = isFirst && others.length > 0 ? `; ${others.map((each) => safe(each.value)).join(', ')} has as many` : '';
  return { verdict: isFirst && tie === '' ? 'holds' : 'differs', computed: `${what} by ${safe(group.by)}: ${list}${tie}` };
}

/** A change in percent from the month before. */
function changed(table: TableProfile, column: ColumnProfile, month: number, { value, written }: Figure, isFall: boolean): Outcome {
  const now = monthOf(table, column.name, month);
  const before = now === null ? null : monthOf(table, column.name, month === 1 ? 12 : month - 1, month === 1 ? now.year - 1 : now.year);
  if (now?.figures === undefined || before?.figures === undefined || before.figures.sum <= 0)
    return { verdict: 'not checked', computed: '' };
  const share = ((now.figures.sum - before.figures.sum) / before.figures.sum) * 100;
  const decimals = /\d[.,](\d{1,2})(?!\d)/.exec(written)?.[1]?.length ?? 0;
  const isSame = Math.abs(share - (isFall ? -value : value)) <= 0.5 * 10 ** -decimals + 1e-9;
  return {
    verdict: isSame ? 'holds' : 'differs',
    computed: `${safe(column.name)} changed by ${share < 0 ? '−' : '+'}${round(Math.abs(share))} %, from ${exact(before.figures.sum)} in ${before.period} to ${exact(now.figures.sum)} in ${now.period}`,
  };
}

type Month = { period: string; year: number; rows: number; figures: Pick<Figures, 'sum'> | undefined };

/** The rows and the sum of a month; null where the table has it in several years, or not all of its periods. */
function monthOf({ trend, columns, rows }: TableProfile, name: string | null, month: number, year?: number): Month | null {
  if (trend === null || (trend.period !== 'day' && trend.period !== 'month')) return null;
  const whole = trend.points.reduce((sum, point) => sum + point.rows, 0);
  if (whole !== rows) return null;
  const wanted = trend.points.filter(
    ({ period }) => Number(period.slice(5, 7)) === month && (year === undefined || Number(period.slice(0, 4)) === year),
  );
  const years = new Set(wanted.map(({ period }) => period.slice(0, 4)));
  if (years.size !== 1) return null;
  const numbers = columns.find((column) => column.name === name)?.numbers;
  const sum = wanted.reduce((all, { figures }) => all + (name === null ? 0 : (figures[name]?.sum ?? 0)), 0);
  return {
    period: wanted[0]!.period.slice(0, 7),
    year: Number([...years][0]),
    rows: wanted.reduce((all, point) => all + point.rows, 0),
    figures: numbers === undefined ? undefined : { sum: Number(sum.toPrecision(12)) },
  };
}

function monthText(month: number | undefined): string {
  return month === undefined ? '' : ` in month ${month}`;
}

type Figure = Pick<Amount, 'value' | 'unit' | 'written' | 'index'>;
const wordBefore = /(?<![\p{L}\p{N}-])\p{L}{3,14}(?= \p{L})/gu;

function countsInWords(text: string): Figure[] {
  return [...text.matchAll(wordBefore)].flatMap(({ 0: written, index }) => {
    const value = numberOfWord(written);
    return value === null || value < 2 ? [] : [{ value, unit: '', written, index }];
  });
}

const minValueChars = 3;
const maxColumns = 60;
const maxWords = 3_000;

/** What the words of sentences may name in one table; each word is looked up once. */
class Names {
  private readonly columns: readonly ColumnProfile[];
  private readonly values: (Group & { words: string })[];
  private readonly known = new Map<string, ColumnProfile | null>();

  constructor(table: TableProfile) {
    this.columns = measures(table).slice(0, maxColumns);
    this.values = table.groups.flatMap((group) =>
      group.values
        .filter(({ value }) => value.length >= minValueChars)
        .map((value) => ({ group, value, words: ` ${wordsOf(value.value).join(' ')} ` })),
    );
  }

  /** The only column of numbers that the word means. */
  columnOf(word: string): ColumnProfile | null {
    if (word.length < minValueChars) return null;
    const known = this.known.get(word);
    if (known !== undefined || this.known.size === maxWords) return known ?? null;
    const found = onlyColumnFor(word, this.columns) ?? null;
    this.known.set(word, found);
    return found;
  }

  /** The values of groups among the words; of several groups with one value, none. */
  groupsIn(words: readonly string[]): Group[] {
    const padded = ` ${words.join(' ')} `;
    const found = this.values.filter((each) => padded.includes(each.words));
    return found.filter(({ value }) => found.filter((each) => each.value.value === value.value).length === 1);
  }
}

/** Whether the sentence speaks of the rows by the name of the file: "loans" of loans.csv. */
function namesRows(words: readonly string[], { name }: TableProfile): boolean {
  const stem = name
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/\.[a-z]{1,6}$/, '');
  const parts = stem.split(/[^\p{L}]+/u).filter((part) => part.length > 3);
  return parts.some((part) =>
    words.some((word) => word === part || `${word}s` === part || word === `${part}s` || `${word}en` === part || word === `${part}en`),
  );
}

/** "We had 6 loans": the word of the rows stands right behind the number. */
function isPlainCount(text: string, { index, written }: Figure, table: TableProfile): boolean {
  const number = /^[\d.,'’ ]+/.exec(written)?.[0].trim() ?? written;
  const after = text.slice(index + number.length).trim();
  const [first] = wordsOf(after);
  return (
    first !== undefined &&
    namesRows([first], table) &&
    !/^[^ ]+ (?:that|which|with|without|are|were|came|die|der|mit|ohne|sind|kamen|qui|sont|avec|que|con|sin|che)(?![\p{L}])/iu.test(after)
  );
}

function isMoneyColumn({ name, unit }: ColumnProfile): boolean {
  return unit !== undefined
    ? isMoney({ unit }) || /^[€$£]$|EUR|USD|GBP|CHF/.test(unit)
    : /(?:^|[_ (])(?:eur|usd|gbp|chf)(?:$|[_ )])|€|\$|£/i.test(name) || amountsIn(name).some(isMoney);
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
