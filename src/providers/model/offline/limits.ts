/**
 * "between 2 and 8 °C", "the limit is 6 kW": which values of a column are beyond a limit in the task, reported only if the profile's
 * figures prove it.
 */
import { nameTokens } from '../../table/column-role.ts';
import type { Beyond } from '../../table/findings/missing.ts';
import { monthNumber } from '../../table/month-names.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { countOf, exact, listed, percent, safe } from './figure.ts';
import { isEnglish, numberIn } from './prompt-numbers.ts';
import type { Answer } from './report.ts';

type Limit = { low: number | null; high: number | null; unit: string; sentence: string };

const figure = '(-?\\d{1,9}(?:[.,]\\d{1,4})?)';
const unit = '(?: ?(°C|°F|%|[A-Za-zµ]{1,10}(?![\\p{L}])))?';
const range = new RegExp(`(?<![\\p{L}])(?:between|from|zwischen|von) ${figure}${unit} (?:and|to|und|bis) ${figure}${unit}`, 'iu');
const top = new RegExp(
  `(?<![\\p{L}])(?:(?:limit|maximum|threshold|Grenzwert|Grenze|Höchstwert)(?: (?:value )?(?:for|on|für) [\\p{L}\\d_]{1,30}(?: [\\p{L}\\d_]{1,30})?)?:? (?:is |of |von |ist |are |liegt bei |: ?|= ?)?|(?<!of )(?:more|greater|longer|higher|larger|mehr|länger|höher) (?:than|als) |(?:above|over|exceed(?:s|ing)?|über) |(?:not (?:be )?(?:more than|above|over|exceed)|exceeds?|at most|höchstens|nicht über|nicht mehr als) )${figure}${unit}`,
  'iu',
);
const bottom = new RegExp(
  `(?<![\\p{L}])(?:(?:minimum|Mindestwert)(?: (?:for|für) [\\p{L}\\d_]{1,30})? (?:is |of |von |ist )?|(?:less|lower|smaller|shorter|fewer|weniger|niedriger) (?:than|als) |(?:below|under|unter) |(?:not (?:be )?(?:less than|below|under)|at least|mindestens|nicht unter) )${figure}${unit}`,
  'iu',
);
/** The limits for a table's values in the task, for the profile; empty if the task has none. */
export function boundsIn(task: string): { above?: number; below?: number; above_minutes?: number } {
  const limit = limitIn(task.slice(0, 8000));
  const minutes = limit === null ? undefined : unitMinutes.find(([words]) => words.has(limit.unit.toLowerCase()))?.[1];
  return {
    ...(limit?.high == null || minutes === undefined ? {} : { above_minutes: limit.high * minutes }),
    ...(limit?.high == null ? {} : { above: limit.high }),
    ...(limit?.low == null ? {} : { below: limit.low }),
  };
}

/** "over 3 months" is a period, "more than 3 times" a count. */
const spans = new Set(
  'month months week weeks year years quarter quarters times rows files monate monaten wochen jahre jahren quartale mal'.split(' '),
);
const minuteWords = ['min', 'mins', 'minute', 'minutes', 'minuten'];
/** How late a row may be is compared in minutes, in whatever unit the task tells it. */
const unitMinutes: readonly (readonly [ReadonlySet<string>, number])[] = [
  [wordSet('min mins minute minutes minuten minutos minuti'), 1],
  [wordSet('h hr hrs hour hours stunde stunden std heure heures hora horas ora ore'), 60],
  [wordSet('day days tag tage tagen jour jours día días giorno giorni'), 24 * 60],
];
const moneyWords = ['eur', 'euro', 'amount', 'betrag', 'price', 'preis', 'total', 'value', 'cost', 'kosten', 'revenue', 'umsatz'];
const unitNames: Readonly<Record<string, readonly string[]>> = {
  '°C': ['c', 'celsius', 'temp', 'temperature', 'temperatur', 'grad'],
  '°F': ['f', 'fahrenheit', 'temp', 'temperature'],
  minutes: minuteWords,
  minuten: minuteWords,
  mins: minuteWords,
  min: minuteWords,
  hours: ['h', 'hr', 'hrs', 'hour', 'hours', 'stunden', 'std'],
  stunden: ['h', 'std', 'stunden', 'hours'],
  days: ['d', 'day', 'days', 'tage'],
  tage: ['d', 'days', 'tage'],
  euro: moneyWords,
  euros: moneyWords,
  eur: moneyWords,
  '%': ['percent', 'pct', 'prozent', 'humidity', 'feuchte', 'rate', 'share'],
};
const shown = 10;

export function limitAnswers(task: string, tables: readonly TableProfile[]): Answer[] {
  const limit = limitIn(task.slice(0, 8000));
  if (limit === null) return [];
  return tables
    .flatMap((table) => {
      const numeric = table.columns.filter((column) => column.numbers !== undefined);
      // A column named in the task is meant rather than all with the unit.
      const named = numeric.filter((column) => isNamed(column, limit.sentence));
      const fitting = numeric.filter((column) => fits(column, limit, table));
      // If columns have the unit, it must be the column's own: "sales over 30 days" is not a limit for sales.
      const meant = unitNames[limit.unit.toLowerCase()] === undefined ? named : named.filter((column) => fitting.includes(column));
      return (meant.length > 0 ? meant : fitting).map((column) => ({ table, column }));
    })
    .slice(0, 4)
    .map(({ table, column }) => answer(table, column, limit));
}

