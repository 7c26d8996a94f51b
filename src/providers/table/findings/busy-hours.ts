/** The block of hours, and the days of the week, in which nearly all of a quantity falls: the mean of a row there and elsewhere. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, listed, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { weekdays } from './weekday.ts';

const hoursOfDay = 24;
const dayMs = 86_400_000;
const minDays = 3;
const minWeeks = 2;
/** Times by which the quietest hour of the block exceeds the busiest hour outside of it. */
const minFactor = 3;

/** Empty if the busy hours are no block, or differ little from the others. */
export function busyHours(table: ColumnsInMemory, date: ColumnPlan, hours: readonly (number | null)[], measure: ColumnPlan): Finding[] {
  const [dates, numbers] = [table.dates(date), table.numbers(measure)];
  const rows = [...dates.keys()].filter((at) => hours[at] !== null && !Number.isNaN(dates[at]!) && !Number.isNaN(numbers[at]!));
  const days = new Set(rows.map((at) => Math.floor(dates[at]! / dayMs))).size;
  const mean = (own: readonly number[]) => own.reduce((sum, at) => sum + numbers[at]!, 0) / own.length;
  const busy = highOnes(
    Map.groupBy(rows, (at) => hours[at]!),
    mean,
  );
  const block = busy === null || days < minDays ? null : blockOf(busy);
  if (busy === null || block === null) return [];
  const inBlock = rows.filter((at) => busy.has(hours[at]!));
  const dayOf = (at: number) => new Date(dates[at]!).getUTCDay();
  const onDays = days < 7 * minWeeks ? null : highOnes(Map.groupBy(inBlock, dayOf), mean);
  const isBusy = (at: number) => busy.has(hours[at]!) && (onDays === null || onDays.has(dayOf(at)));
  const [own, others] = [rows.filter(isBusy), rows.filter((at) => !isBusy(at))];
  const onWhich =
    onDays === null ? '' : ` on ${listed([1, 2, 3, 4, 5, 6, 0].filter((day) => onDays.has(day)).map((day) => weekdays[day]!))}`;
  return [
    {
      kind: 'hours_of_day',
      text: `${measure.name} falls mostly in the hours from ${block}${onWhich}: mean ${round(mean(own))} over ${countOf(own.length, 'row')} there, ${round(mean(others))} over the other ${countOf(others.length, 'row')}.`,
    },
  ];
}

/** The keys with high means, where these lie far above the rest; null if no such gap divides them. */
function highOnes(groups: ReadonlyMap<number, readonly number[]>, mean: (rows: readonly number[]) => number): Set<number> | null {
  const means = [...groups].map(([key, rows]) => ({ key, mean: mean(rows) })).toSorted((a, b) => b.mean - a.mean);
  if (means.some((each) => each.mean < 0)) return null;
  const last = means.findIndex((each, i) => i + 1 < means.length && each.mean > 0 && each.mean >= means[i + 1]!.mean * minFactor);
  return last === -1 ? null : new Set(means.slice(0, last + 1).map(({ key }) => key));
}

/** "07:00 to 17:59"; null if the hours do not follow each other, or are most of the day. */
function blockOf(hours: ReadonlySet<number>): string | null {
  const starts = [...hours].filter((hour) => !hours.has((hour + hoursOfDay - 1) % hoursOfDay));
  if (starts.length !== 1 || hours.size < 2) return null;
  const label = (hour: number) => String(hour).padStart(2, '0');
  return `${label(starts[0]!)}:00 to ${label((starts[0]! + hours.size - 1) % hoursOfDay)}:59`;
}
