/** Plan and actual in one table: as two columns, or as one pair of columns for each period. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, shareOf } from '../figure-text.ts';
import { isPrice, isQuantity } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';

const shown = 5;
const rowsShown = 20;
const planWords = new Set('book system goal budget plan planned target soll ziel forecast goal expected'.split(' '));
const actualWords = new Set(
  'counted gezählt raised collected actual spent ist spend expense ausgaben real used cost costs actuals result achieved sales revenue'.split(
    ' ',
  ),
);

export function plannedFindings(table: ColumnsInMemory): Finding[] {
  return [...planned(table), ...plannedPeriods(table)];
}

/** Plan and actual in one table: the difference, and who is over. */
function planned(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities().filter(({ role, units }) => role === 'measure' && units.size < 2);
  const plan = plans.filter(({ name }) => has(nameTokens(name), planWords));
  const actual = plans.filter(({ name }) => has(nameTokens(name), actualWords) && !has(nameTokens(name), planWords));
  if (plan.length !== 1 || actual.length !== 1) return [];
  const [p, a] = [table.numbers(plan[0]!), table.numbers(actual[0]!)];
  const rows = [...p.keys()].filter((at) => !Number.isNaN(p[at]!) && !Number.isNaN(a[at]!));
  if (rows.length < 2) return [];
  const total = (numbers: Float64Array) => clean(rows.reduce((sum, at) => sum + numbers[at]!, 0));
  const difference = clean(total(p) - total(a));
  const over = rows.filter((at) => a[at]! > p[at]!).sort((x, y) => a[y]! - p[y]! - (a[x]! - p[x]!));
  const apart = (at: number) =>
    `${table.label(at) || `row ${table.row(at)}`} by ${exact(clean(Math.abs(a[at]! - p[at]!)))}${shareOf(a[at]! - p[at]!, p[at]!)}`;
  const named = over.slice(0, shown).map(apart);
  const under = rows.filter((at) => a[at]! < p[at]!).sort((x, y) => p[y]! - a[y]! - (p[x]! - a[x]!));
  const lacking = under.slice(0, shown).map(apart);
  const below =
    under.length === 0 ? '' : ` It is below in ${exact(under.length)}: ${lacking.join(', ')}${under.length > shown ? ' and more' : ''}.`;
  const prices = table.quantities().filter(({ name, role }) => role === 'rate' && isPrice(name));
  const worth = (price: Float64Array) =>
    clean(rows.reduce((sum, at) => sum + (Number.isNaN(price[at]!) ? 0 : (a[at]! - p[at]!) * price[at]!), 0));
  const value =
    prices.length === 1 && isQuantity(actual[0]!.name)
      ? ` At ${prices[0]!.name} the difference ${actual[0]!.name} − ${plan[0]!.name} is worth ${exact(worth(table.numbers(prices[0]!)))}.`
      : '';
  const share = total(p) > 0 ? ` (${percent(total(a), total(p))} of ${plan[0]!.name})` : '';
  const [pn, an] = [plan[0]!.name, actual[0]!.name];
  return [
    {
      kind: 'planned',
      text: `${pn} is ${exact(total(p))} and ${an} ${exact(total(a))}${share}: ${pn} − ${an} = ${exact(difference)}${shareOf(difference, total(p))}. ${over.length === 0 ? `No row has ${an} above ${pn}.` : `${an} is above ${pn} in ${countOf(over.length, 'row')} of ${exact(rows.length)}: ${named.join(', ')}${over.length > shown ? ' and more' : ''}.`}${below}${value}`,
    },
  ];
}

/** Plan and actual of one period: `budget.Q1` and `actual.Q1`. */
type Pair = { period: string; plan: ColumnPlan; actual: ColumnPlan };

