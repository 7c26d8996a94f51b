/** Answers a query in sentences: the figures of each group in order, which groups keep a target, and what is not counted. */
import type { Basis } from '../basis.ts';
import { cellText } from '../cell.ts';
import { ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, leftOutText, listed, partOf, round } from '../figure-text.ts';
import type { TableInMemory } from '../profile.ts';
import type { Limit, Query } from './query.ts';
import { type Grouping, groupingOf, rowsWhere, timeOrder } from './row-groups.ts';
import { isTimeUnit, limitIn, planOf, type RowValues, rowValues } from './row-values.ts';

const shownGroups = 24;
const shownRows = 10;
const mostRows = 25;
const rowsNamed = 8;
const keyChars = 40;
/** A group of fewer rows is marked: its figure may be chance. */
const fewRows = 3;

type Figure = { value: number; text: string };
type Group = { key: string; rows: number[]; figure: Figure };

/** Empty if the table cannot answer it. */
export function answerQuery(memory: TableInMemory, basis: Basis | null, query: Query, inherited: readonly string[] = []): string[] {
  // A question on the status itself counts the rows of every status.
  const isOnStatus = basis?.status != null && columnsOf(query).includes(basis.status);
  const counted = basis === null ? memory : isOnStatus ? basis.distinct : basis.counted;
  const table = new ColumnsInMemory(counted.rows, counted.survey.columns, inherited);
  const values = rowValues(table, query.value, query.unit ?? timeUnitIn(query));
  const where = rowsWhere(table, query.where ?? []);
  const groupings = (query.by ?? []).map((keys) => keys.map((key) => groupingOf(table, key)));
  if (values === null || where === null || groupings.flat().includes(null)) return [];
  const rows = where.rows.filter((at) => !Number.isNaN(values.numbers[at]!));
  if (rows.length === 0) return [`No row has a value of ${values.name}${where.text}.`];
  const asking = askingOf(table, query, values);
  if (asking === null) return [];
  const context: Context = { table, query, values, rows, where: where.text, ...asking };
  const said = query.figure === 'rows' ? ranked(context) : [];
  const byGroup = groupings.flatMap((each) => grouped(context, each as Grouping[]));
  const leftOut = (basis?.leftOut ?? []).filter(({ kind }) => !(isOnStatus && kind === 'status'));
  const missing = where.rows.filter((at) => Number.isNaN(values.numbers[at]!));
  return [
    ...said,
    ...byGroup,
    ...(query.figure === 'rows' ? [] : [whole(context)]),
    ...(query.figure === 'share' && query.limit !== undefined && groupings.length === 0 ? within(context) : []),
    ...[...missingText(table, values, missing), values.note, leftOut.length === 0 ? '' : `The figures leave out ${leftOutText(leftOut)}.`]
      .filter((text) => text !== '')
      .slice(0, 4),
  ];
}

type Context = {
  table: ColumnsInMemory;
  query: Query;
  values: RowValues;
  rows: readonly number[];
  where: string;
  /** What the figures are, such as "mean of a − b in minutes". */
  title: string;
  figureOf(rows: readonly number[]): Figure;
  isWithin(value: number): boolean;
  keeps: ((figure: number) => boolean) | null;
  target: string;
};

/** What the figure of a set of rows is; null if a limit cannot be compared with the values. */
function askingOf(table: ColumnsInMemory, query: Query, values: RowValues) {
  const { figure, limit, target } = query;
  const { numbers, name, unit } = values;
  const inUnit = unit === '' ? '' : ` in ${unit}`;
  // Times are converted from milliseconds, so their last digits mean nothing.
  const told = isTimeUnit(unit) ? (value: number) => round(clean(value)) : exact;
  const sumOf = (rows: readonly number[]) => clean(rows.reduce((sum, at) => sum + numbers[at]!, 0));
  const bound = limit === undefined ? null : limitIn(limit, unit);
  if (limit !== undefined && bound === null) return null;
  const isShare = figure === 'share';
  const isWithin = limit === undefined ? (value: number) => value === 1 : (value: number) => holds(limit, bound!, value);
  const weight = query.weight === undefined ? null : planOf(table, query.weight);
  if (figure === 'weighted' && (weight == null || weight.reads !== 'number')) return null;
  const figureOf = (rows: readonly number[]): Figure => {
    if (isShare) {
      const part = rows.filter((at) => isWithin(numbers[at]!)).length;
      return { value: (part / rows.length) * 100, text: partOf(part, rows.length) };
    }
    const sum = sumOf(rows);
    if (figure === 'weighted') {
      const weights = table.numbers(weight!);
      const both = rows.filter((at) => !Number.isNaN(weights[at]!));
      const [above, below] = [sumOf(both), clean(both.reduce((total, at) => total + weights[at]!, 0))];
      return { value: below > 0 ? above / below : Number.NaN, text: `${round(clean(above / below))} (${exact(above)} ÷ ${exact(below)})` };
    }
    if (query.value.kind === 'row') return { value: sum, text: exact(sum) };
    const mean = sum / rows.length;
    return figure === 'mean'
      ? { value: mean, text: `${round(clean(mean))} (${countOf(rows.length, 'row')}, sum ${told(sum)})` }
      : { value: sum, text: `${told(sum)} (${countOf(rows.length, 'row')}, mean ${round(clean(mean))})` };
  };
  const goal = target === undefined ? null : isShare ? (target.unit === 'percent' ? target.amount : null) : limitIn(target, unit);
  if (target !== undefined && goal === null) return null;
  const written = limit === undefined ? '' : limitText(limit, bound!, unit);
  const title =
    figure === 'weighted'
      ? `Weighted mean (sum of ${name} ÷ sum of ${weight!.name})`
      : isShare
        ? `Share of rows in which ${name}${limit === undefined ? '' : ` is ${written}`}`
        : query.value.kind === 'row'
          ? 'Number of rows'
          : `${figure === 'mean' ? 'Mean' : 'Sum'} of ${name}${inUnit}`;
  return {
    title,
    isWithin,
    figureOf: (rows: readonly number[]) => (rows.length === 0 ? { value: Number.NaN, text: 'no rows' } : figureOf(rows)),
    keeps: goal === null ? null : (value: number) => holds(target!, goal, value),
    target: goal === null ? '' : limitText(target!, goal, isShare ? '%' : unit),
  };
}

