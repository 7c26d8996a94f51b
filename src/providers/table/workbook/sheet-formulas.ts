/**
 * The formulas of one table of a sheet, and what they should be: the formula that most rows of a column (or most columns of a total row) have
 * is that of all. Cells that differ from it are kept as problems, and the values that follow are computed again from the cells.
 */
import type { Cell } from '../cell.ts';
import { isTotalLabel } from '../set-aside.ts';
import { near } from '../summed-rows.ts';
import type { Area } from './address.ts';
import type { BookCells } from './book-cells.ts';
import { type At, areasOf, type CellLookup, evaluate, NotComputed, numberInText, type Steps } from './evaluate.ts';
import { type Expression, formulaText, parseFormula } from './formula.ts';
import { cellKey, keyPlace, type Sheet, type SheetRow } from './sheet.ts';
import type { SheetTable } from './sheet-tables.ts';
import { isSameFormula, isSum, usualFormula } from './usual-formula.ts';

export type Problem = At &
  (
    | { kind: 'left_out'; cells: At[]; formula: string; shown: number; right: number }
    | { kind: 'typed'; formula: string; shown: number; right: number }
    /** The value is what the formula of the others gives. */
    | { kind: 'typed_equal'; formula: string; shown: number }
    | { kind: 'differs'; formula: string; usual: string; shown: number; right: number }
    /** Reads other cells than the formula of the others, which gives the same value. */
    | { kind: 'differs_equal'; formula: string; usual: string; shown: number }
    | { kind: 'twice'; formula: string; shown: number; right: number }
    | { kind: 'stale'; formula: string; shown: number; right: number }
    | { kind: 'text'; value: number; readBy: At[] }
    | { kind: 'empty'; readBy: At }
  );

const maxProblems = 500;
const deepestChain = 200;
const stepsOfSheet = 10_000_000;

export class SheetFormulas {
  readonly problems: Problem[] = [];
  /** Columns in which most rows have one formula: the form of its first cell, the cells that have it, and the numbers that are typed in. */
  readonly computedColumns: { column: number; formula: string; alike: number; rows: number; typed: number[] }[] = [];
  /** Formula cells of the table: recomputed, and others. */
  checked = 0;
  unchecked = 0;
  /** Keys of formula cells without a stored value. */
  readonly withoutValue = new Set<number>();
  /** Rows with a formula that adds up rows. */
  readonly summedRows = new Set<number>();
  /** These, and rows that are called a total. */
  readonly totalRows = new Set<number>();
  private readonly table: SheetTable;
  private readonly sheet: Sheet;
  private readonly rows: Map<number, SheetRow>;
  private readonly expressions = new Map<number, Expression>();
  /** Formulas as they should be, by the key of the cell. */
  private readonly right = new Map<number, Expression>();
  private readonly values = new Map<number, number | null>();
  private readonly steps: Steps = { left: stepsOfSheet };
  private depth = 0;
  private readonly stored: CellLookup;
  private readonly corrected: CellLookup;

  constructor(table: SheetTable, book: BookCells) {
    this.table = table;
    this.sheet = table.sheet;
    this.rows = new Map(table.sheet.rows.map((row) => [row.number, row]));
    const isOwn = ({ sheet }: At) => sheet === null || sheet === undefined;
    const lastRow = table.sheet.rows.at(-1)?.number ?? 0;
    const common = {
      isError: (at: At) => (isOwn(at) ? this.sheet.errors.has(cellKey(at.row, at.column)) : book.isError(at)),
      lastRow: (sheet: string | null) => (sheet === null ? lastRow : book.lastRow(sheet)),
      isSubtotal: (at: At) => {
        const found = isOwn(at) ? this.expressions.get(cellKey(at.row, at.column)) : undefined;
        return found?.kind === 'call' && found.name === 'SUBTOTAL';
      },
    };
    this.stored = { ...common, value: (at) => (isOwn(at) ? this.value(at) : book.value(at)), countsTexts: false };
    this.corrected = {
      ...common,
      value: (at) => (isOwn(at) ? (this.rightValue(at) ?? this.value(at)) : book.value(at)),
      countsTexts: true,
    };
    this.parse();
    this.findTotalRows();
    for (let i = 0; i < table.names.length; i++) this.compareColumn(table.left + i);
    for (const row of this.totalRows) this.compareTotalRow(row);
    this.recompute();
    this.findTexts();
  }

  value({ row, column }: At): Cell {
    return this.rows.get(row)?.cells[column - 1] ?? null;
  }

