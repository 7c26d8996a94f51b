/**
 * Profiles a table in two readings: the first determines the type of each column (survey.ts), the second computes the figures. A small
 * table is kept in memory for both, and its rows are compared with one another (findings/findings.ts); a longer one is streamed. Memory is limited by
 * budgets, not by the file.
 */
import type { Readable } from 'node:stream';
import { type Basis, basisOf } from './basis.ts';
import { restOn } from './basis-figures.ts';
import { Breakdown, type RowNumbers } from './breakdown.ts';
import { type Cell, cellText, isMissing } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import { ColumnReading } from './column-reading.ts';
import { ColumnsInMemory } from './columns-in-memory.ts';
import { Correlations } from './correlation.ts';
import { UnclosedQuote } from './csv-rows.ts';
import { findingsOf, inMemory } from './findings/findings.ts';
import { addBeyond, type Bounds } from './findings/missing.ts';
import { outlierFindings } from './findings/outliers.ts';
import { countKey, shownKey } from './frequent-values.ts';
import { emptyLists, nestedPlans } from './nested-plans.ts';
import { nestedTotals } from './nested-totals.ts';
import { nestedValues } from './nested-values.ts';
import { groupingPlans, trendPlan, unitColumns } from './plan-figures.ts';
import { productPlans } from './product-plans.ts';
import { rolesByRows } from './roles-by-rows.ts';
import { loadRows, type Rows } from './rows.ts';
import { describeExcluded, type ExcludedRowKind, excludedRowKind, findTotals, isPlainTotal } from './set-aside.ts';
import { spellingsOf } from './spellings.ts';
import { type Survey, Surveying, surveyTable } from './survey.ts';
import type { Finding, TableProfile, TrendProfile } from './table-profile.ts';
import { openTables, type TableSource } from './table-source.ts';
import { type TotalRow, totalFindings } from './total-row-texts.ts';
import { ofStoredValues } from './workbook/formula-findings.ts';

/** Values kept for exact quartiles, over all columns: 24 MB. */
const valueBudget = 3_000_000;
const medianRows = 100_000;
const maxBrokenDown = 8;
const maxGroups = 300;
const maxPeriods = 9_000;
const correlated = 12;
const contextCells = 12;
const asideRowsKept = 1000;

/**
 * Reads the table that `open` returns (called two to five times) and describes it. Throws `ToolError`, with a text for the agent, when it
 * is not a table or cannot be read as one.
 */
export async function profileTable(
  open: () => Promise<Readable>,
  name: string,
  signal?: AbortSignal,
  bounds?: Bounds,
  sheet?: string,
): Promise<TableProfile> {
  const [main, ...others] = await openTables(open, name, signal, sheet);
  const repeated: RepeatedRows = new Map();
  const profile = await profileSource(main!, main!.path === '' ? name : `${name}: ${main!.path}`, repeated, signal, bounds);
  for (const table of others) profile.nested.push(await profileSource(table, `${name}: ${table.path}`, repeated, signal, bounds));
  if (main!.source.format === 'json' && others.length > 0) profile.remarks.push(...(await totalsOfLists(main!, others, repeated, signal)));
  return profile;
}

/** Whether totals of the records equal the sums of their lists. */
async function totalsOfLists(main: NamedSource, lists: NamedSource[], repeated: RepeatedRows, signal?: AbortSignal): Promise<Finding[]> {
  let isWhole = true;
  const distinct = async ({ source }: NamedSource) => {
    const memory = await readRows(source, signal);
    if (memory === null) return null;
    const basis = basisIn(memory, source, {}, repeated);
    const { rows, survey } = basis?.distinct ?? memory;
    isWhole &&= basis === null || basis.distinct === basis.counted;
    return new ColumnsInMemory(rows, survey.columns);
  };
  const orders = await distinct(main);
  if (orders === null) return [];
  const findings: Finding[] = [];
  for (const list of lists) {
    const { path, source } = list;
    const table = await distinct(list);
    if (table === null) continue;
    const name = path.slice(path.lastIndexOf('.') + 1);
    const inherited = source.inherited ?? [];
    findings.push(
      ...emptyLists(orders, name),
      ...nestedPlans(orders, table, name, inherited),
      ...nestedTotals(orders, table, name, inherited, source.records?.path === main.path ? source.records.rows : undefined),
      ...nestedValues(orders, table, name, inherited, isWhole),
    );
  }
  return findings;
}

