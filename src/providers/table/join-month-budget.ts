/** A budget with a column for each month or quarter against the dated bookings of another table, for the same months. */
import { isInside, onlyDate, type Period } from './asked-period.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { clean } from './columns-in-memory.ts';
import { doubleEntries } from './double-entries.ts';
import { exact, listed, percent } from './figure-text.ts';
import { uniqueness } from './join-key.ts';
import { isPlan } from './join-plan.ts';
import { mainOf, quantities, type Side, written } from './join-side.ts';
import { monthIn } from './period-columns.ts';
import type { Finding } from './table-profile.ts';

const minColumns = 3;
const monthsOfYear = 12;
const monthsOfQuarter = 3;
/** Bookings that end before this day leave their last month incomplete. */
const lateDay = 25;
const shown = 20;
const monthNames = 'January February March April May June July August September October November December'.split(' ');

/** A column of the budget with its first and last month, 1 to 12. */
type Part = { plan: ColumnPlan; first: number; last: number };
/** `at` is the row of the budget, null without one; `months` is `spent` by month, from 0 for January. */
type Line = { name: string; at: number | null; budget: number; spent: number; months: Float64Array };
type Span = { year: number; first: number; last: number };
type Names = { budget: string; spent: string; by: string; span: string };

/** Empty if neither table is a budget by months, or if the months of the bookings are not those of whole columns. */
export function monthBudget(a: Side, b: Side, period?: Period): Finding[] {
  const first = compare(a, b, period);
  return first.length > 0 ? first : compare(b, a, period);
}

function compare(planned: Side, actual: Side, period: Period | undefined): Finding[] {
  const parts = partsOf(planned);
  const date = onlyDate(actual.table);
  const amount = mainOf(actual) ?? quantities(actual).find(({ role }) => role === 'unclear');
  if (parts.length === 0 || date === null || amount === undefined || uniqueness(planned.rows) < 1) return [];
  if (!isPlan(planned, parts[0]!.plan)) return [];
  const dates = actual.table.dates(date);
  const span = spanOf(dates, period);
  if (span === null || isOfOtherYear(planned, span.year)) return [];
  const covered = parts.filter(({ first, last }) => first >= span.first && last <= span.last);
  const months = covered.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  if (months !== span.last - span.first + 1) return [];
  const whole = { from: dayOf(span, span.first, 1), to: dayOf(span, span.last + 1, 0) };
  const numbers = actual.table.numbers(amount);
  const inside = (at: number) => isInside(dates[at]!, whole) && !Number.isNaN(numbers[at]!) && (actual.counted?.has(at) ?? true);
  const double = doubleEntries(actual, date, amount).filter(({ again }) => inside(again));
  const repeated = new Set(double.map(({ again }) => again));
  const lines = linesOf(planned, actual, covered, (at) =>
    inside(at) && !repeated.has(at) ? { month: new Date(dates[at]!).getUTCMonth(), value: numbers[at]! } : null,
  );
  if (lines.every(({ spent }) => spent === 0)) return [];
  const names = {
    budget: `${covered[0]!.plan.name}${covered.length === 1 ? '' : ` to ${covered.at(-1)!.plan.name}`} of ${planned.name}`,
    spent: `${amount.name} of ${actual.name}`,
    by: planned.plans.map(({ name }) => name).join(' + '),
    span: spanText(span),
  };
  const end = lastBooking(dates);
  const isOver = new Date(end).getUTCFullYear() > span.year || new Date(end).getUTCMonth() + 1 >= span.last;
  const until = isOver ? '' : ` The bookings end on ${new Date(end).toISOString().slice(0, 10)}, before these months do.`;
  return [
    { kind: 'budget_months', text: `${totalText(lines, names)}${countedOnce(double, actual, amount, lines)}${until}` },
    { kind: 'budget_months', text: linesText(lines, names) },
    ...(isOver ? notBooked(lines, planned, parts, span, amount) : []),
  ];
}

function partsOf({ table, plans }: Side): Part[] {
  const parts = table.quantities().flatMap((plan): Part[] => {
    if (plans.includes(plan)) return [];
    const month = monthIn(plan.name);
    if (month > 0) return [{ plan, first: month, last: month }];
    const quarter = Number(/^[QT]([1-4])(?:[ _/-]?\d{4})?$/i.exec(plan.name.trim())?.[1] ?? 0);
    return quarter === 0 ? [] : [{ plan, first: quarter * monthsOfQuarter - 2, last: quarter * monthsOfQuarter }];
  });
  const months = new Set(parts.map(({ first }) => first));
  return parts.length < minColumns || months.size < parts.length ? [] : parts.toSorted((a, b) => a.first - b.first);
}

