/** The largest and smallest rows and columns: rows by name, columns that are periods, means across columns. */
import { nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, listed, percent, round } from '../figure-text.ts';
import { periodColumnsOf } from '../period-columns.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { isRatingName } from './ratings.ts';

const maxColumns = 8;
const rowsNamed = 10;
const followersNamed = 2;

export function rankFindings(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  return [...namedRows(table, profile), ...periodColumns(table), ...acrossColumns(table)];
}

/** The largest and the smallest rows, if rows have names or dates of their own. */
function namedRows(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  const dated = table.plans.some(
    ({ reads, values, filled }) => reads === 'date' && filled === table.count && values.distinct >= table.count * 0.95,
  );
  if (table.count < 3 || (table.labelPlan === undefined && !dated)) return [];
  const nameOf = (at: number) => (table.labelPlan === undefined ? table.periodOrRow(at) : table.rowName(at));
  const shortOf = (at: number) => (table.labelPlan === undefined ? table.periodOrRow(at) : table.label(at));
  const periods = periodColumnsOf(table.quantities());
  const plans = table.quantities().filter(
    (plan) =>
      // For period columns the sums by row and by column are more useful.
      !(periods.length >= 3 && periods.includes(plan)) &&
      plan.units.size < 2 &&
      plan.values.distinct > 2 &&
      profile.columns.some((column) => column.name === plan.name && column.numbers !== undefined),
  );
  return plans.slice(0, maxColumns).flatMap((plan) => {
    const numbers = table.numbers(plan);
    const ranked = [...numbers.keys()].filter((at) => !Number.isNaN(numbers[at]!)).sort((a, b) => numbers[b]! - numbers[a]! || a - b);
    if (ranked.length < 3) return [];
    const [top, low] = [numbers[ranked[0]!]!, numbers[ranked.at(-1)!]!];
    const tops = ranked.filter((at) => numbers[at] === top);
    const lows = ranked.filter((at) => numbers[at] === low);
    if (tops.length > 3 && lows.length > 3) return [];
    const sum = numbers.reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0);
    const share = plan.role === 'measure' && low >= 0 && sum > 0 && tops.length === 1 ? `, ${percent(top, sum)} of the sum` : '';
    const names = (rows: number[]) => (rows.length > 3 ? `${rows.length} rows` : listed(rows.map(nameOf)));
    const next = tops.length === 1 && ranked.length >= 6 ? `; then ${followers(ranked, numbers, shortOf)}` : '';
    return [
      {
        kind: 'rank',
        text: `${plan.name} is largest in ${names(tops)}: ${exact(top)}${share}${next}; smallest in ${names(lows)}: ${exact(low)}.`,
      },
    ];
  });
}

/** The next two values after the largest, each with the rows that share it. */
function followers(ranked: readonly number[], numbers: Float64Array, nameOf: (at: number) => string): string {
  const values = [...new Set(ranked.slice(1).map((at) => numbers[at]!))].slice(0, followersNamed);
  const shared = values.map((value) => ranked.filter((at) => numbers[at] === value));
  const named = shared[0]!.length >= followersNamed ? shared.slice(0, 1) : shared;
  return named
    .map((rows, i) =>
      rows.length > 3
        ? `${exact(values[i]!)} in ${exact(rows.length)} rows`
        : rows.map((at) => `${nameOf(at)} ${exact(values[i]!)}`).join(', '),
    )
    .join(', ');
}