/** The rows and plans of a table in memory, without totals and similar rows; null if the table is too long. */
export async function readRows(source: TableSource, signal?: AbortSignal): Promise<TableInMemory | null> {
  const all = await trusting(source, () => loadRows(source, signal));
  if (all === null) return null;
  const aside: Aside = new Map();
  const rows: Rows = { cells: [], numbers: [] };
  for (const [i, cells] of all.cells.entries()) {
    const kind = excludedRowKind(cells, source.names) ?? (source.totals?.has(all.numbers[i]!) ? 'total' : null);
    if (kind !== null) note(aside, kind, all.numbers[i]!);
    else {
      rows.cells.push(cells);
      rows.numbers.push(all.numbers[i]!);
    }
  }
  let survey = surveyRows(source, rows);
  const totals = findTotals(rows, survey.columns);
  if (totals.length > 0) {
    const at = new Set(totals.map((total) => total.at));
    rows.cells = rows.cells.filter((_, i) => !at.has(i));
    rows.numbers = rows.numbers.filter((_, i) => !at.has(i));
    survey = surveyRows(source, rows);
    // A row of totals with the sum of a column shows that the column is additive.
    const adds = new Set(totals.flatMap((total) => total.adds));
    survey.columns = survey.columns.map((plan) => (plan.role === 'unclear' && adds.has(plan.name) ? { ...plan, role: 'measure' } : plan));
  }
  survey.columns = rolesByRows(rows, survey.columns);
  return { rows, survey, aside, totals };
}

type NamedSource = { path: string; source: TableSource };
/** The numbers of the rows that are left out as duplicates, by the path of their table. */
export type RepeatedRows = Map<string, ReadonlySet<number>>;
export type TableInMemory = { rows: Rows; survey: Survey; aside: Aside; totals: TotalRow[] };
type Aside = Map<ExcludedRowKind, number[]>;

async function profileSource(
  { path, source }: NamedSource,
  name: string,
  repeated: RepeatedRows,
  signal?: AbortSignal,
  bounds?: Bounds,
): Promise<TableProfile> {
  const memory = await readRows(source, signal);
  const aside: Aside = memory?.aside ?? new Map();
  const survey = memory?.survey ?? (await surveyTable(withoutAside(source, aside), signal));
  const reading = memory === null ? new Reading(survey) : readingOf(memory);
  if (memory === null) await withoutAside(source, new Map()).eachRow((cells, row) => reading.add(cells, row), signal);
  const { rows, ragged, columnCount, warnings } = survey;
  if (rows === 0) warnings.unshift(columnCount === 0 ? 'The file is empty.' : 'The table has a header and no rows.');
  const totals = totalFindings(memory?.totals ?? []);
  const totalRows = (memory?.totals.length ?? 0) + (aside.get('total')?.length ?? 0);
  const profile: TableProfile = {
    name,
    format: source.format,
    encoding: source.encoding,
    ...(source.sheets === undefined ? {} : { sheets: [...source.sheets] }),
    delimiter: source.delimiter,
    has_header: source.hasHeader,
    size_bytes: source.sizeBytes,
    rows,
    ...(totalRows === 0 ? {} : { total_rows: totalRows }),
    column_count: columnCount,
    ragged_rows: ragged,
    warnings: [...source.notes, ...describeExcluded(aside), ...warnings, ...(reading.doubt === null ? [] : [reading.doubt])],
    ...reading.result(),
    trimmed: [],
    remarks: [],
    nested: [],
  };
  if (memory === null)
    profile.warnings.push(
      'The table is too long for comparing its rows: duplicates, gaps and columns that follow from others were not looked for.',
    );
  if (memory === null) {
    profile.remarks = [...(source.findings ?? []), ...totals, ...outlierFindings(profile, null)];
    return profile;
  }
  const inherited = source.inherited ?? [];
  const basis = basisIn(memory, source, bounds, repeated);
  repeated.set(path, new Set(basis?.leftOut.find(({ kind }) => kind === 'duplicates')?.rows));
  const counted = basis === null ? null : readingOf(basis.counted).result();
  const described =
    basis === null || counted === null
      ? profile
      : restOn(basis, profile, counted, basis.distinct === basis.counted ? counted : readingOf(basis.distinct).result());
  if ((bounds?.above ?? bounds?.below) !== undefined) addBeyond(inMemory(basis?.distinct ?? memory, inherited), described, bounds!);
  const found = rows === 0 ? [] : findingsOf(memory, basis, profile, described, inherited, bounds);
  described.remarks = [...(source.findings ?? []), ...totals, ...ofStoredValues(found, source.recomputed)];
  return described;
}

/** The rows of a table in memory that count; null if all do. `repeated`: of the tables that were read before. */
export function basisIn(memory: TableInMemory, source: TableSource, bounds: Bounds = {}, repeated: RepeatedRows = new Map()): Basis | null {
  const entries = source.inherited !== undefined && source.inherited.length > 0;
  return basisOf(memory, entries ? repeatedEntries(memory.rows, source, repeated) : null, bounds, (some) => surveyRows(source, some));
}

