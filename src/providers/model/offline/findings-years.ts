/** Figures by month over several years: whole years compared with each other, and the months that are the highest or lowest of each year. */
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { addsUp, countOf, exact, listed, mainMeasure, percent, safe } from './figure.ts';

const maxMeasures = 4;
const maxYears = 12;
const wholeYear = 12;
/** A year with fewer months may lack its highest month. */
const minMonths = 11;
const monthNames = 'January February March April May June July August September October November December'.split(' ');

type Point = { month: number; sum: number };
type Year = { name: string; points: Point[]; sum: number };

/** Whether two years or more have all their months, so that they can be compared. */
export function hasWholeYears(profile: TableProfile): boolean {
  const main = mainMeasure(profile);
  return main !== undefined && addsUp(main) && wholeOf(yearsOf(profile, main.name)).length > 1;
}

export function yearFindings(profile: TableProfile): string[] {
  if (!hasWholeYears(profile)) return [];
  const main = mainMeasure(profile)!;
  const measures = [main, ...profile.columns.filter((column) => column !== main && column.numbers !== undefined && addsUp(column))]
    .slice(0, maxMeasures)
    .map((column) => ({ column, years: yearsOf(profile, column.name) }))
    .filter(({ years }) => wholeOf(years).length > 1 && years.length <= maxYears);
  const [first] = measures;
  if (first === undefined) return [];
  const partial = first.years
    .filter(({ points }) => points.length < wholeYear)
    .map(({ name, points }) => `${name} has ${countOf(points.length, 'month')}`);
  const each = measures.map(
    ({ column, years }) =>
      `${safe(column.name)} ${years.map(({ name, sum }) => `${name} ${exact(sum)}`).join(', ')}${change(wholeOf(years))}`,
  );
  return [
    `By year: ${each.join('; ')}.${partial.length === 0 ? '' : ` ${listed(partial)}.`}`,
    ...measures.flatMap(({ column, years }) => season(column, years)),
  ];
}

function yearsOf({ trend }: TableProfile, name: string): Year[] {
  if (trend?.period !== 'month') return [];
  const years = new Map<string, Year>();
  for (const { period, figures } of trend.points) {
    const sum = figures[name]?.sum;
    if (sum === undefined) continue;
    const own = years.get(period.slice(0, 4)) ?? { name: period.slice(0, 4), points: [], sum: 0 };
    years.set(own.name, own);
    own.points.push({ month: Number(period.slice(5, 7)), sum });
    own.sum = Number((own.sum + sum).toPrecision(12));
  }
  return [...years.values()];
}

function wholeOf(years: readonly Year[]): Year[] {
  return years.filter(({ points }) => points.length === wholeYear);
}

/** " (2022 to 2024 +6.1 %)", between the first and the last whole year. */
function change(years: readonly Year[]): string {
  const [first, last] = [years[0]!, years.at(-1)!];
  if (first.sum <= 0) return '';
  return ` (${first.name} to ${last.name} ${last.sum >= first.sum ? '+' : '−'}${percent(Math.abs(last.sum - first.sum), first.sum)})`;
}

/** The month that is the highest of each year, or the lowest. */
function season({ name }: ColumnProfile, all: readonly Year[]): string[] {
  const years = all.filter(({ points }) => points.length >= minMonths);
  const end = (sign: 1 | -1): string => {
    const months = years.map(({ points }) => points.reduce((best, point) => ((point.sum - best.sum) * sign > 0 ? point : best)));
    const [first] = months;
    const isOne = months.every(
      ({ month }, i) => month === first!.month && years[i]!.points.filter(({ sum }) => sum === months[i]!.sum).length === 1,
    );
    return isOne
      ? `${sign > 0 ? 'highest' : 'lowest'} in ${monthNames[first!.month - 1]} (${months.map(({ sum }, i) => `${years[i]!.name} ${exact(sum)}`).join(', ')})`
      : '';
  };
  const parts = [end(1), end(-1)].filter((part) => part !== '');
  return parts.length === 0 ? [] : [`In each year ${safe(name)} is ${parts.join(' and ')}.`];
}