  /** The value that the cell would have if all formulas were as they should be; null for cells that are not numbers. */
  rightValue(at: At): number | null {
    const key = cellKey(at.row, at.column);
    const known = this.values.get(key);
    if (known !== undefined) return known;
    const stored = this.value(at);
    const expression = this.right.get(key) ?? this.expressions.get(key);
    let value = typeof stored === 'number' ? stored : numberInText(stored);
    if (expression !== undefined) {
      // A formula that reads itself, or a long chain: the stored value.
      if (this.depth >= deepestChain) return value;
      this.values.set(key, value);
      this.depth++;
      value = this.compute(expression, at, this.corrected) ?? value;
      this.depth--;
    }
    this.values.set(key, value);
    return value;
  }

  isFormula({ row, column }: At): boolean {
    return this.sheet.formulas.has(cellKey(row, column));
  }

  isReplaced({ row, column }: At): boolean {
    return this.right.has(cellKey(row, column));
  }

  name(column: number): string {
    return this.table.names[column - this.table.left] ?? '';
  }

  get dataRows(): SheetRow[] {
    return this.table.rows.filter(({ number }) => !this.totalRows.has(number));
  }

  private parse(): void {
    const { left, names, rows } = this.table;
    const [first, last] = [rows[0]?.number ?? 0, rows.at(-1)?.number ?? -1];
    const parsed = new Map<unknown, Expression | null>();
    for (const [key, formula] of this.sheet.formulas) {
      const at = keyPlace(key);
      let expression = parsed.get(formula);
      if (expression === undefined) {
        expression = formula.text === null ? null : parseFormula(formula.text, formula.row, formula.column, this.sheet.name);
        parsed.set(formula, expression);
      }
      if (expression !== null) this.expressions.set(key, expression);
      if (at.row < first || at.row > last || at.column < left || at.column >= left + names.length) continue;
      if (expression === null) this.unchecked++;
      if (this.value(at) === null) this.withoutValue.add(key);
    }
  }

  private findTotalRows(): void {
    for (const { number: row, cells } of this.table.rows) {
      const isSummed = this.table.names.some((_, i) => this.verticalSum({ row, column: this.table.left + i }) !== null);
      if (isSummed) this.summedRows.add(row);
      if (isSummed || cells.some((cell) => typeof cell === 'string' && isTotalLabel(cell))) this.totalRows.add(row);
    }
  }

  /** The areas of the cell's own column that its formula adds up; null for another formula. */
  private verticalSum(at: At): Area[] | null {
    const expression = this.expressions.get(cellKey(at.row, at.column));
    if (expression === undefined || !isSum(expression)) return null;
    const areas = this.areas(expression, at);
    const isVertical = areas.every(
      ({ left, right, top, bottom }) => left === at.column && right === at.column && (bottom < at.row || top > at.row),
    );
    return isVertical && areas.reduce((count, { top, bottom }) => count + bottom - top + 1, 0) >= 2 ? areas : null;
  }

  private compareColumn(column: number): void {
    const filled = this.dataRows.filter(
      ({ cells, number }) => typeof cells[column - 1] === 'number' || this.isFormula({ row: number, column }),
    );
    const usual = usualFormula(
      filled.flatMap(({ number: row }) => {
        const expression = this.expressions.get(cellKey(row, column));
        if (expression === undefined) return [];
        const areas = this.areas(expression, { row, column });
        return areas.length > 0 && areas.every(({ top, bottom }) => top === row && bottom === row) ? [expression] : [];
      }),
      filled.length,
    );
    if (usual === null) return;
    for (const { number: row } of filled) this.compareCell({ row, column }, usual);
    const alike = filled.filter(({ number: row }) => isSameFormula(this.expressions.get(cellKey(row, column)), usual));
    this.computedColumns.push({
      column,
      formula: formulaText(usual, { row: alike[0]!.number, column }),
      alike: alike.length,
      rows: filled.length,
      typed: filled.flatMap(({ number: row }) => (this.isFormula({ row, column }) ? [] : [row])),
    });
  }

  private compareTotalRow(row: number): void {
    const columns = this.table.names.map((_, i) => this.table.left + i);
    const sums = columns.filter((column) => this.verticalSum({ row, column }) !== null);
    const numbers = columns.filter((column) => typeof this.value({ row, column }) === 'number' || this.isFormula({ row, column }));
    const usual = usualFormula(
      sums.map((column) => this.expressions.get(cellKey(row, column))!),
      numbers.length,
    );
    if (usual !== null)
      for (const column of numbers) {
        const expression = this.expressions.get(cellKey(row, column));
        const isSumOfRow = expression !== undefined && this.verticalSum({ row, column }) === null;
        if (!isSumOfRow) this.compareCell({ row, column }, usual);
      }
    for (const column of sums) this.compareWithRows({ row, column });
  }

