/**
 * Values that are wrong by a factor of 10, 100 or 1000: a misplaced decimal, grams for kilograms. The ratio to another column of the row shows
 * it, if that ratio is steady in the other rows. The value, and not the other column, must be beyond the range of its group.
 */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, round } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import { currencyOf } from '../number-format.ts';
import { isPrice } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { money } from './ratio.ts';
import { duplicateRows } from './rows.ts';
import { rowsByValue } from './spans.ts';

const factors = [1000, 100, 10];
const maxColumns = 6;
const maxGroupings = 2;
const maxGroups = 40;
const minRows = 8;
/** Share of the rows of a group that may be wrong. */
const maxWrong = 0.15;
/** By how much a value must be above all others of its group. */
const beyond = 1.5;
const minCorrelation = 0.6;
/** Of the ratios of the other rows, the largest divided by the smallest: where they differ by more, any value would fit after some factor. */
const maxSpread = 5;
const shown = 8;
const maxFindings = 2;

/** Rows of one group in which `plan` is `factor` times too large, or too small for a factor below 1. */
type Wrong = { plan: ColumnPlan; beside: ColumnPlan; at: number; factor: number; rest: readonly number[]; group: string };

export type WrongValue = { column: string; at: number };
/** `columns` are the names of the columns with such values. */
export type FactorErrors = { findings: Finding[]; columns: string[]; values: WrongValue[] };

/** @param explained columns that other columns of the row give: their wrong values are told beside the right ones */
export function factorErrors(table: ColumnsInMemory, explained: ReadonlySet<string>): FactorErrors {
  const found = findErrors(table, explained).slice(0, maxFindings);
  const rows = countedRows(table);
  return {
    findings: found.flatMap(({ wrong, grouping }) => tell(table, wrong, rows, grouping)),
    columns: found.map(({ wrong }) => wrong[0]!.plan.name),
    values: found.flatMap(({ wrong }) => wrong.map(({ plan, at }) => ({ column: plan.name, at }))),
  };
}

/** Repeated rows count once. */
function countedRows(table: ColumnsInMemory): number[] {
  const repeated = new Set(duplicateRows(table).map(([again]) => again));
  return [...table.rows.cells.keys()].filter((at) => !repeated.has(at));
}

function findErrors(table: ColumnsInMemory, explained: ReadonlySet<string>): { wrong: Wrong[]; grouping: ColumnPlan | undefined }[] {
  const plans = table
    .quantities()
    .filter(({ role, units, max }) => (role === 'measure' || role === 'unclear' || role === 'rate') && units.size < 2 && max > 0)
    .slice(0, maxColumns);
  if (plans.length < 2 || table.count < minRows) return [];
  const rows = countedRows(table);
  const groupings = table.plans
    .filter(
      ({ reads, type, values, filled }) =>
        reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(maxGroups, filled / 3),
    )
    .slice(0, maxGroupings);
  return plans.flatMap((plan) => {
    if (explained.has(plan.name)) return [];
    for (const beside of plans) {
      if (beside === plan) continue;
      // A price says nothing about the quantity, and the number of a record's entries little about its total.
      if ([plan, beside].some(({ name }) => name.startsWith('number of '))) continue;
      if ([plan, beside].some(({ name, role }) => role === 'rate' && isPrice(name))) continue;
      for (const grouping of [...groupings, undefined]) {
        const groups: [string, number[]][] = grouping === undefined ? [['', rows]] : rowsByValue(table, grouping, rows);
        const wrong = groups.flatMap(([name, own]) =>
          wrongIn(table, plan, beside, own, grouping === undefined ? '' : `${grouping.name} ${name}`),
        );
        if (wrong.length > 0) return [{ wrong, grouping: grouping ?? groupings[0] }];
      }
    }
    return [];
  });
}

function wrongIn(table: ColumnsInMemory, plan: ColumnPlan, beside: ColumnPlan, rows: readonly number[], group: string): Wrong[] {
  const [own, other] = [table.numbers(plan), table.numbers(beside)];
  const known = rows.filter((at) => own[at]! > 0 && other[at]! > 0);
  if (known.length < minRows) return [];
  const ratio = (at: number) => own[at]! / other[at]!;
  const middle = quantile(Float64Array.from(known, ratio).sort(), 0.5);
  for (const size of factors) {
    const isUsual = (at: number) => Math.abs(Math.log10(ratio(at) / middle)) < Math.log10(size) / 2;
    const rest = known.filter(isUsual);
    const odd = known.filter((at) => !isUsual(at));
    if (odd.length === 0 || odd.length > known.length * maxWrong || rest.length < minRows - 1) continue;
    const found = odd.map((at): Wrong => ({ plan, beside, at, factor: ratio(at) > middle ? size : 1 / size, rest, group }));
    if (risesWith(rest, own, other) && found.every((wrong) => fits(wrong, ratio, own, other) && hasDigits(wrong, own))) return found;
  }
  return [];
}

/** Whether one column follows the other, in the logarithms. */
function risesWith(rows: readonly number[], own: Float64Array, other: Float64Array): boolean {
  const pairs = rows.map((at) => [Math.log(own[at]!), Math.log(other[at]!)] as const);
  const mean = (i: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[i], 0) / pairs.length;
  const [mx, my] = [mean(0), mean(1)];
  const sum = (of: (x: number, y: number) => number) => pairs.reduce((total, [x, y]) => total + of(x - mx, y - my), 0);
  const [xx, yy, xy] = [sum((x) => x * x), sum((_, y) => y * y), sum((x, y) => x * y)];
  return xx > 0 && yy > 0 && xy / Math.sqrt(xx * yy) >= minCorrelation;
}

