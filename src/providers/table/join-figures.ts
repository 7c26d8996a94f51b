/** Figures that need two joined tables: quantity × price, plan − actual, a measure by a group of the other table, differing values. */
import type { Period } from './asked-period.ts';
import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { ExactSum } from './exact-sum.ts';
import { countOf, exact, listed, percent } from './figure-text.ts';
import type { Ratio } from './findings/ratio.ts';
import { dueFindings } from './join-dues-findings.ts';
import { enriched, grouped, named } from './join-groups.ts';
import type { JoinKey, JoinSide } from './join-key.ts';
import { uniqueness } from './join-key.ts';
import { monthBudget } from './join-month-budget.ts';
import { planAndActual, planAndProduct } from './join-plan.ts';
import { implausible } from './join-plausibility.ts';
import { convertedFigures } from './join-rates.ts';
import { joinedRatio } from './join-ratio.ts';
import { labelOf, mainOf, maxKeyChars, quantities, type Side, table, written } from './join-side.ts';
import { isPrice, isQuantity } from './plan-figures.ts';
import { multiplied } from './profile.ts';
import type { Finding } from './table-profile.ts';

const shown = 12;
const minPairs = 8;
/** Keys with a share of the sum. */
const sharesShown = 3;
/** Share of the keys; where more are zero or negative, this is usual. */
const maxNotPositive = 0.2;

/** What the figures are wanted for. */
export type JoinBounds = { period?: Period; ratio?: Ratio };

export function joinFigures(key: JoinKey, left: JoinSide, right: JoinSide, { period, ratio }: JoinBounds = {}): Finding[] {
  const a: Side = { ...left, plans: key.left, rows: key.leftRows };
  const b: Side = { ...right, plans: key.right, rows: key.rightRows };
  const months = monthBudget(a, b, period);
  if (months.length > 0) return months;
  const products = [...product(a, b), ...product(b, a)];
  const differing = uniqueness(a.rows) > 0.95 && uniqueness(b.rows) > 0.95 ? differences(a, b) : [];
  const dues = products.length > 0 ? [] : dueFindings(a, b);
  return [
    ...joinedRatio(a, b, ratio),
    ...convertedFigures(a, b),
    ...convertedFigures(b, a),
    ...products.slice(0, 6),
    ...dues,
    ...(products.length > 0 || differing.length > 0 || dues.length > 0 ? [] : planAndActual(a, b)),
    ...differing,
    ...enriched(countedOf(a), b),
    ...enriched(countedOf(b), a),
    ...named(a, b),
    ...named(b, a),
    ...implausible(a, b),
    ...implausible(b, a),
    ...together(a, b),
  ];
}

/** The side with the rows that other figures of its table count. */
function countedOf(side: Side): Side {
  const { counted } = side;
  if (counted === undefined) return side;
  const rows = [...side.rows].map(([key, own]): [string, number[]] => [key, own.filter((at) => counted.has(at))]);
  return { ...side, rows: new Map(rows.filter(([, own]) => own.length > 0)) };
}