function whole({ title, where, rows, figureOf, query, keeps, target }: Context): string {
  const { value, text } = figureOf(rows);
  const judged = keeps === null || (query.by ?? []).length > 0 ? '' : `; that is ${keeps(value) ? '' : 'not '}${target}`;
  return `${(query.by ?? []).length > 0 ? `All groups together: ${lowerFirst(title)}` : title}${where}: ${text}${judged}.`;
}

/** The rows that a share counts, the largest first. */
function within({ table, values: { numbers, unit }, rows, isWithin }: Context): string[] {
  const own = rows.filter((at) => isWithin(numbers[at]!)).toSorted((a, b) => numbers[b]! - numbers[a]!);
  if (own.length === 0 || own.length > mostRows) return [];
  return [
    `These rows${unit === '' ? '' : `, in ${unit}`}: ${listed(
      own.map((at) => `${table.rowInWords(at)} ${isTimeUnit(unit) ? round(clean(numbers[at]!)) : exact(numbers[at]!)}`),
      mostRows,
    )}.`,
  ];
}

function lowerFirst(text: string): string {
  return text[0]!.toLowerCase() + text.slice(1);
}

function ranked({ table, query, values, rows, where }: Context): string[] {
  const { numbers, name, unit } = values;
  const told = isTimeUnit(unit) ? (value: number) => round(clean(value)) : exact;
  const sign = query.lowest === true ? 1 : -1;
  const order = rows.toSorted((a, b) => sign * (numbers[a]! - numbers[b]!) || a - b);
  const top = Math.min(query.top ?? shownRows, mostRows, order.length);
  const shown = order.slice(0, top).map((at) => `${table.rowInWords(at)} ${told(numbers[at]!)}`);
  const last = numbers[order[top - 1]!]!;
  const ties = order.slice(top).filter((at) => numbers[at] === last).length;
  const tied = ties === 0 ? '' : `; ${countOf(ties, 'more row')} ${ties === 1 ? 'has' : 'have'} ${told(last)} too`;
  const other = order.at(-1)!;
  const end = `; the ${query.lowest === true ? 'largest' : 'smallest'} is ${table.rowInWords(other)} ${told(numbers[other]!)}`;
  const mean = clean(rows.reduce((sum, at) => sum + numbers[at]!, 0) / rows.length);
  return [
    `${query.lowest === true ? 'Smallest' : 'Largest'} ${name}${unit === '' ? '' : ` in ${unit}`}${where}: ${listed(shown, mostRows)}${tied}${top < order.length ? end : ''} (${countOf(rows.length, 'row')}, mean ${round(mean)}).`,
  ];
}