/** Whether the corrected value is usual in its ratio and by itself, the written one is not, and the other column is usual. */
function fits({ at, factor, rest }: Wrong, ratio: (at: number) => number, own: Float64Array, other: Float64Array): boolean {
  const [lowRatio, highRatio] = rangeOf(rest.map(ratio));
  const [low, high] = rangeOf(rest.map((each) => own[each]!));
  const [lowOther, highOther] = rangeOf(rest.map((each) => other[each]!));
  const corrected = own[at]! / factor;
  return (
    highRatio <= lowRatio * maxSpread &&
    within(ratio(at) / factor, lowRatio, highRatio) &&
    within(corrected, low, high) &&
    within(other[at]!, lowOther, highOther) &&
    (factor > 1 ? own[at]! > high * beyond : own[at]! < low / beyond)
  );
}

/** A value that is too small lost digits that the others have: 12 among 1,043 and 987 is no 1,200. */
function hasDigits({ at, factor, rest }: Wrong, own: Float64Array): boolean {
  const size = Math.round(1 / factor);
  const isRound = (value: number) => clean(value) % size === 0;
  return factor > 1 || !isRound(own[at]! / factor) || rest.filter((each) => isRound(own[each]!)).length >= rest.length / size;
}

function rangeOf(values: readonly number[]): [number, number] {
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
}

function within(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}

function tell(table: ColumnsInMemory, wrong: readonly Wrong[], rows: readonly number[], grouping: ColumnPlan | undefined): Finding[] {
  const { plan, beside } = wrong[0]!;
  const [own, other] = [table.numbers(plan), table.numbers(beside)];
  const corrected = Float64Array.from(own);
  for (const { at, factor } of wrong) corrected[at] = clean(own[at]! / factor);
  // Money per quantity, whichever of the two is wrong.
  const isBelow = isMoney(beside) && !isMoney(plan);
  const per = (numbers: Float64Array, members: readonly number[]) => {
    const both = members.filter((at) => !Number.isNaN(numbers[at]!) && !Number.isNaN(other[at]!));
    const [a, b] = [both.reduce((sum, at) => sum + numbers[at]!, 0), both.reduce((sum, at) => sum + other[at]!, 0)];
    return isBelow ? b / a : a / b;
  };
  const what = isBelow ? `${beside.name} per ${plan.name}` : `${plan.name} per ${beside.name}`;
  const each = wrong.map(({ at, factor, rest, group }) => {
    const usual = rangeOf(rest.map((row) => per(own, [row])));
    const times = factor > 1 ? `about ${exact(factor)} times too large` : `about ${exact(Math.round(1 / factor))} times too small`;
    return `${table.rowInWords(at)} has ${exact(own[at]!)}, ${times} for its ${beside.name} ${exact(other[at]!)}: ${what} is ${round(per(own, [at]))}, in ${exact(rest.length)} other rows${group === '' ? '' : ` of ${group}`} ${round(usual[0])} to ${round(usual[1])}, and ${exact(corrected[at]!)} would fit`;
  });
  const sumOf = (numbers: Float64Array, members: readonly number[]) =>
    clean(members.reduce((sum, at) => (Number.isNaN(numbers[at]!) ? sum : sum + numbers[at]!), 0));
  const touched = new Set(wrong.map(({ at }) => at));
  const changed = (groups: readonly [string, readonly number[]][]) =>
    groups
      .filter(([, members]) => members.some((at) => touched.has(at)))
      .slice(0, shown)
      .map(([name, members]) => `${name} ${exact(sumOf(corrected, members))} instead of ${exact(sumOf(own, members))}`);
  const groups = grouping === undefined ? [] : rowsByValue(table, grouping, rows);
  const adds = plan.role !== 'rate';
  const parts = adds ? [...changed(groups), ...changed(monthsOf(table, rows))] : [];
  const ratios = groups
    .map(([name, members]) => ({ name, ratio: per(corrected, members), before: per(own, members) }))
    .filter(({ ratio }) => Number.isFinite(ratio))
    .toSorted((x, y) => y.ratio - x.ratio)
    .map(({ name, ratio, before }) => `${name} ${round(ratio)}${before === ratio ? '' : ` (${round(before)} as written)`}`);
  return [
    {
      kind: 'factor_error',
      text: `Probably a wrong unit or decimal in ${plan.name}, to be checked: ${each.slice(0, shown).join('; ')}${each.length > shown ? ` and ${exact(each.length - shown)} more` : ''}.`,
    },
    {
      kind: 'factor_error',
      text: [
        adds
          ? `With ${wrong.length === 1 ? 'this value' : 'these values'} corrected, ${plan.name} adds up to ${exact(sumOf(corrected, rows))} instead of ${exact(sumOf(own, rows))}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}. `
          : '',
        `${what} over all rows is then ${round(per(corrected, rows))} instead of ${round(per(own, rows))}${ratios.length < 2 || ratios.length > maxGroups ? '' : `; by ${grouping!.name}: ${ratios.join(', ')}`}.`,
        rows.length < table.count ? ' Repeated rows are counted once.' : '',
      ].join(''),
    },
  ];
}

function isMoney({ name, unit }: ColumnPlan): boolean {
  return currencyOf(unit) !== undefined || has(nameTokens(name), money);
}

/** The rows of each month, if the table has several. */
function monthsOf(table: ColumnsInMemory, rows: readonly number[]): [string, number[]][] {
  const date = table.plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date === undefined) return [];
  const months = new Map<string, number[]>();
  const dates = table.dates(date);
  for (const at of rows) {
    if (Number.isNaN(dates[at]!)) continue;
    const month = new Date(dates[at]!).toISOString().slice(0, 7);
    const own = months.get(month);
    if (own === undefined) months.set(month, [at]);
    else own.push(at);
  }
  return months.size < 2 ? [] : [...months];
}
