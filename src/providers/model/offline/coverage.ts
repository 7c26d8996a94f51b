/** "How far is the year covered?" is answered with the first and the last date of each table, and the months between them. */
import { isAttributeDate } from '../../table/plan-figures.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { countOf, safe } from './figure.ts';

const times = wordSet(
  'year years month months period periods dates quarter quarters weeks jahr jahre monat monate zeitraum zeit année période mois periodo año meses',
);
const covered = wordSet('covered coverage abgedeckt umfasst couvert couverte couverts cubierto cubiertos');
const covers = wordSet('cover covers span spans umfasst umfassen couvre couvrent cubre cubren abarca abarcan');
/** "the year is covered", "the year is only partly covered". */
const wordsBetween = 3;
const monthNames = 'January February March April May June July August September October November December'.split(' ');
const maxColumns = 3;
const maxMissing = 6;

/** @param words in lower case */
export function asksCoverage(words: readonly string[]): boolean {
  return words.some((word, i) => {
    if (covered.has(word) && words.slice(Math.max(0, i - 1 - wordsBetween), i).some((before) => times.has(before))) return true;
    return covers.has(word) && words.some((each) => times.has(each)) && (words.includes('far') || times.has(words[1] ?? ''));
  });
}

/** A sentence for each table, those with dates first; empty if no table has a date. */
export function coverageLines(tables: readonly TableProfile[]): string[] {
  const dated = tables.map((table) => ({ table, columns: dateColumns(table) })).filter(({ columns }) => columns.length > 0);
  if (dated.length === 0) return [];
  const undated = tables.filter((table) => dated.every((each) => each.table !== table));
  return [
    ...dated.map(
      ({ table, columns }) =>
        `${safe(table.name)}: ${columns.map((column) => `${safe(column.name)} runs from ${spanOf(column, table)}`).join('; ')}.`,
    ),
    ...undated.map(({ name }) => `${safe(name)} has no column of dates.`),
  ];
}

function dateColumns({ columns }: TableProfile): ColumnProfile[] {
  return columns.filter(({ name, dates }) => dates !== undefined && !isAttributeDate(name, columns)).slice(0, maxColumns);
}

function spanOf({ name, dates }: ColumnProfile, { trend }: TableProfile): string {
  const { first, last } = dates!;
  const written = `${first} to ${last}`;
  const [from, to] = [monthAt(first), monthAt(last)];
  if (from === null || to === null || from === to) return written;
  const [firstYear, lastYear] = [yearOf(from), yearOf(to)];
  const count = to - from + 1;
  const inYear = firstYear === lastYear ? `, ${count} of the 12 months of ${firstYear}` : '';
  const span = `${nameOf(from)}${firstYear === lastYear ? '' : ` ${firstYear}`} to ${nameOf(to)} ${lastYear}, ${countOf(count, 'month')}${inYear}`;
  const byMonth = trend?.date_column === name && (trend.period === 'month' || trend.period === 'day' || trend.period === 'hour');
  const known = new Set(byMonth ? trend.points.filter(({ rows }) => rows > 0).map(({ period }) => monthAt(period)) : []);
  const empty = known.size === 0 ? [] : Array.from({ length: count }, (_, i) => from + i).filter((month) => !known.has(month));
  const gaps =
    empty.length === 0
      ? ''
      : `; no rows in ${empty
          .slice(0, maxMissing)
          .map((month) => `${nameOf(month)} ${yearOf(month)}`)
          .join(', ')}${empty.length > maxMissing ? ` and ${empty.length - maxMissing} more` : ''}`;
  return first.length > 'YYYY-MM'.length ? `${written} (${span})${gaps}` : `${span}${gaps}`;
}

/** Months since year 0; null for a text that does not begin with year and month. */
function monthAt(date: string): number | null {
  const parts = /^(\d{4})-(\d{2})(?!\d)/.exec(date);
  return parts === null ? null : Number(parts[1]) * 12 + Number(parts[2]) - 1;
}

function yearOf(month: number): number {
  return Math.floor(month / 12);
}

function nameOf(month: number): string {
  return monthNames[month % 12]!;
}
