/** Figures that only two joined tables give: quantity × price, plan − actual, a measure by a group of the other table, values that differ. */
import { cellText } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { ExactSum } from './exact-sum.ts';
import { countOf, exact, listed, percent } from './figure-text.ts';
import type { JoinKey, JoinSide } from './join-key.ts';
import { uniqueness } from './join-key.ts';
import { isPrice, isQuantity } from './plan-figures.ts';
import { multiplied } from './profile.ts';
import type { Remark } from './table-profile.ts';

const shown = 12;
const longestKey = 60;
const mostGroups = 60;
const fewestPairs = 8;
const planWords = new Set('budget plan planned target soll ziel forecast goal expected quota limit'.split(' '));

type Side = JoinSide & { plans: ColumnPlan[]; rows: JoinKey['leftRows'] };

export function joinFigures(key: JoinKey, left: JoinSide, right: JoinSide): Remark[] {
  const a: Side = { ...left, plans: key.left, rows: key.leftRows };
  const b: Side = { ...right, plans: key.right, rows: key.rightRows };
  const products = [...product(a, b), ...product(b, a)];
  const differing = uniqueness(a.rows) > 0.95 && uniqueness(b.rows) > 0.95 ? differences(a, b) : [];
  return [
    ...products.slice(0, 3),
    ...(products.length > 0 || differing.length > 0 ? [] : planAndActual(a, b)),
    ...differing,
    ...enriched(a, b),
    ...enriched(b, a),
    ...together(a, b),
  ];
}

/** The quantity of one table times the price of the other. */
function product(a: Side, b: Side): Remark[] {
  const quantity = quantities(a).filter((plan) => isQuantity(plan.name) && !isPrice(plan.name) && plan.role === 'measure');
  const price = quantities(b).filter(({ name, unit, role }) => isPrice(name) && unit !== '%' && role === 'rate');
  if (quantity.length === 0 || price.length === 0 || quantities(a).some(({ name }) => isPrice(name))) return [];
  const [q, p] = [quantity[0]!, price.find(({ name }) => /sell|sale|retail|unit|list/i.test(name)) ?? price[0]!];
  const joined = [...table(a).quantities(), q, p];
  if (joined.some(({ units }) => units.size > 1)) return [];
  const sum = new ExactSum();
  const each: { key: string; value: number }[] = [];
  const without: string[] = [];
  const doubtful: string[] = [];
  const byKey = new Map<string, number>();
  let rows = 0;
  for (const [key, own] of a.rows) {
    const others = b.rows.get(key);
    if (others === undefined) {
      without.push(written(a, own[0]!));
      continue;
    }
    const prices = new Set(others.map((at) => table(b).numbers(p)[at]!).filter((value) => !Number.isNaN(value)));
    if (prices.size !== 1) {
      (prices.size === 0 ? without : doubtful).push(written(a, own[0]!));
      continue;
    }
    const other = others.find((at) => !Number.isNaN(table(b).numbers(p)[at]!))!;
    for (const at of own) {
      const value = pairProduct(a, q, at, b, p, other);
      if (value === null) continue;
      rows++;
      sum.add(value.value, value.decimals);
      byKey.set(key, (byKey.get(key) ?? 0) + value.value);
    }
    if (byKey.has(key)) each.push({ key: written(a, own[0]!) + labelOf(a, own[0]!, b, other), value: clean(byKey.get(key)!) });
  }
  if (rows === 0) return [];
  const name = `${q.name} × ${p.name}`;
  const ranked = each.toSorted((x, y) => y.value - x.value);
  const remarks: Remark[] = [
    {
      kind: 'join_product',
      text: `${name} (${a.name} with ${b.name}) adds up to ${exact(sum.total())} over ${countOf(rows, 'row')}: ${listed(
        ranked.slice(0, shown).map(({ key, value }) => `${key} ${exact(value)}`),
        shown,
      )}${ranked.length > shown ? ' and more' : ''}.`,
    },
  ];
  if (without.length > 0)
    remarks.push({ kind: 'join_product', text: `Not in this sum, because they have no ${p.name}: ${listed(without, shown)}.` });
  if (doubtful.length > 0)
    remarks.push({
      kind: 'join_product',
      text: `Not in this sum, because they have several different values of ${p.name}: ${listed(doubtful, shown)}.`,
    });
  return [...remarks, ...grouped(a, b, (at, other) => pairProduct(a, q, at, b, p, other)?.value ?? Number.NaN, name)];
}