/** Columns called Jan, Feb … or 2021, 2022 …: the largest one, and the change from the first to the last. */
function periodColumns(table: ColumnsInMemory): Finding[] {
  const periods = periodColumnsOf(table.plans).filter(({ type }) => type !== 'empty');
  const plans = periods.filter(({ reads, units }) => reads === 'number' && units.size < 2);
  const unread = periods.filter((plan) => !plans.includes(plan)).map(({ name }) => name);
  const without = unread.length === 0 ? '' : ` without ${listed(unread, rowsNamed)} (not read as numbers of one unit)`;
  const years = plans.length === 2 && plans.every(({ name }) => /^(?:19|20)\d\d$/.test(name.trim()));
  if ((plans.length < 3 && !years) || table.count < 2) return [];
  const sums = plans.map((plan) => ({
    name: plan.name,
    sum: clean(table.numbers(plan).reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0)),
  }));
  const lacking = (name: string) => table.numbers(plans.find((plan) => plan.name === name)!).filter(Number.isNaN).length;
  // A column with values that are missing or no numbers is not ranked.
  const whole = sums.filter(({ name }) => lacking(name) === 0);
  const ranked = (whole.length >= 2 ? whole : sums).toSorted((a, b) => b.sum - a.sum);
  const [first, last] = [sums[0]!, sums.at(-1)!];
  const change =
    first.sum > 0
      ? `; from ${first.name} (${exact(first.sum)}) to ${last.name} (${exact(last.sum)}) it changes by ${signed((last.sum - first.sum) / first.sum)}`
      : '';
  const findings: Finding[] = [
    {
      kind: 'period_columns',
      text: `The columns ${first.name} to ${last.name} are periods: ${without === '' ? '' : `${without.trim()}, `}${ranked[0]!.name} has the largest sum (${exact(ranked[0]!.sum)}), ${ranked.at(-1)!.name} the smallest (${exact(ranked.at(-1)!.sum)})${change}. All of them together are ${exact(clean(sums.reduce((total, { sum }) => total + sum, 0)))}.${sums.length <= 24 ? ` Sums: ${sums.map(({ name, sum }) => `${name} ${exact(sum)}${lacking(name) > 0 ? ` (${exact(lacking(name))} without a number)` : ''}`).join(', ')}.` : ''}`,
    },
  ];
  const label = table.labelPlan;
  if (label !== undefined) {
    const rows = [...table.rows.cells.keys()].map((at) => ({
      at,
      sum: clean(plans.reduce((total, plan) => total + (Number.isNaN(table.numbers(plan)[at]!) ? 0 : table.numbers(plan)[at]!), 0)),
    }));
    const order = rows.toSorted((a, b) => b.sum - a.sum);
    findings.push({
      kind: 'period_rows',
      text: `Over ${first.name} to ${last.name}${without}, ${table.label(order[0]!.at)} has the largest sum (${exact(order[0]!.sum)}), ${table.label(order.at(-1)!.at)} the smallest (${exact(order.at(-1)!.sum)}).${
        order.length > 2
          ? ` In order: ${order
              .slice(0, rowsNamed)
              .map(({ at, sum }) => `${table.label(at)} ${exact(sum)}`)
              .join(', ')}${order.length > rowsNamed ? ' and more' : ''}.`
          : ''
      }`,
    });
    const grown = rows
      .map(({ at }) => ({ at, from: table.numbers(plans[0]!)[at]!, to: table.numbers(plans.at(-1)!)[at]! }))
      .filter(({ from, to }) => from > 0 && !Number.isNaN(to))
      .toSorted((a, b) => b.to / b.from - a.to / a.from);
    if (grown.length >= 2) {
      const say = ({ at, from, to }: (typeof grown)[number]) =>
        `${table.label(at)} (${exact(from)} to ${exact(to)}, ${signed((to - from) / from)})`;
      findings.push({
        kind: 'period_growth',
        text: `From ${first.name} to ${last.name}, ${grown[0]!.to < grown[0]!.from ? `every row falls: ${say(grown[0]!)} least, ${say(grown.at(-1)!)} most` : `${say(grown[0]!)} changes most upwards, ${say(grown.at(-1)!)} least or downwards`}.`,
      });
    }
  }
  return findings;
}