  private compareCell(at: At, usual: Expression): void {
    const key = cellKey(at.row, at.column);
    const own = this.expressions.get(key);
    const shown = this.value(at);
    if (own === undefined && this.isFormula(at)) return;
    if (typeof shown !== 'number' || isSameFormula(own, usual)) return;
    const areas = this.areas(usual, at);
    const right = this.compute(usual, at, { ...this.stored, countsTexts: true });
    const inputs = this.cells(areas).map((cell) => this.value(cell));
    const hasInputs = isSum(usual) ? inputs.some((cell) => typeof cell === 'number') : inputs.every((cell) => cell !== null);
    if (right === null || !hasInputs) return;
    const written = formulaText(usual, at);
    if (near(shown, right)) {
      if (this.totalRows.has(at.row)) return;
      if (own === undefined) this.add({ kind: 'typed_equal', ...at, formula: written, shown });
      else if (this.readsOthers(own, usual, at))
        this.add({ kind: 'differs_equal', ...at, formula: this.written(at), usual: written, shown });
      return;
    }
    if (own === undefined) {
      if (isSum(usual)) this.right.set(key, usual);
      this.add({ kind: 'typed', ...at, formula: written, shown, right });
      return;
    }
    const formula = this.written(at);
    const ownAreas = this.areas(own, at);
    const missing = this.cells(areas).filter((cell) => !ownAreas.some((area) => isWithin(cell, area)) && this.hasNumber(cell));
    const isSubset = this.cells(ownAreas).every((cell) => areas.some((area) => isWithin(cell, area)));
    if (isSum(own) && isSum(usual) && isSubset && missing.length > 0) {
      this.right.set(key, usual);
      this.add({ kind: 'left_out', ...at, cells: missing, formula, shown, right });
    } else if (!this.totalRows.has(at.row)) this.add({ kind: 'differs', ...at, formula, usual: written, shown, right });
  }

  /** Whether two formulas of a cell read different cells: "G41*H42" beside "G42*H42". */
  private readsOthers(own: Expression, usual: Expression, at: At): boolean {
    const keysOf = (expression: Expression) =>
      new Set(this.cells(this.areas(expression, at)).map(({ row, column }) => cellKey(row, column)));
    const [ownKeys, usualKeys] = [keysOf(own), keysOf(usual)];
    return ownKeys.size !== usualKeys.size || [...ownKeys].some((key) => !usualKeys.has(key));
  }

  /** Whether a sum of rows leaves out rows beside its area, or adds totals and their rows. */
  private compareWithRows(at: At): void {
    const key = cellKey(at.row, at.column);
    if (this.right.has(key)) return;
    const shown = this.value(at);
    const [area, ...more] = this.verticalSum(at)!;
    if (!this.spend(this.totalRows.size * 2 + this.table.rows.length)) return;
    const expression = this.expressions.get(key)!;
    if (typeof shown !== 'number' || area === undefined || more.length > 0 || expression.kind !== 'call' || area.top > at.row) return;
    const inside = [...this.totalRows].filter((row) => row >= area.top && row <= area.bottom);
    const nested = inside.filter((row) =>
      this.verticalSum({ row, column: at.column })?.every(({ top, bottom }) => top >= area.top && bottom <= area.bottom),
    );
    if (nested.length > 0) {
      if (expression.name !== 'SUM' || nested.length === area.bottom - area.top + 1) return;
      const repeated = nested.reduce((sum, row) => sum + (this.rightValue({ row, column: at.column }) ?? 0), 0);
      if (repeated !== 0) this.add({ kind: 'twice', ...at, formula: this.written(at), shown, right: clean(shown - repeated) });
      return;
    }
    const before = [...this.totalRows].filter((row) => row < area.top).reduce((last, row) => Math.max(last, row), this.table.headerRow);
    const others = [...this.totalRows].filter((row) => row !== at.row).flatMap((row) => this.verticalSum({ row, column: at.column }) ?? []);
    const missing = this.dataRows
      .filter(({ number }) => number > before && number < at.row && (number < area.top || number > area.bottom))
      .map(({ number: row }) => ({ row, column: at.column }))
      .filter((cell) => this.hasNumber(cell) && !others.some((other) => isWithin(cell, other)));
    if (missing.length === 0 || missing.length * 2 > area.bottom - area.top + 1) return;
    if (!(this.rows.get(at.row)?.cells ?? []).some((cell) => typeof cell === 'string' && isTotalLabel(cell))) return;
    const [top, bottom] = [Math.min(area.top, ...missing.map(({ row }) => row)), Math.max(area.bottom, ...missing.map(({ row }) => row))];
    // A total between the rows would be added too.
    if ([...this.totalRows].some((row) => row >= top && row <= bottom)) return;
    const place = (row: number) => ({ sheet: null, row: { at: row - at.row, isFixed: false }, column: { at: 0, isFixed: false } });
    const whole: Expression = { kind: 'call', name: 'SUM', of: [{ kind: 'area', from: place(top), to: place(bottom) }] };
    const right = this.compute(whole, at, { ...this.stored, countsTexts: true });
    if (right === null) return;
    this.right.set(key, whole);
    this.add({ kind: 'left_out', ...at, cells: missing, formula: this.written(at), shown, right });
  }

