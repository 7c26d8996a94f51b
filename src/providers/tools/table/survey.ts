/** The first reading of a table: what kind of column each one is. Only with that known can the second reading turn cells into figures without guessing. */
import { type Cell, cellText, isMissing, parseBoolean } from './cell.ts';
import { type DateOrder, parseDate } from './date-format.ts';
import { countKey, FrequentValues } from './frequent-values.ts';
import { isDigitCode, type NumberStyle, parseNumber } from './number-format.ts';
import type { ColumnType } from './table-profile.ts';
import type { TableSource } from './table-source.ts';

export type ColumnPlan = {
  name: string;
  index: number;
  type: ColumnType;
  /** What cells of a mixed column are read as; otherwise follows the type. */
  reads: 'number' | 'date' | 'boolean' | 'text';
  style: NumberStyle;
  order: DateOrder;
  filled: number;
  values: FrequentValues;
  /** Cells that are not what the column is read as. */
  unlike: number;
  examples: string[];
  unit: string;
  /** First and last date, ms; only of dates. */
  range: { firstMs: number; lastMs: number } | null;
};

export type Survey = {
  rows: number;
  columnCount: number;
  ragged: { count: number; first: { row: number; cells: number }[] };
  columns: ColumnPlan[];
  warnings: string[];
};

/** Columns beyond these are counted and named, not profiled. */
export const mostProfiledColumns = 200;
const distinctBudget = 200_000;
const mostDistinctPerColumn = 20_000;
const fewestDistinctPerColumn = 500;
const raggedShown = 5;
const examplesKept = 3;
const unitsKept = 5;
/** A column with this share of numbers (or dates) is one with exceptions, below it is text. */
const mixedShare = 0.5;

/** Reads the table once. Rejects as `TableSource.eachRow` does. */
export async function surveyTable(source: TableSource, signal?: AbortSignal): Promise<Survey> {
  const columns: ColumnEvidence[] = [];
  const ragged: Survey['ragged'] = { count: 0, first: [] };
  let rows = 0;
  const visit = (cells: readonly Cell[], row: number) => {
    rows = row;
    const known = source.names.length;
    if (source.format === 'csv' && cells.length !== known) {
      ragged.count++;
      if (ragged.first.length < raggedShown) ragged.first.push({ row, cells: cells.length });
    }
    const width = Math.min(cells.length, known, mostProfiledColumns);
    while (columns.length < width) columns.push(new ColumnEvidence(distinctLimit(known)));
    for (let i = 0; i < width; i++) columns[i]!.add(cells[i] ?? null);
  };
  await source.eachRow(visit, signal);
  const columnCount = source.names.length;
  while (columns.length < Math.min(columnCount, mostProfiledColumns)) columns.push(new ColumnEvidence(1));

  const fileStyle = majorityStyle(columns, source.delimiter);
  const warnings: string[] = [];
  const plans = columns.map((column, index) => column.decide(source.names[index]!, index, fileStyle, warnings));
  if (columnCount > mostProfiledColumns)
    warnings.push(`The table has ${columnCount} columns; only the first ${mostProfiledColumns} are profiled.`);
  return { rows, columnCount, ragged, columns: plans, warnings };
}

function distinctLimit(columns: number): number {
  return Math.max(fewestDistinctPerColumn, Math.min(mostDistinctPerColumn, Math.floor(distinctBudget / Math.max(columns, 1))));
}

/** Columns that can be read in one style only speak for those that can be read in both. */
function majorityStyle(columns: ColumnEvidence[], delimiter: string | null): NumberStyle {
  let dot = 0;
  let comma = 0;
  for (const { dots, commas } of columns) {
    if (dots > commas) dot++;
    if (commas > dots) comma++;
  }
  if (dot === comma) return delimiter === ';' && comma > 0 ? 'comma' : 'dot';
  return comma > dot ? 'comma' : 'dot';
}

class ColumnEvidence {
  readonly #values: FrequentValues;
  readonly #units = new Map<string, number>();
  #filled = 0;
  #booleans = 0;
  #codes = 0;
  #plainIntegers = 0;
  /** Cells with decimals, by the style they are read in. */
  #fractions = { dot: 0, comma: 0 };
  /** Cells with a separator that both styles accept and read differently, such as 1,234. */
  #ambiguous = 0;
  #numbers = 0;
  #dates = 0;
  #orderedDates = 0;
  #dayFirst = 0;
  #monthFirst = 0;
  #ranges = { day_first: { firstMs: Infinity, lastMs: -Infinity }, month_first: { firstMs: Infinity, lastMs: -Infinity } };
  #examples = { number: [] as string[], date: [] as string[], other: [] as string[] };
  dots = 0;
  commas = 0;

  constructor(distinctLimit: number) {
    this.#values = new FrequentValues(distinctLimit);
  }

