/** A yearly budget in one table, spending in the other: by department, for the months that the spending covers, and what is left of the whole. */
import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, round, rowList, shareOf } from './figure-text.ts';
import { duplicateRows } from './findings/rows.ts';
import { foldKey, uniqueness } from './join-key.ts';
import { maxKeyChars, type Side, written } from './join-side.ts';
import { monthOfName } from './month-names.ts';
import type { Finding } from './table-profile.ts';
import { wordSet } from './word-set.ts';

export type Planned = { side: Side; plan: ColumnPlan };

const shown = 12;
const keysShown = 24;
const monthsOfYear = 12;
/** Groups per key: a column that names nearly every key is no group. */
const maxGroupShare = 0.7;
/** Bookings that end before this day leave the last month incomplete. */
const lateDay = 25;
const monthForms = ['YYYY-MM', 'MM/YYYY', 'Month YYYY'];
const budgetWords = wordSet(
  'budget budgets budgeted plan planned forecast allocation presupuesto presupuestado budgété prévu prévision bilancio preventivo begroting orçamento planung etat haushalt',
);
const yearlyWords = wordSet('annual annually annuel annuelle yearly year jahr jährlich jaarlijks anual annuale annuo');
/** Such a budget is not divided by the months of a year. */
const shorterWords = wordSet('month monthly monat monatlich mensuel mensuelle mensual mensile quarter quarterly quartal week weekly');
const monthNames = 'January February March April May June July August September October November December'.split(' ');

type Coverage = { text: string; months: number; year: number | null };
/** One department, or one key. `booked` contains repeated rows of the file. */
type Line = { name: string; budget: number; spent: number; booked: number };

export function isBudget(planned: Planned): boolean {
  return has(namesOf(planned), budgetWords);
}

function namesOf({ side, plan }: Planned): string[] {
  return [...nameTokens(plan.name), ...nameTokens(side.name)];
}

/** Empty if the names do not tell that one table is a budget, and if neither departments nor months add to the comparison by key. */
export function budgetFindings(planned: Planned, actual: Planned): Finding[] {
  if (!isBudget(planned)) return [];
  const tokens = namesOf(planned);
  const period =
    has(tokens, shorterWords) || planned.side.table.plans.some(({ reads }) => reads === 'date') ? null : coverageOf(actual.side);
  const yearOfPlan = tokens.find((token) => /^(?:19|20)\d\d$/.test(token));
  const otherYear = yearOfPlan !== undefined && period?.year !== null && period?.year !== Number(yearOfPlan);
  const coverage = period === null || period.months === monthsOfYear || otherYear ? null : period;
  const repeated = new Set(duplicateRows(actual.side.table).map(([again]) => again));
  const keys = linesOf(planned, actual, repeated, written);
  const group = groupColumn(planned.side, actual.side);
  const groups = group === null ? [] : linesOf(planned, actual, repeated, group.of);
  const isGrouped = groups.length > 1;
  const lines = isGrouped ? groups : keys;
  // A budget of a project is not one of a year; only the name tells.
  const isYearly = yearOfPlan !== undefined || tokens.some((token) => yearlyWords.has(token) || /^(?:jahres|year)/.test(token));
  const share = coverage === null || !isYearly ? 1 : coverage.months / monthsOfYear;
  if ((!isGrouped && share === 1) || lines.filter(({ budget }) => budget > 0).length < 2) return [];
  // Spending that is written with a minus would be below every budget.
  if (total(lines, ({ spent }) => spent) <= 0) return [];
  const keyNames = planned.side.plans.map(({ name }) => name).join(' + ');
  const by = isGrouped ? group!.name : keyNames;
  const rows = rowList([...repeated].map((at) => actual.side.table.row(at)));
  const note = repeated.size === 0 ? '' : ` Repeated ${rows} of ${actual.side.name} ${repeated.size === 1 ? 'is' : 'are'} counted once.`;
  const names: Names = { plan: planned.plan.name, spent: actual.plan.name, by, note, rows };
  return [
    against(lines, share, names),
    ...(isGrouped && share < 1 ? [keysAgainst(keys, share, names)] : []),
    ...(coverage === null ? [] : [covered(lines, coverage, names)]),
    ...left(lines, isGrouped ? keys : [], names, keyNames),
  ];
}