/** The months asked for; otherwise those of the bookings up to the last complete one. Null if they are of several years or not whole. */
function spanOf(dates: Float64Array, period: Period | undefined): Span | null {
  if (period !== undefined) {
    const [from, to] = [new Date(period.from), new Date(period.to)];
    const isWhole = from.getUTCDate() === 1 && new Date(to.getTime() + 86_400_000).getUTCDate() === 1;
    const year = from.getUTCFullYear();
    return isWhole && year === to.getUTCFullYear() ? { year, first: from.getUTCMonth() + 1, last: to.getUTCMonth() + 1 } : null;
  }
  const known = dates.filter((ms) => !Number.isNaN(ms));
  if (known.length === 0) return null;
  const [first, last] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))].map((ms) => new Date(ms));
  const until = last!.getUTCMonth() + (last!.getUTCDate() >= lateDay ? 1 : 0);
  const from = first!.getUTCMonth() + 1;
  return first!.getUTCFullYear() !== last!.getUTCFullYear() || until < from
    ? null
    : { year: last!.getUTCFullYear(), first: from, last: until };
}

function lastBooking(dates: Float64Array): number {
  return dates.reduce((last, ms) => (ms > last ? ms : last), Number.NEGATIVE_INFINITY);
}

/** "budget_2024.csv" is not the budget of 2025. */
function isOfOtherYear({ name }: Side, year: number): boolean {
  const written = /(?<!\d)(?:19|20)\d\d(?!\d)/.exec(name)?.[0];
  return written !== undefined && Number(written) !== year;
}

function linesOf(
  planned: Side,
  actual: Side,
  parts: readonly Part[],
  booked: (at: number) => { month: number; value: number } | null,
): Line[] {
  const columns = parts.map(({ plan }) => planned.table.numbers(plan));
  const lineOf = (key: string, spent: readonly number[]): Line => {
    const own = planned.rows.get(key)?.[0];
    const months = new Float64Array(monthsOfYear);
    for (const at of spent) {
      const booking = booked(at);
      if (booking !== null) months[booking.month]! += booking.value;
    }
    return {
      name: own === undefined ? written(actual, spent[0]!) : written(planned, own),
      at: own ?? null,
      budget: own === undefined ? Number.NaN : clean(columns.reduce((sum, column) => sum + (column[own]! || 0), 0)),
      spent: clean(months.reduce((sum, value) => sum + value, 0)),
      months: months.map(clean),
    };
  };
  const keys = new Set([...planned.rows.keys(), ...actual.rows.keys()]);
  return [...keys]
    .map((key) => lineOf(key, actual.rows.get(key) ?? []))
    .filter(({ budget, spent }) => !Number.isNaN(budget) || spent !== 0);
}

function sumOf(lines: readonly Line[], figure: (line: Line) => number): number {
  return clean(lines.reduce((sum, line) => sum + (figure(line) || 0), 0));
}

function totalText(lines: readonly Line[], names: Names): string {
  const [budget, spent] = [sumOf(lines, (line) => line.budget), sumOf(lines, (line) => line.spent)];
  const without = lines.filter((line) => Number.isNaN(line.budget));
  const none =
    without.length === 0
      ? ''
      : ` ${exact(sumOf(without, (line) => line.spent))} of it has no line in the budget: ${listed(without.map(({ name, spent: own }) => `${name} ${exact(own)}`))}.`;
  const where = spent > budget ? 'above the budget' : spent < budget ? 'below the budget' : 'as budgeted';
  return `Actual against budget, ${names.span} (${names.spent} against ${names.budget}): ${exact(spent)} against ${exact(budget)}, ${apart(spent, budget)}, ${where}.${none}`;
}

