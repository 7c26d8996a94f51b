/** Whether a measure differs by day of the week beyond chance. */
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, round } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import type { Finding } from '../table-profile.ts';

const dayMs = 86_400_000;
export const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A pattern over the week, only if four weeks of days or more support it. */
export function weekdayFindings(table: ColumnsInMemory, dates: Float64Array): Finding[] {
  const measure = table.quantities().find(({ role, units }) => role === 'measure' && units.size < 2);
  if (measure === undefined) return [];
  const numbers = table.numbers(measure);
  const days = new Map<number, number>();
  for (const [at, ms] of dates.entries()) {
    if (Number.isNaN(ms) || Number.isNaN(numbers[at]!)) continue;
    const day = Math.floor(ms / dayMs);
    days.set(day, (days.get(day) ?? 0) + numbers[at]!);
  }
  if (days.size < 28 || days.size > 4000) return [];
  // One or two extreme days hide the pattern; more of them may be the pattern.
  const sorted = Float64Array.from(days.values()).sort();
  const [q1, q3] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const far = [...days].filter(([, sum]) => sum > q3 + 3 * (q3 - q1));
  const all = days.size;
  if (far.length <= 2) for (const [day] of far) days.delete(day);
  const left = all === days.size ? '' : `, ${countOf(all - days.size, 'day')} far above all others left out`;
  const byDay = new Map<number, number[]>();
  for (const [day, sum] of days) {
    const weekday = new Date(day * dayMs).getUTCDay();
    byDay.set(weekday, [...(byDay.get(weekday) ?? []), sum]);
  }
  const groups = [...byDay].filter(([, sums]) => sums.length >= 4).map(([weekday, sums]) => ({ weekday, sums, mean: meanOf(sums) }));
  if (groups.length < 3) return [];
  const values = groups.flatMap(({ sums }) => sums);
  const mean = meanOf(values);
  const between = groups.reduce((sum, group) => sum + group.sums.length * (group.mean - mean) ** 2, 0) / (groups.length - 1);
  const within =
    groups.reduce((sum, group) => sum + group.sums.reduce((own, value) => own + (value - group.mean) ** 2, 0), 0) /
    (values.length - groups.length);
  // The F statistic: with seven groups and dozens of days, four is significant (p < 0.001).
  if (within <= 0 ? between === 0 : between / within < 4) return [];
  const ranked = groups.toSorted((a, b) => b.mean - a.mean);
  const [top, low] = [ranked[0]!, ranked.at(-1)!];
  if (top.mean < low.mean * 1.2) return [];
  const weekend = groups.filter(({ weekday }) => weekday === 0 || weekday === 6);
  const work = groups.filter(({ weekday }) => weekday > 0 && weekday < 6);
  const ends =
    weekend.length === 2 && work.length === 5
      ? ` On weekends a day has ${round(meanOf(weekend.flatMap(({ sums }) => sums)))} on average, on working days ${round(meanOf(work.flatMap(({ sums }) => sums)))}.`
      : '';
  return [
    {
      kind: 'weekday',
      text: `${measure.name} differs by day of the week: ${weekdays[top.weekday]}s have most (${round(top.mean)} a day on average), ${weekdays[low.weekday]}s least (${round(low.mean)}), over ${countOf(days.size, 'day')}${left}.${ends}`,
    },
  ];
}

function meanOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