  add(cell: Cell): void {
    if (isMissing(cell)) return;
    this.#filled++;
    this.#values.add(countKey(cell));
    const kind = this.#looksNumeric(cell) && this.#addNumber(cell) ? 'number' : this.#addDate(cell) ? 'date' : 'other';
    if (this.#examples[kind].length < examplesKept) this.#examples[kind].push(cellText(cell, 40));
    if (kind !== 'other') return;
    if (parseBoolean(cell) !== null) this.#booleans++;
    else if (isDigitCode(cell)) this.#codes++;
  }

  decide(name: string, index: number, fileStyle: NumberStyle, warnings: string[]): ColumnPlan {
    const style = this.dots === this.commas ? fileStyle : this.dots > this.commas ? 'dot' : 'comma';
    const numbers = this.#numbers - (style === 'dot' ? this.commas : this.dots);
    const order: DateOrder =
      this.#dayFirst > this.#monthFirst || (this.#dayFirst === this.#monthFirst && fileStyle === 'comma') ? 'day_first' : 'month_first';
    const dates = this.#orderedDates + this.#dates - (order === 'day_first' ? this.#monthFirst : this.#dayFirst);
    const { type, reads, like } = this.#kind(numbers, dates, this.#fractions[style] > 0);
    if (reads === 'number' && this.#ambiguous > 0 && this.dots === this.commas) {
      warnings.push(`Column ${name}: numbers like 1,234 or 1.234 could mean two things; the ${style} is read as the decimal mark.`);
    }
    if (reads === 'date' && this.#dates > 0 && this.#dayFirst === this.#monthFirst) {
      warnings.push(
        `Column ${name}: dates like 03/04/2024 could mean two things; ${order === 'day_first' ? 'the day' : 'the month'} is read first.`,
      );
    }
    const units = [...this.#units];
    if (reads === 'number' && (units.length > 1 || (units.length === 1 && units[0]![0] === '%' && units[0]![1] < like))) {
      warnings.push(
        `Column ${name} mixes units (${units.map(([unit]) => unit).join(', ') || 'none'}${units.length === 1 ? ' and none' : ''}); its figures add them as plain numbers.`,
      );
    }
    return {
      name,
      index,
      type,
      reads,
      style,
      order,
      filled: this.#filled,
      values: this.#values,
      unlike: this.#filled - like,
      examples: type === 'mixed' ? this.#unlikeExamples(reads) : [],
      unit: reads === 'number' && units.length === 1 ? units[0]![0] : '',
      range: reads === 'date' ? this.#ranges[order] : null,
    };
  }

  #kind(numbers: number, dates: number, fractions: boolean): { type: ColumnType; reads: ColumnPlan['reads']; like: number } {
    const filled = this.#filled;
    if (filled === 0) return { type: 'empty', reads: 'text', like: 0 };
    if (this.#codes > 0 && this.#codes + this.#plainIntegers === filled) return { type: 'text', reads: 'text', like: filled };
    if (numbers === filled) return { type: fractions ? 'number' : 'integer', reads: 'number', like: filled };
    if (dates === filled) return { type: 'date', reads: 'date', like: filled };
    if (this.#booleans === filled) return { type: 'boolean', reads: 'boolean', like: filled };
    if (numbers > filled * mixedShare) return { type: 'mixed', reads: 'number', like: numbers };
    if (dates > filled * mixedShare) return { type: 'mixed', reads: 'date', like: dates };
    return { type: 'text', reads: 'text', like: filled };
  }

  #unlikeExamples(reads: ColumnPlan['reads']): string[] {
    const { other, number, date } = this.#examples;
    return [...other, ...(reads === 'date' ? number : date)].slice(0, examplesKept);
  }

  /** Cheap look before the expensive one. */
  #looksNumeric(cell: Cell): boolean {
    if (typeof cell !== 'string') return typeof cell === 'number';
    for (let i = 0; i < Math.min(cell.length, 8); i++) {
      const code = cell.charCodeAt(i);
      if (code >= 48 && code <= 57) return true;
    }
    return false;
  }

  #addNumber(cell: Cell): boolean {
    const dot = parseNumber(cell, 'dot');
    // Digits alone mean the same in both styles.
    const plain = typeof cell === 'number' || (dot !== null && !/[.,]/.test(cell as string));
    const comma = plain ? dot : parseNumber(cell, 'comma');
    const parsed = dot ?? comma;
    if (parsed === null) return false;
    this.#numbers++;
    if (plain && parsed.decimals === 0 && parsed.unit === '') this.#plainIntegers++;
    if (dot !== null && dot.decimals > 0) this.#fractions.dot++;
    if (comma !== null && comma.decimals > 0) this.#fractions.comma++;
    if (comma === null) this.dots++;
    else if (dot === null) this.commas++;
    else if (dot.value !== comma.value) this.#ambiguous++;
    const { unit } = parsed;
    if (unit !== '' && (this.#units.has(unit) || this.#units.size < unitsKept)) this.#units.set(unit, (this.#units.get(unit) ?? 0) + 1);
    return true;
  }

  #addDate(cell: Cell): boolean {
    const monthFirst = parseDate(cell, 'month_first');
    if (monthFirst?.ordered === true) {
      this.#orderedDates++;
      widen(this.#ranges.month_first, monthFirst.ms);
      widen(this.#ranges.day_first, monthFirst.ms);
      return true;
    }
    const dayFirst = parseDate(cell, 'day_first');
    if (monthFirst === null && dayFirst === null) return false;
    this.#dates++;
    if (monthFirst === null) this.#dayFirst++;
    else widen(this.#ranges.month_first, monthFirst.ms);
    if (dayFirst === null) this.#monthFirst++;
    else widen(this.#ranges.day_first, dayFirst.ms);
    return true;
  }
}

function widen(range: { firstMs: number; lastMs: number }, ms: number): void {
  if (ms < range.firstMs) range.firstMs = ms;
  if (ms > range.lastMs) range.lastMs = ms;
}
