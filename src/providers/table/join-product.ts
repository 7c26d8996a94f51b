/** The quantity of one joined table times the price of the other: the whole, each key, what is missing, and groups. */
import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { clean } from './columns-in-memory.ts';
import { ExactSum } from './exact-sum.ts';
import { countOf, exact, listed, percent } from './figure-text.ts';
import { isGroup } from './findings/crossed-groups.ts';
import { grouped } from './join-groups.ts';
import { labelOf, maxKeyChars, quantities, type Side, table, withoutText, written } from './join-side.ts';
import { isPrice, isQuantity } from './plan-figures.ts';
import { isOfUnit, isUnitPrice } from './product-plans.ts';
import { multiplied } from './profile.ts';
import type { Finding } from './table-profile.ts';

const shown = 12;
/** Keys with a share of the sum. */
const sharesShown = 3;
/** Keys with several prices that are told one by one. */
const doubtsShown = 5;
/** Share of the keys; where more are zero or negative, this is usual. */
const maxNotPositive = 0.2;

/** `of` are the rows of the table with the quantities. */
type Missing = { name: string; of: readonly number[] };

export function productFigures(a: Side, b: Side): Finding[] {
  const pair = priced(a, b);
  if (pair === null) return [];
  const { q, p, name } = pair;
  if ([...table(a).quantities(), q, p].some(({ units }) => units.size > 1)) return [];
  const [amounts, prices] = [table(a).numbers(q), table(b).numbers(p)];
  // The row with the lowest price stands for a key with several; what the highest would add is told beside the sum.
  const lowest = new Map<string, number[]>();
  const sum = new ExactSum();
  const each: { key: string; value: number }[] = [];
  const unpriced: Missing[] = [];
  const uncounted: string[] = [];
  const doubts: { text: string; more: number }[] = [];
  let rows = 0;
  let top = { at: -1, other: -1, value: Number.NEGATIVE_INFINITY };
  for (const [key, own] of a.rows) {
    const offers = (b.rows.get(key) ?? []).filter((at) => !Number.isNaN(prices[at]!)).toSorted((x, y) => prices[x]! - prices[y]!);
    const keyName = written(a, own[0]!) + labelOf(a, own[0]!, b, offers[0] ?? -1);
    if (offers.length === 0) {
      unpriced.push({ name: keyName, of: own });
      continue;
    }
    const [low, high] = [offers[0]!, offers.at(-1)!];
    lowest.set(key, [low]);
    const known = own.flatMap((at) => {
      const found = pairProduct(a, q, at, b, p, low);
      if (found !== null && found.value > top.value) top = { at, other: low, value: found.value };
      return found ?? [];
    });
    for (const at of own.filter((row) => Number.isNaN(amounts[row]!)))
      uncounted.push(own.length === 1 ? keyName : `${table(a).rowName(at)} of ${keyName}`);
    if (known.length === 0) continue;
    rows += known.length;
    for (const { value, decimals } of known) sum.add(value, decimals);
    const value = clean(known.reduce((total, one) => total + one.value, 0));
    each.push({ key: keyName, value });
    if (prices[low] === prices[high]) continue;
    const most = clean(own.reduce((total, at) => total + (pairProduct(a, q, at, b, p, high)?.value ?? 0), 0));
    doubts.push({
      text: `${keyName} ${listed(
        offers.map((at) => `${exact(prices[at]!)} in row ${table(b).row(at)}`),
        doubtsShown,
      )}, which makes ${exact(value)} or ${exact(most)}`,
      more: most - value,
    });
  }
  if (rows === 0) return [];
  const ranked = each.toSorted((x, y) => y.value - x.value);
  const whole = sum.total();
  const more = clean(doubts.reduce((total, doubt) => total + doubt.more, 0));
  const total =
    doubts.length === 0
      ? exact(whole)
      : `${exact(whole)} with the lowest and ${exact(clean(whole + more))} with the highest ${p.name} of each key`;
  const findings: Finding[] = [
    {
      kind: 'join_product',
      text: `${name} (${a.name} with ${b.name}${withoutText(a)}) adds up to ${total} over ${countOf(rows, 'row')}: ${listed(
        ranked.slice(0, shown).map(({ key, value }, i) => `${key} ${exact(value)}${i < sharesShown ? share(value, whole) : ''}`),
        shown,
      )}${ranked.length > shown ? ' and more' : ''}. The largest row is ${table(a).rowName(top.at)}: ${exact(amounts[top.at]!)} × ${exact(prices[top.other]!)} = ${exact(clean(top.value))}${placeOf(a, top.at)}.`,
    },
  ];
  if (doubts.length > 0)
    findings.push({
      kind: 'join_product',
      text: `${p.name} of ${b.name} has several values for ${countOf(doubts.length, 'key')}: ${doubts
        .slice(0, doubtsShown)
        .map(({ text }) => text)
        .join(
          '; ',
        )}${doubts.length > doubtsShown ? ' and more' : ''}; together ${exact(more)} more with the highest. All other products use the lowest.`,
    });
  findings.push(...notPositive(name, ranked));
  if (unpriced.length > 0) {
    const known = unpriced.flatMap(({ of }) => of.map((at) => amounts[at]!)).filter((value) => !Number.isNaN(value));
    const amount = exact(clean(known.reduce((all, value) => all + value, 0)));
    findings.push({
      kind: 'join_unpriced',
      text: `Not in ${name}, because they have no ${p.name}: ${listed(
        unpriced.map((missing) => `${missing.name}${rowsOf(a, missing.of)}`),
        shown,
      )} (${q.name} ${amount} in ${countOf(known.length, 'row')}).`,
    });
  }
  if (uncounted.length > 0)
    findings.push({ kind: 'join_unpriced', text: `Not in ${name}, because ${q.name} is missing: ${listed(uncounted, shown)}.` });
  const without = unpriced.reduce((all, { of }) => all + of.length, 0);
  if (unpriced.length > 0 && uncounted.length > 0)
    findings.push({ kind: 'join_unpriced', text: `In all, ${countOf(without + uncounted.length, 'row')} of ${a.name} have no ${name}.` });
  const b1 = { ...b, rows: lowest };
  const figureAt = (at: number, other: number) => pairProduct(a, q, at, b, p, other)?.value ?? Number.NaN;
  return [...findings, ...grouped(a, b1, figureAt, name), ...grouped(a, b1, figureAt, name, true, a), ...byMonth(a, b1, figureAt, name)];
}