function limitIn(task: string): Limit | null {
  const english = isEnglish(task);
  const number = (text: string | undefined) => (text === undefined ? null : numberIn(text, english));
  const both = range.exec(task);
  if (both !== null) {
    const [low, high] = [number(both[1])!, number(both[3])!];
    // Years and days are periods, not limits.
    const isPeriod = monthNumber(both[4] ?? '') > 0 || (low >= 1900 && high <= 2100);
    if (low < high && !isPeriod) return { low, high, unit: both[4] ?? both[2] ?? '', sentence: sentenceAt(task, both.index) };
  }
  const [above, below] = [top.exec(task), bottom.exec(task)];
  if (above === null && below === null) return null;
  if (spans.has((above?.[2] ?? below?.[2] ?? '').toLowerCase())) return null;
  return {
    low: number(below?.[1]),
    high: number(above?.[1]),
    unit: above?.[2] ?? below?.[2] ?? '',
    sentence: sentenceAt(task, (above ?? below)!.index),
  };
}

/** The clause with the limit, without the names of files. */
function sentenceAt(task: string, at: number): string {
  const from = Math.max(...['. ', '? ', '! ', '\n', '; '].map((end) => task.lastIndexOf(end, at)));
  const ends = ['. ', '? ', '! ', '\n', '; '].map((end) => task.indexOf(end, at)).filter((end) => end >= 0);
  return task
    .slice(from + 1, Math.min(task.length, at + 300, ...ends))
    .replace(/[^\s.]{1,200}\.(?:csv|tsv|jsonl?|ndjson|txt)(?![\p{L}\d])/giu, ' ');
}

function isNamed({ name }: ColumnProfile, task: string): boolean {
  const words = task.toLowerCase().split(/[^\p{L}\p{N}%]+/u);
  const tokens = nameTokens(name).filter((token) => token.length > 2);
  const lines = (token: string) => words.some((word) => word === token || word === `${token}s` || `${word}s` === token);
  return tokens.length > 0 && (lines(tokens[0]!) || tokens.every(lines));
}

/** A column with the unit, in its values or in its name; without a unit, the only numeric column. */
function fits({ name, unit: own, numbers }: ColumnProfile, limit: Limit, table: TableProfile): boolean {
  const wanted = limit.unit;
  if (wanted === '') return table.columns.filter((column) => column.numbers !== undefined).length === 1 && numbers !== undefined;
  const names = unitNames[wanted] ?? unitNames[wanted.toLowerCase()] ?? [wanted.toLowerCase()];
  return own === wanted || nameTokens(name).some((token) => names.includes(token));
}

function answer(table: TableProfile, column: ColumnProfile, { low, high }: Limit): Answer {
  const numbers = column.numbers!;
  const { min, max, outliers, count } = numbers;
  const name = safe(column.name);
  const lines: string[] = [];
  const counted = ({ limit, count: many, of, rows, groups, runs }: NonNullable<Beyond['above']>, word: string) => {
    const by = groups.length > 1 ? ` (${groups.map(safe).join(', ')})` : '';
    const listing = `${rows.map(safe).join(', ')}${many > rows.length ? ' and more' : ''}`;
    const when = runs === undefined ? '' : `${listed(runs.map(safe), shown)}. The values: `;
    lines.push(
      `${name} is ${word} ${exact(limit)} in ${countOf(many, 'row')} of ${exact(of)}: ${when}${listing}; that is ${percent(many, of)}${by}.`,
    );
  };
  const side = (beyond: (value: number) => boolean, word: string, limit: number, extreme: number, fenceInside: boolean) => {
    const found = word === 'above' ? column.beyond?.above : column.beyond?.below;
    if (found !== undefined && found.limit === limit && found.count > 0) return counted(found, word);
    if (!beyond(extreme)) {
      lines.push(`${name} is never ${word} ${exact(limit)} (${countOf(count, 'value')}; the nearest is ${exact(extreme)}).`);
      return;
    }
    const complete = fenceInside && !numbers.quantiles_estimated && outliers.count <= outliers.most_extreme.length;
    const rows = outliers.most_extreme.filter(({ value }) => beyond(value));
    lines.push(
      complete
        ? `${name} is ${word} ${exact(limit)} in ${countOf(rows.length, 'row')} of ${exact(count)}: ${listed(
            rows.map(({ row, value, cells }) => `${exact(value)} in row ${row}${whenOf(table, cells)}`),
            shown,
          )}.`
        : `${name} is ${word} ${exact(limit)} at least once: its extreme is ${exact(extreme)}. How often was not counted.`,
    );
  };
  if (high !== null) side((value) => value > high, 'above', high, max, outliers.high_fence <= high);
  if (low !== null) side((value) => value < low, 'below', low, min, outliers.low_fence >= low);
  return { question: `Limits for ${column.name} (${table.name})`, short: lines.join(' ').replace(/\.$/, ''), lines: lines };
}

function whenOf(table: TableProfile, cells: Record<string, string>): string {
  const date = table.columns.find(({ dates }) => dates !== undefined)?.name;
  const text = date === undefined ? undefined : cells[date];
  return text === undefined || text === '' ? '' : ` (${safe(text)})`;
}
