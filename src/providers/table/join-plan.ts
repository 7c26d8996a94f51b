/** Compares planned or due values of one table with spent or paid values of the other. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, listed, percent, rowList, shareOf } from './figure-text.ts';
import { budgetFindings, isBudget, type Planned } from './join-budget.ts';
import { countedOf, keyless, labelOf, mainOf, quantities, type Side, sums, withoutText, written } from './join-side.ts';
import { isPartOfYear } from './period-columns.ts';
import { isQuantity } from './plan-figures.ts';
import type { Finding } from './table-profile.ts';

const shown = 12;
const planWords = new Set(
  'budget plan planned target soll ziel forecast goal expected quota limit fee fees due dues owed payable pledge pledges pledged zusage zugesagt promised billed beitrag contribution invoices rechnungen bills invoiced premium rent miete'.split(
    ' ',
  ),
);

export function isPlan(side: Side, plan: ColumnPlan): boolean {
  return has([...nameTokens(plan.name), ...nameTokens(side.name)], planWords) || isBudget({ side, plan });
}

function unclearOf(side: Side): ColumnPlan | undefined {
  return quantities(side).find(({ role }) => role === 'unclear');
}

/** A budget minus a figure that needs two other tables: hours × rate by project. */
export function planAndProduct(a: Side, figures: ReadonlyMap<string, number>, name: string): Finding[] {
  const plan = mainOf(a);
  if (plan === undefined || !isPlan(a, plan) || isQuantity(plan.name) || isPartOfYear(plan, a.table.plans)) return [];
  const rows = [...sums(a, plan)].map(([key, value]) => {
    const at = a.rows.get(key)![0]!;
    const spent = clean(figures.get(key) ?? 0);
    return {
      text: `${written(a, at)}${labelOf(a, at, a, at)} ${exact(clean(value))} − ${exact(spent)} = ${exact(clean(value - spent))}`,
      left: value - spent,
    };
  });
  if (rows.length === 0 || figures.size === 0) return [];
  const over = rows.filter(({ left }) => left < 0).length;
  return [
    {
      kind: 'join_difference',
      text: `${plan.name} − ${name} by key: ${rows
        .slice(0, shown)
        .map(({ text }) => text)
        .join(
          '; ',
        )}${rows.length > shown ? ' and more' : ''}; ${over === 0 ? 'none is' : `${countOf(over, 'key')} ${over === 1 ? 'is' : 'are'}`} above ${plan.name}.`,
    },
  ];
}

type PlanPair = { planned: Planned; actual: Planned };

/** Which table has the plan and which the actual figures. Null if the names do not show it. */
function planPair(a: Side, b: Side): PlanPair | null {
  const [x, y] = [mainOf(a) ?? unclearOf(a), mainOf(b) ?? unclearOf(b)];
  if (x === undefined || y === undefined) return null;
  // A month's budget is not that of all rows of the other table.
  if (isPartOfYear(x, a.table.plans) || isPartOfYear(y, b.table.plans)) return null;
  // Beside a budget, amounts whose name tells nothing are what was spent.
  if ((x.role === 'unclear' || y.role === 'unclear') && isBudget({ side: a, plan: x }) === isBudget({ side: b, plan: y })) return null;
  // The name of a column tells more than that of its file, which may be of both.
  const ofColumns = [
    { side: a, plan: x },
    { side: b, plan: y },
  ].filter(({ plan }) => has(nameTokens(plan.name), planWords));
  const first = ofColumns.length === 1 ? ofColumns[0]! : isPlan(a, x) ? { side: a, plan: x } : isPlan(b, y) ? { side: b, plan: y } : null;
  const alike = nameTokens(x.name).at(-1) === nameTokens(y.name).at(-1);
  if (first === null && !alike) return null;
  // Money is never compared with hours or pieces.
  if (isQuantity(x.name) !== isQuantity(y.name)) return null;
  const planned = first ?? { side: a, plan: x };
  return { planned, actual: planned.side === a ? { side: b, plan: y } : { side: a, plan: x } };
}