/** The quantity of one table times the price of the other. */
function product(a: Side, b: Side): Finding[] {
  const pair = priced(a, b);
  if (pair === null) return [];
  const { q, p, name } = pair;
  const joined = [...table(a).quantities(), q, p];
  if (joined.some(({ units }) => units.size > 1)) return [];
  const sum = new ExactSum();
  const each: { key: string; value: number }[] = [];
  const without: { text: string; rows: readonly number[] }[] = [];
  const doubtful: string[] = [];
  const byKey = new Map<string, number>();
  let rows = 0;
  for (const [key, own] of a.rows) {
    const others = b.rows.get(key);
    if (others === undefined) {
      without.push({ text: `${written(a, own[0]!)}${labelOf(a, own[0]!, b, -1)}`, rows: own });
      continue;
    }
    const prices = new Set(others.map((at) => table(b).numbers(p)[at]!).filter((value) => !Number.isNaN(value)));
    if (prices.size !== 1) {
      if (prices.size === 0) without.push({ text: `${written(a, own[0]!)}${labelOf(a, own[0]!, b, -1)}`, rows: own });
      else doubtful.push(written(a, own[0]!));
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
  const ranked = each.toSorted((x, y) => y.value - x.value);
  const findings: Finding[] = [
    {
      kind: 'join_product',
      text: `${name} (${a.name} with ${b.name}) adds up to ${exact(sum.total())} over ${countOf(rows, 'row')}: ${listed(
        ranked.slice(0, shown).map(({ key, value }, i) => `${key} ${exact(value)}${i < sharesShown ? share(value, sum.total()) : ''}`),
        shown,
      )}${ranked.length > shown ? ' and more' : ''}.`,
    },
    ...notPositive(name, ranked),
  ];
  if (without.length > 0) {
    const known = without.flatMap(({ rows: own }) => own.map((at) => table(a).numbers(q)[at]!)).filter((value) => !Number.isNaN(value));
    const amount = exact(clean(known.reduce((total, value) => total + value, 0)));
    findings.push({
      kind: 'join_unpriced',
      text: `Not in this sum, because they have no ${p.name}: ${listed(
        without.map(({ text }) => text),
        shown,
      )} (${q.name} ${amount} in ${countOf(known.length, 'row')}).`,
    });
  }
  if (doubtful.length > 0)
    findings.push({
      kind: 'join_product',
      text: `Not in this sum, because they have several different values of ${p.name}: ${listed(doubtful, shown)}.`,
    });
  const figureAt = (at: number, other: number) => pairProduct(a, q, at, b, p, other)?.value ?? Number.NaN;
  return [...findings, ...grouped(a, b, figureAt, name), ...ownGroups(a, b, figureAt, name)];
}

function share(value: number, whole: number): string {
  return value > 0 && whole > 0 ? ` (${percent(value, whole)})` : '';
}

/** Keys with a product of zero or below: a price or a quantity to check. */
function notPositive(name: string, ranked: readonly { key: string; value: number }[]): Finding[] {
  const [zero, negative] = [ranked.filter(({ value }) => value === 0), ranked.filter(({ value }) => value < 0)];
  const parts = [
    ...(negative.length === 0
      ? []
      : [
          `below zero for ${listed(
            negative.slice(0, shown).map(({ key, value }) => `${key} (${exact(value)})`),
            shown,
          )}`,
        ]),
    ...(zero.length === 0
      ? []
      : [
          `zero for ${listed(
            zero.slice(0, shown).map(({ key }) => key),
            shown,
          )}`,
        ]),
  ];
  if (parts.length === 0 || zero.length + negative.length > ranked.length * maxNotPositive) return [];
  return [{ kind: 'zeros', text: `${name} is ${parts.join(', and ')}.` }];
}

/** A figure of both tables by the groups of the table with the quantities: quantity × price by warehouse. */
function ownGroups(a: Side, b: Side, figureAt: (at: number, other: number) => number, name: string): Finding[] {
  return [...grouped(a, b, figureAt, name, true, a), ...byMonth(a, b, figureAt, name)];
}

function byMonth(a: Side, b: Side, figureAt: (at: number, other: number) => number, name: string): Finding[] {
  const date = table(a).plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date === undefined) return [];
  const months = new Map<string, number>();
  for (const [key, own] of a.rows) {
    const other = b.rows.get(key)?.[0];
    if (other === undefined) continue;
    for (const at of own) {
      const [ms, value] = [table(a).dates(date)[at]!, figureAt(at, other)];
      if (Number.isNaN(ms) || Number.isNaN(value)) continue;
      const month = new Date(ms).toISOString().slice(0, 7);
      months.set(month, (months.get(month) ?? 0) + value);
    }
  }
  if (months.size < 2 || months.size > 36) return [];
  const each = [...months].sort((x, y) => (x[0] < y[0] ? -1 : 1)).map(([month, sum]) => `${month} ${exact(clean(sum))}`);
  return [{ kind: 'join_groups', text: `${name} by month (${date.name} of ${a.name}): ${each.join(', ')}.` }];
}

/** The figures of a table by the columns that a third one adds to its partner (`added`). */
export function chainFigures(key: JoinKey, left: JoinSide, right: JoinSide, added: ReadonlySet<ColumnPlan>): Finding[] {
  const a: Side = { ...left, plans: key.left, rows: key.leftRows };
  const b: Side = { ...right, plans: key.right, rows: key.rightRows };
  const findings: Finding[] = [];
  const pair = priced(a, b);
  if (pair !== null && uniqueness(b.rows) === 1)
    findings.push(
      ...grouped(a, b, (at, other) => pairProduct(a, pair.q, at, b, pair.p, other)?.value ?? Number.NaN, pair.name, true, b, added),
    );
  const measure = mainOf(a);
  if (measure !== undefined && uniqueness(b.rows) === 1)
    findings.push(...grouped(a, b, (at) => table(a).numbers(measure)[at]!, measure.name, true, b, added));
  // Lines that lead to both: their quantity by the columns of the one and the price of the other.
  const own = priced(b, b);
  if (own !== null && (added.has(own.p) || added.has(own.q)) && uniqueness(a.rows) === 1) {
    const figureAt = (at: number) => pairProduct(b, own.q, at, b, own.p, at)?.value ?? Number.NaN;
    findings.push(...grouped(b, a, figureAt, own.name));
    const byKey = new Map<string, number>();
    for (const [at, rows] of b.rows) {
      const known = rows.map(figureAt).filter((value) => !Number.isNaN(value));
      if (known.length > 0)
        byKey.set(
          at,
          known.reduce((sum, value) => sum + value, 0),
        );
    }
    findings.push(...planAndProduct(a, byKey, own.name));
  }
  return findings;
}

/** A table's quantity and the matching price. */
function priced(a: Side, b: Side): { q: ColumnPlan; p: ColumnPlan; name: string } | null {
  const q = quantities(a).find((plan) => isQuantity(plan.name) && !isPrice(plan.name) && plan.role === 'measure');
  const prices = quantities(b).filter(({ name, unit, role }) => isPrice(name) && unit !== '%' && role === 'rate');
  const p = prices.find(({ name }) => /sell|sale|retail|unit|list/i.test(name)) ?? prices[0];
  if (q === undefined || p === undefined || (a !== b && quantities(a).some(({ name }) => isPrice(name)))) return null;
  return { q, p, name: `${q.name} × ${p.name}` };
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

/** Columns with the same name in both tables and different values for the same key. */
function differences(a: Side, b: Side): Finding[] {
  const findings: Finding[] = [];
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
          `${written(a, own[0]!)} ${cellText(mine, maxKeyChars) || 'missing'} and ${cellText(theirs, maxKeyChars) || 'missing'}${Number.isNaN(t - m) ? '' : ` (${t > m ? '+' : '−'}${exact(clean(Math.abs(t - m)))})`}`,
        );
      } else if (mine.toLowerCase() !== theirs.toLowerCase())
        differing.push(`${written(a, own[0]!)} '${cellText(mine, maxKeyChars)}' and '${cellText(theirs, maxKeyChars)}'`);
    }
    if (compared === 0) continue;
    const total = x.reads === 'number' && x.role === 'measure' && change !== 0 ? `; all differences together ${exact(clean(change))}` : '';
    findings.push({
      kind: 'join_values',
      text:
        differing.length === 0
          ? `${x.name} is the same in both files for all ${countOf(compared, 'common key')}.`
          : `${x.name} differs for ${exact(differing.length)} of ${countOf(compared, 'common key')} (${a.name} and ${b.name}): ${listed(differing.slice(0, shown), shown)}${differing.length > shown ? ' and more' : ''}${total}.`,
    });
  }
  return findings.slice(0, 4);
}

/** Whether a measure of one table correlates with one of the other, over the common keys. */
function together(a: Side, b: Side): Finding[] {
  const findings: Finding[] = [];
  if (uniqueness(a.rows) < 0.95 && uniqueness(b.rows) < 0.95) return [];
  for (const x of quantities(a).slice(0, 3)) {
    for (const y of quantities(b).slice(0, 3)) {
      const pairs = [...a.rows.keys()].filter((key) => b.rows.has(key)).map((key) => [figureOf(a, x, key), figureOf(b, y, key)] as const);
      const known = pairs.filter(([p, q]) => !Number.isNaN(p) && !Number.isNaN(q));
      const r = known.length < minPairs ? 0 : correlation(known);
      if (Math.abs(r) < 0.7) continue;
      findings.push({
        kind: 'join_correlation',
        text: `Over ${countOf(known.length, 'common key')}, ${x.name} and ${y.name} ${r > 0 ? 'rise together' : 'move against each other'} (correlation ${r.toFixed(2)}); that is no proof of cause.`,
      });
    }
  }
  return findings.slice(0, 2);
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
