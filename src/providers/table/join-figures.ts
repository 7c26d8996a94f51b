/** Figures that need two joined tables: quantity × price, plan − actual, a measure by a group of the other table, differing values. */
import type { Period } from './asked-period.ts';
import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, listed, round } from './figure-text.ts';
import type { Ratio } from './findings/ratio.ts';
import { dueFindings } from './join-dues-findings.ts';
import { enriched, flagged, grouped, named, namedDurations } from './join-groups.ts';
import type { JoinKey, JoinSide } from './join-key.ts';
import { uniqueness } from './join-key.ts';
import { joinedLateness } from './join-lateness.ts';
import { monthBudget } from './join-month-budget.ts';
import { planAndActual, planAndProduct } from './join-plan.ts';
import { implausible } from './join-plausibility.ts';
import { pairProduct, priced, productFigures } from './join-product.ts';
import { convertedFigures } from './join-rates.ts';
import { joinedRatio } from './join-ratio.ts';
import { countedOf, mainOf, maxKeyChars, quantities, type Side, table, written } from './join-side.ts';
import type { Finding } from './table-profile.ts';

const shown = 12;
const minPairs = 8;

/** What the figures are wanted for. */
export type JoinBounds = { period?: Period; ratio?: Ratio; measures?: readonly string[] };

export function joinFigures(key: JoinKey, left: JoinSide, right: JoinSide, { period, ratio }: JoinBounds = {}): Finding[] {
  const a: Side = { ...left, plans: key.left, rows: key.leftRows };
  const b: Side = { ...right, plans: key.right, rows: key.rightRows };
  const months = monthBudget(a, b, period);
  if (months.length > 0) return months;
  const [countedA, countedB] = [countedOf(a), countedOf(b)];
  const products = [...productFigures(countedA, b), ...productFigures(countedB, a)];
  const differing = uniqueness(a.rows) > 0.95 && uniqueness(b.rows) > 0.95 ? differences(a, b) : [];
  const dues = products.length > 0 ? [] : dueFindings(a, b);
  return [
    ...joinedRatio(a, b, ratio),
    ...convertedFigures(a, b),
    ...convertedFigures(b, a),
    ...products.slice(0, 8),
    ...dues,
    ...(products.length > 0 || differing.length > 0 || dues.length > 0 ? [] : planAndActual(a, b)),
    ...differing,
    // Beside the products a mean of the prices, which counts a key with two of them twice, would mislead.
    ...(products.length > 0 && mainOf(a) === undefined ? [] : enriched(countedA, b)),
    ...(products.length > 0 && mainOf(b) === undefined ? [] : enriched(countedB, a)),
    ...joinedLateness(a, b),
    ...joinedLateness(b, a),
    ...named(countedA, b),
    ...named(countedB, a),
    ...flagged(a, b),
    ...flagged(b, a),
    ...namedDurations(countedA, b),
    ...namedDurations(countedB, a),
    ...implausible(a, b),
    ...implausible(b, a),
    ...together(countedA, countedB),
  ];
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

/** Columns with the same name in both tables and different values for the same key. */
function differences(a: Side, b: Side): Finding[] {
  const findings: Finding[] = [];
  for (const x of table(a).plans) {
    if (a.plans.includes(x)) continue;
    const y = table(b).plans.find(
      (plan) =>
        nameTokens(plan.name).join(' ') === nameTokens(x.name).join(' ') &&
        (plan.reads === x.reads || (plan.type === 'integer' && x.type === 'integer')),
    );
    if (y === undefined || b.plans.includes(y)) continue;
    const differing: string[] = [];
    let compared = 0;
    let change = 0;
    let rises = 0;
    let falls = 0;
    for (const [key, own] of a.rows) {
      const other = b.rows.get(key)?.[0];
      if (other === undefined) continue;
      const [mine, theirs] = [table(a).texts(x)[own[0]!]!, table(b).texts(y)[other]!];
      if (mine === '' && theirs === '') continue;
      compared++;
      if (x.reads === 'number' && y.reads === 'number') {
        const [m, t] = [table(a).numbers(x)[own[0]!]!, table(b).numbers(y)[other]!];
        if (m === t || (Number.isNaN(m) && Number.isNaN(t))) continue;
        if (!Number.isNaN(m) && !Number.isNaN(t)) {
          change += t - m;
          if (t > m) rises++;
          else falls++;
        }
        differing.push(
          `${written(a, own[0]!)} ${cellText(mine, maxKeyChars) || 'missing'} and ${cellText(theirs, maxKeyChars) || 'missing'}${Number.isNaN(t - m) ? '' : ` (${t > m ? '+' : '−'}${exact(clean(Math.abs(t - m)))})`}`,
        );
      } else if (mine.toLowerCase() !== theirs.toLowerCase())
        differing.push(`${written(a, own[0]!)} '${cellText(mine, maxKeyChars)}' and '${cellText(theirs, maxKeyChars)}'`);
    }
    if (compared === 0) continue;
    const total = x.reads === 'number' && x.role === 'measure' && change !== 0 ? `; all differences together ${exact(clean(change))}` : '';
    const sign = change > 0 ? '+' : '−';
    const steps =
      rises + falls < 2
        ? ''
        : `; ${exact(rises)} higher and ${exact(falls)} lower in ${b.name}, on average by ${change === 0 ? '0' : `${sign}${round(clean(Math.abs(change) / (rises + falls)))}`}`;
    findings.push({
      kind: 'join_values',
      text:
        differing.length === 0
          ? `${x.name} is the same in both files for all ${countOf(compared, 'common key')}.`
          : `${x.name} differs for ${exact(differing.length)} of ${countOf(compared, 'common key')} (${a.name} and ${b.name}): ${listed(differing.slice(0, shown), shown)}${differing.length > shown ? ' and more' : ''}${steps}${total}.`,
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
      // Two versions of one column nearly always rise together.
      if (x.name === y.name) continue;
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