type Names = { plan: string; spent: string; by: string; note: string; rows: string };

function total(lines: readonly Line[], figure: (line: Line) => number): number {
  return clean(lines.reduce((sum, line) => sum + figure(line), 0));
}

function fraction(share: number, { plan }: Names): string {
  return share === 1 ? `the whole ${plan}` : `${Math.round(share * monthsOfYear)}/${monthsOfYear} of ${plan}`;
}

function covered(lines: readonly Line[], { text, months }: Coverage, names: Names): Finding {
  const [budget, spent, booked] = [
    total(lines, (line) => line.budget),
    total(lines, (line) => line.spent),
    total(lines, (line) => line.booked),
  ];
  const part = clean((budget * months) / monthsOfYear);
  const unplanned = total(
    lines.filter((line) => line.budget === 0),
    (line) => line.spent,
  );
  const with_ = booked === spent ? '' : ` (${exact(booked)} with repeated ${names.rows})`;
  return {
    kind: 'budget_covered',
    text: `${text}. If ${names.plan} is for the whole year, ${exact(months)}/${monthsOfYear} of it is ${round(part)} of ${exact(budget)}; ${names.spent} is ${exact(spent)}${with_}${unplanned === 0 ? '' : `, of which ${exact(unplanned)} has no budget`}.`,
  };
}

/** Over and under the budget for the covered months. */
function against(lines: readonly Line[], share: number, names: Names): Finding {
  const budgeted = lines.filter(({ budget }) => budget > 0);
  const difference = ({ budget, spent }: Line) => clean(spent - budget * share);
  const one = (line: Line) =>
    `${line.name} by ${exact(Math.abs(difference(line)))}${shareOf(difference(line), line.budget * share)}, ${exact(line.spent)} of ${exact(clean(line.budget * share))}`;
  const over = budgeted.filter((line) => difference(line) > 0).toSorted((a, b) => difference(b) - difference(a));
  const under = budgeted.filter((line) => difference(line) < 0).toSorted((a, b) => difference(a) - difference(b));
  const equal = budgeted.filter((line) => difference(line) === 0);
  const without = lines.filter(({ budget, spent }) => budget === 0 && spent !== 0);
  const beyond = budgeted.filter(({ budget, spent }) => spent > budget);
  return {
    kind: 'budget_groups',
    text: [
      `Against ${fraction(share, names)}, by ${names.by}: over: ${over.length === 0 ? 'none' : list(over.map(one))}; under: ${under.length === 0 ? 'none' : list(under.map(one))}`,
      equal.length === 0 ? '' : `; equal: ${list(equal.map(({ name, spent }) => `${name} ${exact(spent)}`))}`,
      without.length === 0 ? '' : `; without a budget: ${list(without.map(({ name, spent }) => `${name} ${exact(spent)}`))}`,
      share === 1
        ? ''
        : `. ${beyond.length === 0 ? 'None is' : `${list(beyond.map(({ name }) => name))} ${beyond.length === 1 ? 'is' : 'are'}`} above the whole ${names.plan}`,
      `.${names.note}`,
    ].join(''),
  };
}