/** Marks, answers on one scale: the means of the columns, and the rows with the highest and the lowest mean. */
function acrossColumns(table: ColumnsInMemory): Finding[] {
  const periods = periodColumnsOf(table.plans);
  const plans = table.quantities().filter((plan) => plan.units.size < 2 && !periods.includes(plan));
  const beyond = plans.flatMap((plan) =>
    [...table.numbers(plan).entries()].flatMap(([at, value]) => (value > 100 && value <= 1000 ? [{ plan, at, value }] : [])),
  );
  // One value beyond 100 among marks is a mistake, or extra points.
  const stray = beyond.length > 0 && beyond.length <= Math.max(1, plans.length * table.count * 0.03) ? beyond : [];
  const alike = plans.filter(
    ({ min, max, role }) =>
      role !== 'level' &&
      min >= 0 &&
      (max <= 100 || (stray.length > 0 && max <= 200)) &&
      plans.every((other) => other.max <= Math.max(max * 4, 6)),
  );
  if (alike.length < 3 || alike.length !== plans.length || table.count < 3) return [];
  const top = Math.max(...alike.map(({ max }) => max));
  if (
    top < 2 ||
    alike.some(
      ({ max, role, name }) =>
        max < top * 0.4 ||
        // Scales to 5 and to 10 have no common mean, nor have nights or persons and ratings.
        (role === 'measure' && alike.some((other) => isRatingName(other.name))) ||
        (top <= 10 && table.count >= 10 && max <= top / 2) ||
        (role === 'measure' &&
          /count|qty|units|hours|amount|total|menge|capacity|kapaz|booked|fee|stock|visitors|cost|seats/i.test(nameTokens(name).join(' '))),
    )
  )
    return [];
  const means = alike.map((plan) => ({ name: plan.name, mean: meanOf(table.numbers(plan)) })).toSorted((a, b) => b.mean - a.mean);
  const columns: Finding = {
    kind: 'column_means',
    text: `Means of the columns: ${means
      .slice(0, 10)
      .map(({ name, mean }) => `${name} ${round(mean)}`)
      .join(', ')}.`,
  };
  const odd: Finding[] =
    stray.length === 0
      ? []
      : [
          {
            kind: 'out_of_range',
            text: `${listed(stray.map(({ plan, at, value }) => `${plan.name} ${exact(value)} in ${table.rowName(at)}`))} ${stray.length === 1 ? 'is' : 'are'} above 100, which all other values keep to; the means count ${stray.length === 1 ? 'it' : 'them'}.`,
          },
        ];
  if (table.labelPlan === undefined) return [columns, ...odd];
  const rows = [...table.rows.cells.keys()]
    .map((at) => ({ at, mean: meanOf(Float64Array.from(alike, (plan) => table.numbers(plan)[at]!)) }))
    .filter(({ mean }) => !Number.isNaN(mean))
    .sort((a, b) => b.mean - a.mean);
  if (rows.length < 3) return [columns, ...odd];
  const [high, low] = [rows[0]!, rows.at(-1)!];
  const sumAt = (at: number) => clean(alike.reduce((sum, plan) => sum + (table.numbers(plan)[at] || 0), 0));
  const sums = alike.every(({ type }) => type === 'integer')
    ? ` Sums: ${rows
        .slice(0, rowsNamed)
        .map(({ at }) => `${table.label(at)} ${exact(sumAt(at))}`)
        .join(', ')}.`
    : '';
  return [
    columns,
    ...odd,
    {
      kind: 'row_means',
      text: `Across these columns ${table.label(high.at)} has the highest mean (${round(high.mean)}) and ${table.label(low.at)} the lowest (${round(low.mean)}); missing values are not counted as zero. In order: ${rows
        .slice(0, rowsNamed)
        .map(({ at, mean }) => `${table.label(at)} ${round(mean)}`)
        .join(', ')}${rows.length > rowsNamed ? ' and more' : ''}.${sums}`,
    },
  ];
}

function meanOf(numbers: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (const value of numbers) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

export function signed(share: number): string {
  return `${share >= 0 ? '+' : '−'}${percent(Math.abs(share), 1)}`;
}