  /** Compares the stored value of each formula with what its cells give. */
  private recompute(): void {
    for (const [key, expression] of this.expressions) {
      const at = keyPlace(key);
      if (!this.isInTable(at)) continue;
      const shown = this.value(at);
      const right = this.compute(expression, at, this.stored);
      if (right === null || (shown !== null && typeof shown !== 'number')) {
        this.unchecked++;
        continue;
      }
      if (shown === null) continue;
      this.checked++;
      if (near(shown, right)) continue;
      this.add({ kind: 'stale', ...at, formula: this.written(at), shown, right });
    }
  }

  /** Texts that are numbers, and empty cells, within the areas of sums. */
  private findTexts(): void {
    const readBy = new Map<number, At[]>();
    const few = this.fewEmpty();
    for (const [key, expression] of this.expressions) {
      const at = keyPlace(key);
      if (!this.isInTable(at) || !isSum(expression) || expression.kind !== 'call') continue;
      for (const cell of this.cells(this.areas(expression, at)).filter((each) => this.isInTable(each))) {
        const value = this.value(cell);
        if (typeof value === 'number' || this.totalRows.has(cell.row)) continue;
        const isEmpty = value === null && !this.isFormula(cell) && cell.row === at.row && few.has(cell.column);
        if (isEmpty) this.add({ kind: 'empty', ...cell, readBy: at });
        else if (numberInText(value) !== null) {
          const readers = readBy.get(cellKey(cell.row, cell.column));
          if (readers === undefined) readBy.set(cellKey(cell.row, cell.column), [at]);
          else readers.push(at);
        }
      }
    }
    for (const [key, readers] of readBy) {
      const at = keyPlace(key);
      this.add({ kind: 'text', ...at, value: numberInText(this.value(at))!, readBy: readers });
    }
  }

  /** Columns in which few cells are empty: in others an empty cell is usual. */
  private fewEmpty(): Set<number> {
    const rows = this.dataRows;
    const columns = this.table.names.map((_, i) => this.table.left + i);
    return new Set(columns.filter((column) => rows.filter(({ cells }) => (cells[column - 1] ?? null) === null).length * 4 <= rows.length));
  }

  /** Empty if the formulas of the sheet have named too many cells. */
  private cells(areas: readonly Area[]): At[] {
    const count = areas.reduce((sum, { top, bottom, left, right }) => sum + (bottom - top + 1) * (right - left + 1), 0);
    const cells: At[] = [];
    if (!this.spend(count)) return cells;
    for (const { top, bottom, left, right } of areas)
      for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) cells.push({ row, column });
    return cells;
  }

  private spend(steps: number): boolean {
    if (this.steps.left < steps) return false;
    this.steps.left -= steps;
    return true;
  }

  private isInTable({ row, column }: At): boolean {
    const { left, names, rows } = this.table;
    return column >= left && column < left + names.length && rows.length > 0 && row >= rows[0]!.number && row <= rows.at(-1)!.number;
  }

  private hasNumber(at: At): boolean {
    const value = this.value(at);
    return typeof value === 'number' ? value !== 0 : numberInText(value) !== null;
  }

  private areas(expression: Expression, at: At): Area[] {
    try {
      return areasOf(expression, at).map((area) => ({ ...area, bottom: Math.min(area.bottom, this.stored.lastRow(null)) }));
    } catch (error) {
      if (error instanceof NotComputed) return [];
      throw error;
    }
  }

  private compute(expression: Expression, at: At, lookup: CellLookup): number | null {
    try {
      const value = clean(evaluate(expression, at, lookup, this.steps));
      return Number.isFinite(value) ? value : null;
    } catch (error) {
      if (error instanceof NotComputed) return null;
      throw error;
    }
  }

  private written(at: At): string {
    const formula = this.expressions.get(cellKey(at.row, at.column));
    return formula === undefined ? '' : formulaText(formula, at);
  }

  private add(problem: Problem): void {
    if (this.problems.length < maxProblems) this.problems.push(problem);
  }
}

function isWithin({ row, column }: At, { top, bottom, left, right }: Area): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

function clean(value: number): number {
  return Number(value.toPrecision(14));
}