function grouped(context: Context, groupings: readonly Grouping[]): string[] {
  const { rows, title, where, figureOf, query, keeps, target } = context;
  const [first, second] = groupings;
  const keyOf = (at: number) => groupings.map(({ keys }) => keys[at]!);
  const groups: Group[] = [
    ...Map.groupBy(
      rows.filter((at) => keyOf(at).every((key) => key !== '')),
      (at) => keyOf(at).join('\u0000'),
    ),
  ].map(([key, own]) => ({ key, rows: own, figure: figureOf(own) }));
  if (groups.length === 0) return [];
  const name = `${title} by ${groupings.map((each) => each.name).join(' and ')}${where}`;
  const sign = query.lowest === true ? 1 : -1;
  const byFigure = groups.filter(({ figure }) => !Number.isNaN(figure.value)).toSorted((a, b) => sign * (a.figure.value - b.figure.value));
  const text = ({ key, figure, rows: own }: Group, label = cellText(key, keyChars)) =>
    `${label} ${figure.text}${own.length < fewRows && query.value.kind !== 'row' ? ', few rows' : ''}`;
  if (second !== undefined) return [`${name}: ${nested(groups, [first!, second])}.`];
  const order = first!.isTime ? groups.toSorted((a, b) => timeOrder(a.key, b.key)) : byFigure;
  const more = order.length > shownGroups ? ` and ${countOf(order.length - shownGroups, 'more group')}` : '';
  const [most, least] = [byFigure[0], byFigure.at(-1)];
  const same = (group: Group | undefined) =>
    listed(
      byFigure.filter(({ figure }) => figure.value === group?.figure.value).map(({ key }) => cellText(key, keyChars)),
      4,
    );
  const place = groupings[0]!.name;
  const isEven = byFigure.length < 2 || most!.figure.value === least!.figure.value;
  const [top, end] = query.lowest === true ? ['smallest', 'largest'] : ['largest', 'smallest'];
  const what = lowerFirst(title);
  const ends = isEven
    ? `By ${place}, ${what}${where}: `
    : `By ${place}, ${same(most)} has the ${top} ${what}${where}, ${same(least)} the ${end}. In order: `;
  const lines = [
    `${ends}${order
      .slice(0, shownGroups)
      .map((group) => text(group))
      .join(', ')}${more}.`,
  ];
  if (keeps === null) return lines;
  const kept = byFigure.filter(({ figure }) => keeps(figure.value));
  const missed = byFigure.filter(({ figure }) => !keeps(figure.value));
  const list = (own: readonly Group[]) =>
    own.length === 0
      ? 'none'
      : listed(
          own.map((group) => text(group)),
          shownGroups,
        );
  return [`${place} with ${what}${where} ${target}: ${list(kept)}. Not ${target}: ${list(missed)}.`, ...lines];
}

/** The groups of the second key within each of the first. */
function nested(groups: readonly Group[], [first, second]: readonly [Grouping, Grouping]): string {
  const outer = [...Map.groupBy(groups, ({ key }) => key.split('\u0000')[0]!)];
  const order = outer.toSorted((a, b) => (first.isTime ? timeOrder(a[0], b[0]) : a[0] < b[0] ? -1 : 1));
  let left = shownGroups * 3;
  const parts: string[] = [];
  for (const [key, own] of order) {
    if (left <= 0) break;
    const inner = own
      .map((group) => ({ group, label: group.key.split('\u0000')[1]! }))
      .toSorted((a, b) => (second.isTime ? timeOrder(a.label, b.label) : b.group.figure.value - a.group.figure.value))
      .slice(0, left);
    left -= inner.length;
    parts.push(
      `${cellText(key, keyChars)}: ${inner.map(({ group, label }) => `${cellText(label, keyChars)} ${group.figure.text}`).join(', ')}`,
    );
  }
  const more = groups.length > shownGroups * 3 ? ` (the first ${exact(shownGroups * 3)} of ${exact(groups.length)} groups)` : '';
  return `${parts.join('; ')}${more}`;
}

function holds({ than }: Limit, bound: number, value: number): boolean {
  const near = clean(value);
  if (than === 'over') return near > bound;
  if (than === 'under') return near < bound;
  return than === 'at_least' ? near >= bound : near <= bound;
}

/** "over 2 hours (120 minutes)": the limit as asked, and as compared. */
function limitText({ than, amount, unit }: Limit, bound: number, compared: string): string {
  const word = { over: 'over', under: 'under', at_least: 'at least', at_most: 'at most' }[than];
  const asked = unit === undefined || unit === 'percent' ? '' : ` ${amount === 1 ? unit.slice(0, -1) : unit}`;
  const own = unit === 'percent' || compared === '%' ? ' %' : asked;
  if (amount === 0) return `${word} 0`;
  const converted = isTimeUnit(compared) && unit !== compared && unit !== undefined ? ` (${exact(bound)} ${compared})` : '';
  return `${word} ${exact(amount)}${own}${converted}`;
}

/** Values are told in the unit of the question's limit. */
function timeUnitIn({ target }: Query) {
  return target?.unit === 'percent' ? undefined : target?.unit;
}

function missingText(table: ColumnsInMemory, { columns }: RowValues, missing: readonly number[]): string[] {
  if (missing.length === 0) return [];
  const named =
    missing.length <= rowsNamed
      ? `: ${listed(
          missing.map((at) => table.rowInWords(at)),
          rowsNamed,
        )}`
      : '';
  return [
    `Not counted: ${countOf(missing.length, 'row')} without ${listed(columns.map(({ name }) => name)).replace(' and ', ' or ')}${named}.`,
  ];
}

function columnsOf({ value, by = [], where = [] }: Query): string[] {
  return [...(value.kind === 'row' ? [] : [value.of]), ...by.flat().map(({ column }) => column), ...where.map(({ column }) => column)];
}