/** The keys behind the figures of the departments. */
function keysAgainst(keys: readonly Line[], share: number, names: Names): Finding {
  const difference = ({ budget, spent }: Line) => clean(spent - budget * share);
  const budgeted = keys.filter(({ budget }) => budget > 0);
  const over = budgeted.filter((line) => difference(line) > 0).toSorted((a, b) => difference(b) - difference(a));
  const unused = budgeted.filter(({ spent }) => spent === 0);
  const one = (line: Line) =>
    `${line.name} by ${exact(difference(line))} (${exact(line.spent)} of ${exact(clean(line.budget * share))}; whole year ${exact(line.budget)})`;
  return {
    kind: 'budget_keys',
    text: `By key, above ${fraction(share, names)}: ${over.length === 0 ? 'none' : list(over.map(one))}.${unused.length === 0 ? '' : ` No ${names.spent} at all, unused or not yet booked: ${list(unused.map(({ name, budget }) => `${name} (${exact(budget)})`))}.`}`,
  };
}

/** What is left by key, as far as these are few, and by group; `keys` is empty if the lines are the keys. */
function left(lines: readonly Line[], keys: readonly Line[], names: Names, keyNames: string): Finding[] {
  const rest = ({ name, budget, spent, booked }: Line) =>
    `${name} ${exact(clean(budget - spent))}${booked === spent ? '' : ` (${exact(clean(budget - booked))} with repeated ${names.rows})`}`;
  const told = (own: readonly Line[], by: string, most: number, more: string): Finding => {
    const budgeted = own.filter(({ budget }) => budget > 0).toSorted((a, b) => b.budget - b.spent - (a.budget - a.spent));
    return { kind: 'budget_rest', text: `Left of the whole ${names.plan}, by ${by}: ${list(budgeted.map(rest), most)}.${more}` };
  };
  const ofBudget = lines.filter(({ budget }) => budget > 0);
  const figureOf = (figure: (line: Line) => number) => total(ofBudget, figure);
  const whole: Line = {
    name: '',
    budget: figureOf(({ budget }) => budget),
    spent: figureOf(({ spent }) => spent),
    booked: figureOf(({ booked }) => booked),
  };
  const inAll = ` In all${rest(whole)} of ${exact(whole.budget)} is left.`;
  const isListed = keys.length > 0 && keys.length <= keysShown;
  const beyond = isListed ? [] : keys.filter(({ budget, spent }) => budget > 0 && spent > budget);
  const above = ({ name, budget, spent, booked }: Line) =>
    `${name} by ${exact(clean(spent - budget))} (${exact(spent)} of ${exact(budget)}${booked === spent ? '' : `; ${exact(booked)} with repeated ${names.rows}`})`;
  return [
    ...(isListed ? [told(keys, keyNames, keysShown, inAll)] : []),
    told(
      lines,
      names.by,
      shown,
      `${isListed ? '' : inAll}${beyond.length === 0 ? '' : ` Already above the whole ${names.plan}: ${list(beyond.map(above))}.`}`,
    ),
  ];
}

function list(items: readonly string[], most = shown): string {
  return items.length > most ? `${items.slice(0, most).join('; ')} and ${exact(items.length - most)} more` : items.join('; ');
}

/** Budget and spending by a name of each row; names of both tables are compared without case and blanks. */
function linesOf(planned: Planned, actual: Planned, repeated: ReadonlySet<number>, nameAt: (side: Side, at: number) => string): Line[] {
  const lines = new Map<string, Line>();
  const lineOf = (side: Side, at: number, ownKey: string): Line => {
    const name = nameAt(side, at);
    const key = nameAt === written ? ownKey : foldKey(name);
    const line = lines.get(key) ?? { name: cellText(name, 2 * maxKeyChars), budget: 0, spent: 0, booked: 0 };
    lines.set(key, line);
    return line;
  };
  const [budget, spent] = [planned, actual].map(({ side, plan }) => side.table.numbers(plan));
  for (const [key, at] of keyedRows(planned.side)) {
    const line = lineOf(planned.side, at, key);
    if (!Number.isNaN(budget![at]!)) line.budget = clean(line.budget + budget![at]!);
  }
  for (const [key, at] of keyedRows(actual.side)) {
    const isLeftOut = actual.side.counted?.has(at) === false && !repeated.has(at);
    if (Number.isNaN(spent![at]!) || isLeftOut) continue;
    const line = lineOf(actual.side, at, key);
    line.booked = clean(line.booked + spent![at]!);
    if (!repeated.has(at)) line.spent = clean(line.spent + spent![at]!);
  }
  return [...lines.values()];
}