function pairsOf(table: ColumnsInMemory): Pair[] {
  const plans = table.quantities().filter(({ role, units }) => (role === 'measure' || role === 'unclear') && units.size < 2);
  const marked = (words: ReadonlySet<string>) =>
    plans.flatMap((plan) => {
      const tokens = nameTokens(plan.name);
      const rest = tokens.filter((token) => !words.has(token));
      return rest.length > 0 && rest.length < tokens.length ? [{ plan, rest: rest.join(' ') }] : [];
    });
  const actuals = new Map(marked(actualWords).map(({ plan, rest }) => [rest, plan]));
  return marked(planWords).flatMap(({ plan, rest }) => {
    const actual = actuals.get(rest);
    return actual === undefined || actual === plan ? [] : [{ period: rest.toUpperCase(), plan, actual }];
  });
}

/** The rows that are over plan in all, and in which periods; periods without one of the two figures are named and not compared. */
function plannedPeriods(table: ColumnsInMemory): Finding[] {
  const pairs = pairsOf(table);
  if (pairs.length < 2 || table.count === 0) return [];
  const word = (plan: ColumnPlan, words: ReadonlySet<string>) => nameTokens(plan.name).find((token) => words.has(token))!;
  const [planned, actual] = [word(pairs[0]!.plan, planWords), word(pairs[0]!.actual, actualWords)];
  const rows = [...table.rows.cells.keys()].map((at) => compared(table, pairs, at));
  const overall = rows.filter(({ difference }) => difference > 0).toSorted((a, b) => b.difference - a.difference);
  const each = rows.slice(0, rowsShown).map(({ name, plan, base, done, over, missing, difference }) => {
    const left =
      missing.length === 0
        ? ''
        : `; ${listed(missing)} ${missing.length === 1 ? 'has' : 'have'} only one of the two and ${missing.length === 1 ? 'is' : 'are'} not compared`;
    const where = over.length === 0 ? '' : `; above in ${listed(over, 12)}`;
    return `${name}: ${planned} ${exact(plan)}, ${actual} ${exact(done)}, ${difference > 0 ? `over by ${exact(difference)}` : `under by ${exact(-difference)}`}${shareOf(difference, base)}${where}${left}`;
  });
  const sum = (plan: ColumnPlan) => clean(table.numbers(plan).reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0));
  const periods = pairs.map(({ period, plan, actual: done }) => `${period} ${exact(sum(plan))} and ${exact(sum(done))}`);
  const all = (of: (pair: Pair) => ColumnPlan) => exact(clean(pairs.reduce((total, pair) => total + sum(of(pair)), 0)));
  return [
    {
      kind: 'planned',
      text: `${
        overall.length === 0
          ? `No row is over ${planned} in all`
          : `Over ${planned} in all: ${overall
              .slice(0, rowsShown)
              .map(({ name, difference, base }) => `${name} by ${exact(difference)}${shareOf(difference, base)}`)
              .join(', ')}`
      }. ${each.join('. ')}.`,
    },
    {
      kind: 'planned',
      text: `All rows: ${planned} ${all(({ plan }) => plan)}, ${actual} ${all(({ actual: done }) => done)}; by period (${planned} and ${actual}): ${periods.join(', ')}.`,
    },
  ];
}

/** The sums of one row (`base`: the plan over the periods with both figures), the periods in which it is above the plan, and the difference over the periods with both figures. */
function compared(table: ColumnsInMemory, pairs: readonly Pair[], at: number) {
  const over: string[] = [];
  const missing: string[] = [];
  let [plan, done, base, difference] = [0, 0, 0, 0];
  for (const pair of pairs) {
    const [p, a] = [table.numbers(pair.plan)[at]!, table.numbers(pair.actual)[at]!];
    if (!Number.isNaN(p)) plan += p;
    if (!Number.isNaN(a)) done += a;
    if (Number.isNaN(p) || Number.isNaN(a)) {
      missing.push(pair.period);
      continue;
    }
    base += p;
    difference += a - p;
    if (a > p) over.push(`${pair.period} by ${exact(clean(a - p))}`);
  }
  const name = table.label(at) || `row ${table.row(at)}`;
  return { name, plan: clean(plan), done: clean(done), base: clean(base), difference: clean(difference), over, missing };
}