function pairProduct(
  a: Side,
  q: ColumnPlan,
  at: number,
  b: Side,
  p: ColumnPlan,
  other: number,
): { value: number; decimals: number } | null {
  return multiplied({ ...q, index: 0 }, { ...p, index: 1 }, [
    table(a).rows.cells[at]![q.index] ?? null,
    table(b).rows.cells[other]![p.index] ?? null,
  ]);
}

/** Budget − spent and the like, by key. */
function planAndActual(a: Side, b: Side): Remark[] {
  const isPlan = (side: Side, plan: ColumnPlan) => has([...nameTokens(plan.name), ...nameTokens(side.name)], planWords);
  const [x, y] = [mainOf(a), mainOf(b)];
  if (x === undefined || y === undefined) return [];
  const first = isPlan(a, x) ? { side: a, plan: x } : isPlan(b, y) ? { side: b, plan: y } : null;
  const alike = nameTokens(x.name).at(-1) === nameTokens(y.name).at(-1);
  if (first === null && !alike) return [];
  const planned = first ?? { side: a, plan: x };
  const actual = planned.side === a ? { side: b, plan: y } : { side: a, plan: x };
  const [all, spent] = [sums(planned.side, planned.plan), sums(actual.side, actual.plan)];
  const pn = planned.plan.name === actual.plan.name ? `${planned.plan.name} of ${planned.side.name}` : planned.plan.name;
  const an = planned.plan.name === actual.plan.name ? `${actual.plan.name} of ${actual.side.name}` : actual.plan.name;
  const total = (figures: Map<string, number>) => clean([...figures.values()].reduce((sum, value) => sum + value, 0));
  const rows = [...all].map(([key, value]) => {
    const own = clean(spent.get(key) ?? 0);
    return { name: written(planned.side, planned.side.rows.get(key)![0]!), value: clean(value), own, left: clean(value - own) };
  });
  const over = rows.filter(({ left }) => left < 0).toSorted((r, s) => r.left - s.left);
  const unplanned = [...spent].filter(([key]) => !all.has(key));
  const each = rows.slice(0, shown).map(({ name, value, own, left }) => `${name} ${exact(value)} − ${exact(own)} = ${exact(left)}`);
  const share = total(all) > 0 ? ` (${percent(total(spent), total(all))})` : '';
  const common = clean(rows.reduce((sum, { own }) => sum + own, 0));
  const remarks: Remark[] = [
    {
      kind: 'join_difference',
      text: `${pn} is ${exact(total(all))} and ${an} ${exact(total(spent))}${share}: ${pn} − ${an} = ${exact(clean(total(all) - total(spent)))} in all${unplanned.length > 0 ? `, ${exact(clean(total(all) - common))} over the keys of ${planned.side.name}` : ''}.`,
    },
    { kind: 'join_difference', text: `By key: ${each.join('; ')}${rows.length > shown ? ' and more' : ''}.` },
    {
      kind: 'join_difference',
      text:
        over.length === 0
          ? `No key has ${an} above ${pn}.`
          : `${an} is above ${pn} for ${countOf(over.length, 'key')}: ${listed(over.slice(0, shown).map(({ name, left }) => `${name} by ${exact(-left)}`))}.`,
    },
  ];
  if (unplanned.length > 0)
    remarks.push({
      kind: 'join_difference',
      text: `${an} without any ${pn}: ${listed(unplanned.slice(0, shown).map(([key, value]) => `${written(actual.side, actual.side.rows.get(key)![0]!)} ${exact(clean(value))}`))}.`,
    });
  return remarks;
}