function linesText(lines: readonly Line[], names: Names): string {
  const difference = ({ spent, budget }: Line) => clean(spent - budget);
  const one = ({ name, spent, budget }: Line) => `${name} ${exact(spent)} against ${exact(budget)}, ${apart(spent, budget)}`;
  const part = (title: string, own: readonly Line[], text = one) =>
    own.length === 0
      ? []
      : [`${title}: ${own.slice(0, shown).map(text).join('; ')}${own.length > shown ? ` and ${exact(own.length - shown)} more` : ''}`];
  const over = lines.filter((line) => difference(line) > 0).toSorted((a, b) => difference(b) - difference(a));
  const nothing = lines.filter(({ spent, budget }) => budget > 0 && spent === 0);
  const under = lines.filter((line) => difference(line) < 0 && !nothing.includes(line)).toSorted((a, b) => difference(a) - difference(b));
  const equal = lines.filter((line) => difference(line) === 0 && line.budget !== 0);
  const without = lines.filter(({ budget }) => Number.isNaN(budget));
  return `By ${names.by}, ${names.span}: ${[
    ...(over.length === 0 ? ['none is over budget'] : part('over budget', over)),
    ...part('below budget', under),
    ...part('exactly as budgeted', equal, ({ name, spent }) => `${name} ${exact(spent)}`),
    ...part('budgeted and nothing booked', nothing, ({ name, budget }) => `${name} ${exact(budget)}`),
    ...part('booked without a budget line', without, ({ name, spent }) => `${name} ${exact(spent)}`),
  ].join('. ')}.`;
}

/** Lines that were booked in each earlier month with a budget, and not in the last ones: their bill may be missing. */
function notBooked(lines: readonly Line[], planned: Side, parts: readonly Part[], span: Span, amount: ColumnPlan): Finding[] {
  if (parts.some(({ first, last }) => first !== last)) return [];
  const columns = parts.map(({ first, plan }) => ({ month: first, numbers: planned.table.numbers(plan) }));
  const budgetOf = (at: number, from: number, to: number) =>
    clean(columns.reduce((sum, { month, numbers }) => (month >= from && month <= to ? sum + (numbers[at]! || 0) : sum), 0));
  return lines.flatMap(({ name, at, months, spent }): Finding[] => {
    if (at === null) return [];
    let last = span.last;
    while (last >= span.first && months[last - 1] === 0) last--;
    const missing = budgetOf(at, last + 1, span.last);
    const booked = Array.from({ length: last - span.first + 1 }, (_, i) => span.first + i);
    const isRegular = booked.length >= 2 && booked.every((month) => months[month - 1] !== 0 && budgetOf(at, month, month) > 0);
    if (last === span.last || missing === 0 || !isRegular) return [];
    const budget = budgetOf(at, span.first, last);
    return [
      {
        kind: 'budget_months',
        text: `${name} has no ${amount.name} in ${spanText({ ...span, first: last + 1 })}, although ${exact(missing)} is budgeted; its bill may not be booked yet. Up to ${monthNames[last - 1]} it has ${exact(spent)} against ${exact(budget)}, ${apart(spent, budget)}.`,
      },
    ];
  });
}

function countedOnce(double: ReturnType<typeof doubleEntries>, actual: Side, amount: ColumnPlan, lines: readonly Line[]): string {
  if (double.length === 0) return '';
  const date = onlyDate(actual.table)!;
  const when = (at: number) => `row ${actual.table.row(at)} (${actual.table.texts(date)[at]})`;
  const each = double.map(
    ({ again, first, id, value }) => `${when(again)} repeats ${id} of ${when(first)} with the same ${amount.name} ${exact(value)}`,
  );
  const all = clean(sumOf(lines, ({ spent }) => spent) + double.reduce((sum, { value }) => sum + value, 0));
  return ` Probably booked twice and counted once here: ${listed(each)}; with ${double.length === 1 ? 'it' : 'them'} the sum would be ${exact(all)}.`;
}

/** "+1,665 (+1.8 %)". */
function apart(spent: number, budget: number): string {
  const difference = clean(spent - budget);
  const sign = difference > 0 ? '+' : difference < 0 ? '−' : '';
  return `${sign}${exact(Math.abs(difference))}${budget > 0 ? ` (${sign}${percent(Math.abs(difference), budget)})` : ''}`;
}

function spanText({ year, first, last }: Span): string {
  return first === last ? `${monthNames[first - 1]} ${year}` : `${monthNames[first - 1]} to ${monthNames[last - 1]} ${year}`;
}

function dayOf({ year }: Span, month: number, day: number): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}