/** Positions of the entries of repeated records, if another record has the same entries. */
function repeatedEntries({ cells, numbers }: Rows, { records }: TableSource, repeated: RepeatedRows): number[] {
  const again = repeated.get(records?.path ?? '');
  if (records === undefined || again === undefined || again.size === 0) return [];
  const lists = new Map<number, number[]>();
  for (const [at, number] of numbers.entries()) {
    const record = records.rows[number - 1]!;
    const list = lists.get(record);
    if (list === undefined) lists.set(record, [at]);
    else list.push(at);
  }
  const written = (list: readonly number[]) => JSON.stringify(list.map((at) => cells[at]));
  const known = new Set([...lists].filter(([record]) => !again.has(record)).map(([, list]) => written(list)));
  return [...lists].flatMap(([record, list]) => (again.has(record) && known.has(written(list)) ? list : []));
}

function readingOf({ rows, survey }: TableInMemory): Reading {
  const reading = new Reading(survey);
  for (const [i, cells] of rows.cells.entries()) reading.add(cells, rows.numbers[i]!);
  return reading;
}

function surveyRows(source: TableSource, rows: Rows): Survey {
  const surveying = new Surveying(source);
  for (const [i, cells] of rows.cells.entries()) surveying.add(cells, rows.numbers[i]!);
  return surveying.result();
}

/** The table without rows that are not records, for tables that are streamed. */
function withoutAside(source: TableSource, aside: Aside): TableSource {
  const eachRow: TableSource['eachRow'] = (visit, signal) =>
    source.eachRow((cells, row) => {
      const kind = excludedRowKind(cells, source.names) ?? (isPlainTotal(cells) ? 'total' : null);
      if (kind === null) visit(cells, row);
      else note(aside, kind, row);
    }, signal);
  return Object.create(source, { eachRow: { value: eachRow } }) as TableSource;
}

function note(aside: Aside, kind: ExcludedRowKind, row: number): void {
  const rows = aside.get(kind) ?? [];
  aside.set(kind, rows);
  if (rows.length < asideRowsKept) rows.push(row);
}

/** A quote that is never closed swallows the rest of the file; then quotes are read as ordinary characters. */
async function trusting<T>(source: TableSource, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UnclosedQuote)) throw error;
    source.ignoreQuotes(error);
    return read();
  }
}

/** The second reading. */
class Reading {
  private readonly survey: Survey;
  private readonly columns: ColumnReading[];
  private readonly groupings: { plan: ColumnPlan; breakdown: Breakdown; names: ReadonlyMap<string, string> }[];
  private readonly trend: { plan: ColumnPlan; period: TrendProfile['period']; breakdown: Breakdown } | null;
  private readonly correlations: Correlations;
  private readonly correlated: Float64Array;
  private readonly row: RowNumbers;
  private readonly units: ReadonlyMap<number, { plan: ColumnPlan; names: ReadonlyMap<string, string> }>;
  private readonly product: { column: ColumnReading; quantity: ColumnPlan; price: ColumnPlan } | null;
  private readonly broken: Set<ColumnReading>;
  /** Why no product of a quantity and a price is computed. */
  readonly doubt: string | null;
  /** The current row, as context of extremes. */
  private cells: readonly Cell[] = [];

  constructor(survey: Survey) {
    this.survey = survey;
    this.units = new Map([...unitColumns(survey)].map(([index, plan]) => [index, { plan, names: spellingsOf(plan) }]));
    const isMixed = (plan: ColumnPlan) => plan.units.size > 1 || this.units.has(plan.index);
    const numeric = survey.columns.filter((plan) => plan.reads === 'number').length;
    const room = Math.floor(valueBudget / Math.max(numeric, 1));
    this.columns = survey.columns.map((plan) => new ColumnReading(plan, room, plan.reads === 'number' && isMixed(plan)));
    const { product, doubt } = productPlans(survey.columns, isMixed);
    this.doubt = doubt;
    if (product === null) this.product = null;
    else {
      const { name, quantity, price } = product;
      const plan: ColumnPlan = {
        ...price,
        name,
        index: -1,
        role: 'measure',
        type: 'number',
        filled: Math.min(price.filled, quantity.filled),
        unlike: 0,
        leftOut: [],
        leftOutCells: 0,
      };
      this.product = { column: new ColumnReading(plan, room, false, true), quantity, price };
    }
    const numbers = this.columns.filter(({ plan, mixed }) => plan.reads === 'number' && !mixed);
    const broken = [...(this.product === null ? [] : [this.product.column]), ...numbers].slice(0, maxBrokenDown);
    this.broken = new Set(broken);
    const names = broken.map(({ plan }) => plan.name);
    const keepValues = survey.rows <= medianRows;
    this.groupings = groupingPlans(survey).map((plan) => ({
      plan,
      breakdown: new Breakdown(names, maxGroups, keepValues),
      names: spellingsOf(plan),
    }));
    const trend = trendPlan(survey);
    this.trend = trend === null ? null : { ...trend, breakdown: new Breakdown(names, maxPeriods, false) };
    this.correlations = new Correlations(numbers.slice(0, correlated).map(({ plan }) => plan.name));
    this.correlated = new Float64Array(Math.min(numbers.length, correlated));
    this.row = { values: new Float64Array(names.length), decimals: new Uint8Array(names.length) };
  }

