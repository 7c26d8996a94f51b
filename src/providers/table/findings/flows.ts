/** Amounts with both signs, as in bank statements: incoming, outgoing, by month, and the largest of each. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent } from '../figure-text.ts';
import type { Finding, TableProfile } from '../table-profile.ts';

/** Values with both signs that are not payments. */
const deviations = new Set('delay verspätung deviation abweichung difference diff differenz offset error temp drift'.split(' '));
const minOfEach = 2;
const minShare = 0.08;
const maxCategories = 2;
const maxGroups = 20;
/** Of payments, a single one is enough: a salary among many expenses. */
const paymentWords = new Set('amount betrag umsatz payment zahlung value wert eur usd gbp chf'.split(' '));
const monthsNamed = 12;
const namesShown = 6;

export function flowFindings(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  return table
    .quantities()
    .filter(({ role, units, name }) => role === 'measure' && units.size < 2 && !has(nameTokens(name), deviations))
    .slice(0, 4)
    .flatMap((plan) => flows(table, plan, profile));
}

function flows(table: ColumnsInMemory, plan: ColumnPlan, profile: TableProfile): Finding[] {
  const numbers = table.numbers(plan);
  const rows = [...numbers.keys()];
  const above = rows.filter((at) => numbers[at]! > 0);
  const below = rows.filter((at) => numbers[at]! < 0);
  const payments = has(nameTokens(plan.name), paymentWords) && table.plans.some(({ role }) => role === 'level');
  const fewest = payments ? 1 : Math.max(minOfEach, (above.length + below.length) * minShare);
  if (above.length < fewest || below.length < fewest) return [];
  const sum = (of: number[]) => clean(of.reduce((total, at) => total + numbers[at]!, 0));
  const top = above.reduce((best, at) => (numbers[at]! > numbers[best]! ? at : best), above[0]!);
  const low = below.reduce((best, at) => (numbers[at]! < numbers[best]! ? at : best), below[0]!);
  const called = (at: number) => `${exact(numbers[at]!)} in row ${table.row(at)}${beside(table, at)}`;
  const findings: Finding[] = [
    {
      kind: 'flows',
      text: `${plan.name} has both signs: ${exact(sum(above))} in (${countOf(above.length, 'row')} above zero, largest ${called(top)}) and ${exact(sum(below))} out (${countOf(below.length, 'row')} below zero, largest ${called(low)}); together ${exact(sum([...above, ...below]))}.`,
    },
  ];
  findings.push(...byMonth(table, plan, profile, above, below), ...byName(table, plan, below), ...byCategory(table, plan, below));
  return findings;
}

/** Incoming and outgoing by month, and the largest entry in the month with the most outgoing. */
function byMonth(table: ColumnsInMemory, plan: ColumnPlan, profile: TableProfile, above: number[], below: number[]): Finding[] {
  const date = table.plans.find(({ name }) => name === profile.trend?.date_column);
  if (date === undefined) return [];
  const numbers = table.numbers(plan);
  const dates = table.dates(date);
  const months = new Map<string, { into: number; out: number; rows: number[] }>();
  for (const at of [...above, ...below]) {
    if (Number.isNaN(dates[at]!)) continue;
    const month = new Date(dates[at]!).toISOString().slice(0, 7);
    const own = months.get(month) ?? { into: 0, out: 0, rows: [] };
    months.set(month, own);
    if (numbers[at]! > 0) own.into += numbers[at]!;
    else {
      own.out += numbers[at]!;
      own.rows.push(at);
    }
  }
  if (months.size < 2 || months.size > 120) return [];
  const ordered = [...months].toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
  const most = ordered.reduce((best, each) => (each[1].out < best[1].out ? each : best));
  const largest = most[1].rows.reduce((best, at) => (numbers[at]! < numbers[best]! ? at : best), most[1].rows[0]!);
  const why =
    most[1].rows.length === 0
      ? ''
      : `; its largest is ${exact(numbers[largest]!)} (row ${table.row(largest)}${beside(table, largest)}), ${percent(numbers[largest]!, most[1].out)} of it`;
  const each = ordered.slice(-monthsNamed).map(([month, { into, out }]) => `${month} ${exact(clean(into))} in, ${exact(clean(out))} out`);
  return [
    {
      kind: 'flows',
      text: `By month, most went out in ${most[0]} (${exact(clean(most[1].out))}${why}). ${each.join('; ')}.`,
    },
  ];
}

/** The receivers of the most outgoing, if there is a column of names. */
function byName(table: ColumnsInMemory, plan: ColumnPlan, below: number[]): Finding[] {
  const name = nameColumn(table);
  if (name === undefined) return [];
  const numbers = table.numbers(plan);
  const texts = table.texts(name);
  const sums = new Map<string, number>();
  for (const at of below) if (texts[at] !== '') sums.set(texts[at]!, (sums.get(texts[at]!) ?? 0) + numbers[at]!);
  if (sums.size < 2) return [];
  const ranked = [...sums].toSorted((a, b) => a[1] - b[1]);
  return [
    {
      kind: 'flows',
      text: `Most of ${plan.name} below zero, by ${name.name}: ${listed(
        ranked.slice(0, namesShown).map(([text, value]) => `${text} ${exact(clean(value))}`),
        namesShown,
      )}${ranked.length > namesShown ? ' and more' : ''}.`,
    },
  ];
}

/** Outgoing by a column of a few values, with shares: what the money went to. */
function byCategory(table: ColumnsInMemory, plan: ColumnPlan, below: number[]): Finding[] {
  const numbers = table.numbers(plan);
  return table.plans
    .filter(
      (group) =>
        group !== nameColumn(table) &&
        group.reads === 'text' &&
        group.type === 'text' &&
        group.values.distinct >= 2 &&
        group.values.distinct <= Math.min(maxGroups, group.filled * 0.8),
    )
    .slice(0, maxCategories)
    .flatMap((group): Finding[] => {
      const texts = table.texts(group);
      const sums = new Map<string, number>();
      let all = 0;
      for (const at of below) {
        all += numbers[at]!;
        if (texts[at] !== '') sums.set(texts[at]!, (sums.get(texts[at]!) ?? 0) + numbers[at]!);
      }
      if (sums.size < 2) return [];
      const ranked = [...sums].toSorted((a, b) => a[1] - b[1]);
      const each = ranked.map(([text, value]) => `${text} ${exact(clean(value))} (${percent(value, all)})`);
      return [{ kind: 'flows', text: `${plan.name} below zero by ${group.name}, of ${exact(clean(all))}: ${each.join(', ')}.` }];
    });
}

function nameColumn(table: ColumnsInMemory): ColumnPlan | undefined {
  return table.plans
    .filter(
      ({ reads, type, role, values, filled }) =>
        reads === 'text' && type === 'text' && role !== 'identifier' && values.distinct > 1 && filled > 0,
    )
    .toSorted((a, b) => b.values.distinct - a.values.distinct)[0];
}

function beside(table: ColumnsInMemory, at: number): string {
  const name = nameColumn(table);
  const text = name === undefined ? '' : table.texts(name)[at]!;
  return text === '' ? '' : `, ${text.slice(0, 60)}`;
}
