/**
 * Columns that are the lower and the upper end of the same thing (tmin and tmax, low and high): rows whose lower value is above the upper.
 * So for points and their maximum, and for amounts that are below another one in all other rows (outstanding and principal).
 */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import { isPrice } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { money } from './ratio.ts';

const ends: readonly (readonly [string, string])[] = [
  ['min', 'max'],
  ['low', 'high'],
  ['lower', 'upper'],
  ['smallest', 'largest'],
  ['diastolic', 'systolic'],
];
const mostWords = new Set(['max', 'maximum', 'possible', 'limit']);
const unitTokens = new Set(
  'eur usd gbp chf kg g t km m cm mm l ml h hours min minutes days weeks months kwh wh pct percent sqm m2'.split(' '),
);
const shown = 6;
const minRows = 12;
const maxRows = 50_000;
const maxPlans = 12;
const maxExceptions = 2;

export function boundFindings(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities();
  const named = new Set<string>();
  const found = plans.flatMap((lower): Finding[] => {
    const upper = upperOf(lower, plans) ?? mostOf(lower, plans);
    if (upper === undefined) return [];
    named.add(lower.name);
    const [low, high] = [table.numbers(lower), table.numbers(upper)];
    const rows = [...low.keys()].filter((at) => low[at]! > high[at]!);
    const known = [...low.keys()].filter((at) => !Number.isNaN(low[at]!) && !Number.isNaN(high[at]!)).length;
    // If it is common, the names have another meaning.
    if (rows.length === 0 || known < 5 || rows.length > known * 0.1) return [];
    const each = rows.slice(0, shown).map((at) => `${table.rowInWords(at)}: ${exact(low[at]!)} and ${exact(high[at]!)}`);
    return [
      {
        kind: 'bounds',
        text: `${lower.name} is above ${upper.name} in ${countOf(rows.length, 'row')}: ${listed(each, shown)}${rows.length > shown ? ' and more' : ''}.`,
      },
    ];
  });
  return [...found, ...exceptions(table, plans.filter(({ name }) => !named.has(name)).slice(0, maxPlans)).slice(0, maxExceptions)];
}

/** One or two rows in which a column is above another one of the same size that it follows and is below in all other rows. */
function exceptions(table: ColumnsInMemory, plans: readonly ColumnPlan[]): Finding[] {
  if (table.count < minRows || table.count > maxRows) return [];
  return plans.flatMap((lower) =>
    plans.flatMap((upper): Finding[] => {
      const isComparable = (isAmount(lower) && isAmount(upper)) || (isPrice(lower.name) && isPrice(upper.name));
      if (lower === upper || !isComparable || !sameUnit(lower, upper)) return [];
      const [low, high] = [table.numbers(lower), table.numbers(upper)];
      const known = [...low.keys()].filter((at) => !Number.isNaN(low[at]!) && !Number.isNaN(high[at]!));
      const rows = known.filter((at) => low[at]! > high[at]!);
      if (rows.length === 0 || rows.length > 2 || known.length < minRows) return [];
      const others = known.filter((at) => low[at]! <= high[at]!);
      const sum = (numbers: Float64Array) => others.reduce((total, at) => total + numbers[at]!, 0);
      if (sum(high) > sum(low) * 5 || correlationOf(others, low, high) < 0.4) return [];
      const each = rows.map((at) => `${exact(low[at]!)} beside ${exact(high[at]!)} in ${table.rowInWords(at)}`);
      return [
        {
          kind: 'bounds',
          text: `${lower.name} is above ${upper.name} only in ${countOf(rows.length, 'row')}: ${listed(each, shown)}; it is not above it in the other ${exact(others.length)}.`,
        },
      ];
    }),
  );
}

/** Equal units of the numbers and equal units in the names; a number of loans is not compared with euros. */
function sameUnit(lower: ColumnPlan, upper: ColumnPlan): boolean {
  const units = ({ name }: ColumnPlan) => nameTokens(name).filter((token) => unitTokens.has(token));
  const counted = ({ name }: ColumnPlan) => /[^s]s$/.test(name);
  const isMoney = ({ name }: ColumnPlan) => has(nameTokens(name), money);
  return (
    isMoney(lower) === isMoney(upper) &&
    lower.unit === upper.unit &&
    units(lower).join() === units(upper).join() &&
    counted(lower) === counted(upper)
  );
}

function isAmount({ role, units, min }: ColumnPlan): boolean {
  return (role === 'measure' || role === 'unclear') && units.size < 2 && min >= 0;
}

function correlationOf(rows: readonly number[], x: Float64Array, y: Float64Array): number {
  const mean = (numbers: Float64Array) => rows.reduce((total, at) => total + numbers[at]!, 0) / rows.length;
  const [meanX, meanY] = [mean(x), mean(y)];
  let [xx, yy, xy] = [0, 0, 0];
  for (const at of rows) {
    xx += (x[at]! - meanX) ** 2;
    yy += (y[at]! - meanY) ** 2;
    xy += (x[at]! - meanX) * (y[at]! - meanY);
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}

/** "max_points" for "points". */
function mostOf({ name }: ColumnPlan, plans: readonly ColumnPlan[]): ColumnPlan | undefined {
  const tokens = nameTokens(name).join(' ');
  return plans.find((plan) => {
    const rest = nameTokens(plan.name);
    const own = rest.filter((token) => !mostWords.has(token));
    return own.length < rest.length && own.join(' ') === tokens;
  });
}

function upperOf({ name }: ColumnPlan, plans: readonly ColumnPlan[]): ColumnPlan | undefined {
  const written = name.toLowerCase();
  for (const [low, high] of ends) {
    const at = written.indexOf(low);
    if (at < 0) continue;
    const wanted = written.slice(0, at) + high + written.slice(at + low.length);
    const found = plans.find((plan) => plan.name.toLowerCase() === wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}