/** Columns of one name in both tables whose values differ for the same key. */
function differences(a: Side, b: Side): Remark[] {
  const remarks: Remark[] = [];
  for (const x of table(a).plans) {
    if (a.plans.includes(x)) continue;
    const y = table(b).plans.find((plan) => nameTokens(plan.name).join(' ') === nameTokens(x.name).join(' ') && plan.reads === x.reads);
    if (y === undefined || b.plans.includes(y)) continue;
    const differing: string[] = [];
    let compared = 0;
    let change = 0;
    for (const [key, own] of a.rows) {
      const other = b.rows.get(key)?.[0];
      if (other === undefined) continue;
      const [mine, theirs] = [table(a).texts(x)[own[0]!]!, table(b).texts(y)[other]!];
      if (mine === '' && theirs === '') continue;
      compared++;
      if (x.reads === 'number') {
        const [m, t] = [table(a).numbers(x)[own[0]!]!, table(b).numbers(y)[other]!];
        if (m === t || (Number.isNaN(m) && Number.isNaN(t))) continue;
        if (!Number.isNaN(m) && !Number.isNaN(t)) change += t - m;
        differing.push(
          `${written(a, own[0]!)} ${cellText(mine, longestKey) || 'missing'} and ${cellText(theirs, longestKey) || 'missing'}${Number.isNaN(t - m) ? '' : ` (${t > m ? '+' : '−'}${exact(clean(Math.abs(t - m)))})`}`,
        );
      } else if (mine.toLowerCase() !== theirs.toLowerCase())
        differing.push(`${written(a, own[0]!)} '${cellText(mine, longestKey)}' and '${cellText(theirs, longestKey)}'`);
    }
    if (compared === 0) continue;
    const total = x.reads === 'number' && x.role === 'measure' && change !== 0 ? `; all differences together ${exact(clean(change))}` : '';
    remarks.push({
      kind: 'join_values',
      text:
        differing.length === 0
          ? `${x.name} is the same in both files for all ${countOf(compared, 'common key')}.`
          : `${x.name} differs for ${exact(differing.length)} of ${countOf(compared, 'common key')} (${a.name} and ${b.name}): ${listed(differing.slice(0, shown), shown)}${differing.length > shown ? ' and more' : ''}${total}.`,
    });
  }
  return remarks.slice(0, 4);
}

/** The main measure of the many by the groups of the one: orders' amount by the customers' region. */
function enriched(a: Side, b: Side): Remark[] {
  const measure = mainOf(a) ?? quantities(a).find(({ role }) => role === 'rate');
  if (measure === undefined || uniqueness(b.rows) < 0.95 || uniqueness(a.rows) > 0.9) return [];
  const additive = measure.role === 'measure';
  // Where the other table only names the keys, its names are the groups.
  return grouped(a, b, (at) => table(a).numbers(measure)[at]!, additive ? measure.name : `Mean ${measure.name}`, additive);
}

function grouped(a: Side, b: Side, figureAt: (at: number, other: number) => number, name: string, additive = true): Remark[] {
  const groups = table(b).plans.filter(
    (plan) =>
      !b.plans.includes(plan) &&
      plan.reads === 'text' &&
      (plan.type === 'text' || plan.role === 'code') &&
      plan.values.distinct >= 2 &&
      plan.values.distinct <= mostGroups &&
      plan.meanChars <= 40,
  );
  return groups.slice(0, 3).flatMap((plan): Remark[] => {
    const totals = new Map<string, { sum: number; rows: number }>();
    for (const [key, own] of a.rows) {
      const other = b.rows.get(key)?.[0];
      if (other === undefined) continue;
      const group = table(b).texts(plan)[other]!;
      if (group === '') continue;
      const entry = totals.get(group) ?? { sum: 0, rows: 0 };
      totals.set(group, entry);
      for (const at of own) {
        const value = figureAt(at, other);
        if (Number.isNaN(value)) continue;
        entry.sum += value;
        entry.rows++;
      }
    }
    if (!additive) for (const entry of totals.values()) entry.sum /= Math.max(entry.rows, 1);
    const ranked = [...totals].filter(([, { rows }]) => rows > 0).sort((x, y) => y[1].sum - x[1].sum);
    if (ranked.length < 2) return [];
    const whole = ranked.reduce((sum, [, each]) => sum + each.sum, 0);
    const positive = additive && ranked.every(([, { sum }]) => sum >= 0) && whole > 0;
    return [
      {
        kind: 'join_groups',
        text: `${name} by ${plan.name} (from ${b.name}): ${listed(
          ranked
            .slice(0, shown)
            .map(
              ([group, { sum, rows }]) =>
                `${group} ${exact(clean(sum))} (${positive ? `${percent(sum, whole)}, ` : ''}${countOf(rows, 'row')})`,
            ),
          shown,
        )}.`,
      },
    ];
  });
}