/** Budget − spent and the like, by key. */
export function planAndActual(a: Side, b: Side): Finding[] {
  const pair = planPair(a, b);
  if (pair === null) return [];
  const [planned, actual] = [pair.planned, pair.actual].map(({ side, plan }) => ({ side: countedOf(side), plan })) as [Planned, Planned];
  const [all, spent] = [sums(planned.side, planned.plan), sums(actual.side, actual.plan)];
  const pn = planned.plan.name === actual.plan.name ? `${planned.plan.name} of ${planned.side.name}` : planned.plan.name;
  const an = planned.plan.name === actual.plan.name ? `${actual.plan.name} of ${actual.side.name}` : actual.plan.name;
  const total = (figures: Map<string, number>) => clean([...figures.values()].reduce((sum, value) => sum + value, 0));
  const rows = [...all].map(([key, value]) => {
    const own = clean(spent.get(key) ?? 0);
    const at = planned.side.rows.get(key)![0]!;
    return {
      key,
      name: written(planned.side, at) + labelOf(planned.side, at, planned.side, at),
      value: clean(value),
      own,
      left: clean(value - own),
    };
  });
  const short = rows.filter(({ left }) => left > 0).toSorted((r, s) => s.left - r.left);
  const over = rows.filter(({ left }) => left < 0).toSorted((r, s) => r.left - s.left);
  const equal = rows.filter(({ left: rest }) => rest === 0);
  const unplanned = [...spent].filter(([key]) => !all.has(key));
  // Those that the plan does not have at all are told as keys without a partner.
  const unvalued = unplanned.filter(([key]) => planned.side.rows.has(key));
  const each = rows.map(({ name, value, own, left }) => `${name} ${exact(value)} − ${exact(own)} = ${exact(left)}`);
  const bare = keyless(actual.side, actual.plan);
  const spentInAll = clean(total(spent) + bare.sum);
  const difference = clean(total(all) - spentInAll);
  const ofBare =
    bare.rows.length === 0
      ? ''
      : ` (${exact(clean(bare.sum))} of it without ${actual.side.plans[0]!.name}, in ${rowList(bare.rows.map((at) => actual.side.table.rows.numbers[at]!))})`;
  const apart = ({ value, left }: (typeof rows)[number]) => `${exact(Math.abs(left))}${shareOf(left, value)}`;
  const share = total(all) > 0 ? ` (${percent(spentInAll, total(all))})` : '';
  const common = clean(rows.reduce((sum, { own }) => sum + own, 0));
  const left = clean(total(all) - common);
  const without = [planned.side, actual.side].map(withoutText).join('');
  const findings: Finding[] = [
    {
      kind: 'join_over',
      text:
        over.length === 0
          ? `No key has ${an} above ${pn}${without}.${overWithAll(pair, rows)}`
          : `${an} is above ${pn} for ${countOf(over.length, 'key')}${together(over)}${without}: ${listed(
              over.map((row) => `${row.name} by ${apart(row)}`),
              shown,
            )}.${overWithAll(pair, rows)}`,
    },
    {
      kind: 'join_difference',
      text: `${pn} is ${exact(total(all))} and ${an} ${exact(spentInAll)}${share}${ofBare}${without}: ${pn} − ${an} = ${exact(difference)}${shareOf(difference, total(all))} in all${unplanned.length > 0 || bare.rows.length > 0 ? `; over the keys of ${planned.side.name} ${an} is ${exact(common)} and the difference ${exact(left)}${shareOf(left, total(all))}` : ''}.`,
    },
    {
      kind: 'join_each',
      text:
        rows.length <= shown
          ? `By key: ${each.join('; ')}.`
          : `By key: ${an} equals ${pn} for ${exact(equal.length)} of ${countOf(rows.length, 'key')}${equal.length === 0 || equal.length > shown ? '' : ` (${listed(equal.map(({ name }) => name))})`}.`,
    },
  ];
  if (short.length > 0)
    findings.push({
      kind: 'join_under',
      text: `${an} is below ${pn} for ${countOf(short.length, 'key')}${together(short)}: ${listed(
        short.map((row) => `${row.name} by ${row.own === 0 ? `${exact(row.left)} (nothing at all)` : apart(row)}`),
        shown,
      )}.`,
    });
  if (unvalued.length > 0)
    findings.push({
      kind: 'join_unplanned',
      text: `${an} without any ${pn}: ${listed(
        unvalued.map(([key, value]) => `${written(actual.side, actual.side.rows.get(key)![0]!)} ${exact(clean(value))}`),
        shown,
      )}.`,
    });
  return [...budgetFindings(pair.planned, pair.actual), ...findings];
}

/** Keys that are over only if the rows count that the figures leave out. */
function overWithAll({ planned, actual }: PlanPair, rows: readonly { key: string; name: string; left: number }[]): string {
  const [all, spent] = [sums(planned.side, planned.plan), sums(actual.side, actual.plan)];
  const also = rows.flatMap(({ key, name, left }) => {
    const difference = clean((spent.get(key) ?? 0) - (all.get(key) ?? 0));
    return left >= 0 && difference > 0 ? [`${name} by ${exact(difference)}`] : [];
  });
  return also.length === 0 ? '' : ` With what the figures leave out, also ${listed(also, shown)}.`;
}

function together(rows: readonly { left: number }[]): string {
  return rows.length < 2 ? '' : `, together ${exact(Math.abs(clean(rows.reduce((sum, { left }) => sum + left, 0))))}`;
}