  add(cells: readonly Cell[], row: number): void {
    this.cells = cells;
    let correlated = 0;
    let broken = 0;
    const keep = (value: { value: number; decimals: number } | null) => {
      this.row.values[broken] = value?.value ?? Number.NaN;
      this.row.decimals[broken++] = value?.decimals ?? 0;
    };
    if (this.product !== null) keep(this.addProduct(cells, row));
    for (const column of this.columns) {
      const cell = cells[column.plan.index] ?? null;
      if (column.plan.reads !== 'number') {
        column.add(cell);
        continue;
      }
      const unitOf = this.units.get(column.plan.index);
      const written = unitOf === undefined ? null : cellText(cells[unitOf.plan.index] ?? null, 20);
      const unit = written === null ? null : (unitOf!.names.get(written) ?? written);
      const parsed = column.addNumber(cell, row, this.context, unit);
      if (column.mixed) continue;
      if (correlated < this.correlated.length) this.correlated[correlated++] = parsed?.value ?? Number.NaN;
      if (this.broken.has(column)) keep(parsed);
    }
    this.correlations.add(this.correlated);
    for (const { plan, breakdown, names } of this.groupings) {
      const cell = cells[plan.index] ?? null;
      if (isMissing(cell)) continue;
      const key = countKey(cell);
      breakdown.add(names.get(key) ?? key, this.row);
    }
    if (this.trend !== null) {
      const { plan, period, breakdown } = this.trend;
      const date = plan.readDate(cells[plan.index] ?? null);
      if (date !== null) breakdown.add(periodKey(date.ms, period), this.row);
    }
  }

  result(): Pick<TableProfile, 'columns' | 'groups' | 'trend' | 'correlations'> {
    const { rows } = this.survey;
    return {
      columns: [...this.columns, ...(this.product === null ? [] : [this.product.column])].map((column) => column.profile(rows)),
      groups: this.groupings.map(({ plan, breakdown }) => ({
        by: plan.name,
        values: breakdown
          .entries()
          .map(({ key, rows: count, figures }) => ({ value: shownKey(key), rows: count, figures }))
          .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1)),
      })),
      trend: this.trendResult(),
      correlations: this.correlations.strongest(),
    };
  }

  private addProduct(cells: readonly Cell[], row: number): { value: number; decimals: number } | null {
    const { column, quantity, price } = this.product!;
    const product = multiplied(quantity, price, cells);
    if (product !== null) column.addValue(product.value, product.decimals, row, this.context);
    return product;
  }

  private trendResult(): TrendProfile | null {
    if (this.trend === null) return null;
    const { plan, period, breakdown } = this.trend;
    const points = breakdown.entries().map(({ key, rows, figures }) => ({ period: key, rows, figures }));
    return { date_column: plan.name, period, points: points.sort((a, b) => (a.period < b.period ? -1 : 1)) };
  }

  private context = (): Record<string, string> =>
    Object.fromEntries(this.survey.columns.slice(0, contextCells).map((plan) => [plan.name, cellText(this.cells[plan.index] ?? null, 40)]));
}

/** The product of two cells, exact to the decimals of both; null if one of them is not a number. */
export function multiplied(a: ColumnPlan, b: ColumnPlan, cells: readonly Cell[]): { value: number; decimals: number } | null {
  const first = numberAt(a, cells);
  const second = numberAt(b, cells);
  if (first === null || second === null) return null;
  const decimals = Math.min(first.decimals + second.decimals, 12);
  return { value: Number((first.value * second.value).toFixed(decimals)), decimals };
}

function numberAt(plan: ColumnPlan, cells: readonly Cell[]): ReturnType<typeof readNumber> {
  return readNumber(plan, cells[plan.index] ?? null);
}

function periodKey(ms: number, period: TrendProfile['period']): string {
  const text = new Date(ms).toISOString();
  if (period === 'quarter') return `${text.slice(0, 4)} Q${Math.ceil(Number(text.slice(5, 7)) / 3)}`;
  return period === 'hour' ? `${text.slice(0, 10)} ${text.slice(11, 13)}:00` : text.slice(0, { day: 10, month: 7, year: 4 }[period]);
}