function keyedRows({ rows }: Side): [string, number][] {
  return [...rows].flatMap(([key, own]) => own.map((at): [string, number] => [key, at]));
}

/** The column that groups the keys: the coarser one of two key columns, or one that the table with the budget has beside its key. */
function groupColumn(planned: Side, actual: Side): { name: string; of: (side: Side, at: number) => string } | null {
  if (planned.plans.length > 1) {
    const i = planned.plans[0]!.values.distinct <= planned.plans[1]!.values.distinct ? 0 : 1;
    return { name: planned.plans[i]!.name, of: (side, at) => side.table.texts(side.plans[i]!)[at]! };
  }
  // A key in several departments belongs to none of them.
  if (uniqueness(planned.rows) < 1) return null;
  const column = planned.table.plans.find(
    ({ reads, type, values, filled, name }) =>
      reads === 'text' &&
      type === 'text' &&
      name !== planned.plans[0]!.name &&
      filled === planned.table.count &&
      values.distinct >= 2 &&
      values.distinct <= filled * maxGroupShare,
  );
  if (column === undefined) return null;
  const groups = planned.table.texts(column);
  const groupOf = new Map<number, string>();
  for (const [key, rows] of actual.rows) {
    const own = planned.rows.get(key)?.[0];
    for (const at of rows) groupOf.set(at, own === undefined ? written(actual, at) : groups[own]!);
  }
  return { name: column.name, of: (side, at) => (side === planned ? groups[at]! : groupOf.get(at)!) };
}

/** The months of one year up to the last with a row; null if they are not consecutive, or of several years. */
function coverageOf({ name, table }: Side): Coverage | null {
  const date = table.plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date === undefined) return coverageByName(name, table);
  const times = [...table.dates(date)].filter((ms) => !Number.isNaN(ms));
  if (times.length === 0) return null;
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))].map((ms) => new Date(ms!));
  const months = new Set(times.map((ms) => new Date(ms).getUTCMonth()));
  if (first!.getUTCFullYear() !== last!.getUTCFullYear() || !isConsecutive(months)) return null;
  const daily = ![...date.dateForms.keys()].every((form) => monthForms.some((known) => form === known || form.startsWith('Month YYYY')));
  const until =
    daily && last!.getUTCDate() < lateDay ? ` (the last row is of ${last!.toISOString().slice(0, 10)}, the month counts as whole)` : '';
  return {
    text: `${date.name} of ${name} covers ${span(months)} ${last!.getUTCFullYear()}, ${countOf(months.size, 'month')} of ${monthsOfYear}${until}`,
    months: months.size,
    year: last!.getUTCFullYear(),
  };
}

function coverageByName(name: string, table: Side['table']): Coverage | null {
  const plan = table.plans.find(
    (each) => each.reads === 'text' && each.values.distinct >= 2 && table.texts(each).every((text) => monthOfName(text) > 0),
  );
  if (plan === undefined) return null;
  const months = new Set(table.texts(plan).map((text) => monthOfName(text) - 1));
  return isConsecutive(months)
    ? {
        text: `${plan.name} of ${name} covers ${span(months)}, ${countOf(months.size, 'month')} of ${monthsOfYear}`,
        months: months.size,
        year: null,
      }
    : null;
}

function isConsecutive(months: ReadonlySet<number>): boolean {
  return Math.max(...months) - Math.min(...months) + 1 === months.size;
}

function span(months: ReadonlySet<number>): string {
  const [first, last] = [Math.min(...months), Math.max(...months)];
  return first === last ? monthNames[first]! : `${monthNames[first]} to ${monthNames[last]}`;
}