/** Whether a measure of one table goes along with one of the other, over the common keys. */
function together(a: Side, b: Side): Remark[] {
  const remarks: Remark[] = [];
  if (uniqueness(a.rows) < 0.95 && uniqueness(b.rows) < 0.95) return [];
  for (const x of quantities(a).slice(0, 3)) {
    for (const y of quantities(b).slice(0, 3)) {
      const pairs = [...a.rows.keys()].filter((key) => b.rows.has(key)).map((key) => [figureOf(a, x, key), figureOf(b, y, key)] as const);
      const known = pairs.filter(([p, q]) => !Number.isNaN(p) && !Number.isNaN(q));
      const r = known.length < fewestPairs ? 0 : correlation(known);
      if (Math.abs(r) < 0.7) continue;
      remarks.push({
        kind: 'join_correlation',
        text: `Over ${countOf(known.length, 'common key')}, ${x.name} and ${y.name} ${r > 0 ? 'rise together' : 'move against each other'} (correlation ${r.toFixed(2)}); that is no proof of cause.`,
      });
    }
  }
  return remarks.slice(0, 2);
}

function figureOf(side: Side, plan: ColumnPlan, key: string): number {
  const values = side.rows
    .get(key)!
    .map((at) => table(side).numbers(plan)[at]!)
    .filter((value) => !Number.isNaN(value));
  if (values.length === 0) return Number.NaN;
  const sum = values.reduce((total, value) => total + value, 0);
  return plan.role === 'measure' ? sum : sum / values.length;
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (i: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[i], 0) / pairs.length;
  const [mx, my] = [mean(0), mean(1)];
  let [xx, yy, xy] = [0, 0, 0];
  for (const [x, y] of pairs) {
    xx += (x - mx) ** 2;
    yy += (y - my) ** 2;
    xy += (x - mx) * (y - my);
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}

/** What a table is about: money first, then what adds up. */
function mainOf(side: Side): ColumnPlan | undefined {
  const plans = quantities(side).filter(({ role }) => role === 'measure');
  return (
    plans.find(({ name }) =>
      /amount|revenue|sales|budget|plan|target|spent|cost|kosten|betrag|umsatz|total|actual|ist|soll|value/i.test(name),
    ) ?? plans[0]
  );
}

function quantities(side: Side): ColumnPlan[] {
  return table(side)
    .quantities()
    .filter(({ units }) => units.size < 2);
}

function sums(side: Side, plan: ColumnPlan): Map<string, number> {
  const numbers = table(side).numbers(plan);
  const found = new Map<string, number>();
  for (const [key, rows] of side.rows) {
    const sum = new ExactSum();
    let known = false;
    for (const at of rows) {
      if (Number.isNaN(numbers[at]!)) continue;
      known = true;
      sum.add(numbers[at]!, readNumber(plan, table(side).rows.cells[at]![plan.index] ?? null)?.decimals ?? 0);
    }
    if (known) found.set(key, sum.total());
  }
  return found;
}

function written(side: Side, at: number): string {
  return side.plans.map((plan) => cellText(table(side).texts(plan)[at]!, longestKey)).join(' / ');
}

/** " (Bolt M4)", from whichever table names the key. */
function labelOf(a: Side, at: number, b: Side, other: number): string {
  for (const [side, row] of [
    [a, at],
    [b, other],
  ] as const) {
    const plan = table(side).labelPlan;
    if (plan !== undefined && !side.plans.includes(plan)) return ` (${table(side).label(row)})`;
  }
  return '';
}

function table(side: Side): JoinSide['table'] {
  return side.table;
}