/** " (row 18 (00048) and row 53 (00083))": the rows of a key, where rows have keys of their own. */
function rowsOf(side: Side, of: readonly number[]): string {
  const { labelPlan } = table(side);
  if (labelPlan?.role !== 'identifier' || side.plans.includes(labelPlan) || of.length > doubtsShown) return '';
  return ` (${listed(of.map((at) => table(side).rowName(at)))})`;
}

/** ", location Ward 3": the first column of groups. */
function placeOf(a: Side, at: number): string {
  const plan = table(a).plans.find((each) => !a.plans.includes(each) && isGroup(table(a), each));
  const text = plan === undefined ? '' : cellText(table(a).texts(plan)[at]!, maxKeyChars);
  return text === '' ? '' : `, ${plan!.name} ${text}`;
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
  const whole = ranked.reduce((sum, { value }) => sum + Math.max(value, 0), 0);
  const positive = negative.length === 0 ? '' : `; without what is below zero the sum is ${exact(clean(whole))}`;
  return [{ kind: 'zeros', text: `${name} is ${parts.join(', and ')}${positive}.` }];
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

/** A table's quantity and the matching price. */
export function priced(a: Side, b: Side): { q: ColumnPlan; p: ColumnPlan; name: string } | null {
  const prices = quantities(b).filter((plan) => (isPrice(plan.name) || isUnitPrice(plan)) && plan.unit !== '%' && plan.role === 'rate');
  const amounts = quantities(a).filter(({ name, role }) => role === 'measure' && !isPrice(name));
  // The unit in the name of a price decides before names such as "quantity".
  const ofUnit = prices.flatMap((price) =>
    amounts.filter(({ name }) => isOfUnit(name, price.name)).map((amount) => ({ amount, price })),
  )[0];
  const q = ofUnit?.amount ?? amounts.find(({ name }) => isQuantity(name));
  const p = ofUnit?.price ?? prices.find(({ name }) => /sell|sale|retail|unit|list/i.test(name)) ?? prices[0];
  if (q === undefined || p === undefined || (a !== b && quantities(a).some(({ name }) => isPrice(name)))) return null;
  return { q, p, name: `${q.name} × ${p.name}` };
}

export function pairProduct(
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
