/** What is said of dates such as 03/04/2024, in which day and month may be exchanged. */
import type { Order } from './column-dates.ts';

/** How many dates of a column can be read in which order; `example` is the first that can be read in both. */
export type DateCounts = { twofold: number; example: string; dayFirst: number; monthFirst: number };

export function dateWarnings(name: string, order: Order, { twofold, example, dayFirst, monthFirst }: DateCounts): string[] {
  if (order.kind === 'mixed') {
    const left = twofold > 0 ? ` ${twofold} dates like ${example} could mean two days and are left out of periods.` : '';
    return [
      `Column ${name}: ${dayFirst} dates can only have the day first and ${monthFirst} only the month first, so two ways of writing are mixed.${left}`,
    ];
  }
  if (twofold === 0) return [];
  const start = `Column ${name}: ${order.because === undefined && order.kind !== 'unknown' ? `${twofold} ` : ''}dates like ${example} could mean two things`;
  if (order.kind === 'unknown')
    return [`${start} (day or month first), and nothing in the column says which; figures by month or day are not given.`];
  const first = order.kind === 'day_first' ? 'the day' : 'the month';
  if (order.because === undefined) {
    const proofs = order.kind === 'day_first' ? dayFirst : monthFirst;
    return [`${start}; ${first} is read first, because ${proofs} others can only be read so.`];
  }
  const why = {
    order: 'only so the rows are in order of time',
    style: 'the decimal commas or the dates with dots of the file are written where the day comes first',
    span: 'read the other way the times would be spread over months with few days in each',
  }[order.because];
  return [`${start}; ${first} is read first, because ${why}.`];
}
