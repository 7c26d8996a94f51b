/** The cells of all sheets for formulas that read other sheets: stored values, and what formulas without a stored value give. */
import type { Cell } from '../cell.ts';
import { type At, type CellLookup, evaluate, NotComputed, type Steps } from './evaluate.ts';
import { parseFormula } from './formula.ts';
import { cellKey, type Sheet, type SheetRow } from './sheet.ts';

type SheetCells = { sheet: Sheet; rows: Map<number, SheetRow>; computed: Map<number, number> };

const deepestChain = 100;

export class BookCells {
  private readonly sheets: Map<string, SheetCells>;
  /** For all formulas of the workbook that read other sheets. */
  private readonly steps: Steps = { left: 10_000_000 };
  private depth = 0;

  constructor(sheets: readonly Sheet[]) {
    this.sheets = new Map(
      sheets.map((sheet) => [
        sheet.name.toLowerCase(),
        { sheet, rows: new Map(sheet.rows.map((row) => [row.number, row])), computed: new Map() },
      ]),
    );
  }

  /** Throws `NotComputed` for a sheet that the workbook does not have, and for a formula that is not computed. */
  value({ sheet, row, column }: At): Cell {
    const found = this.find(sheet);
    const stored = found.rows.get(row)?.cells[column - 1] ?? null;
    if (stored !== null) return stored;
    const key = cellKey(row, column);
    const formula = found.sheet.formulas.get(key);
    if (formula === undefined) return null;
    const known = found.computed.get(key);
    if (known !== undefined) return known;
    const expression = formula.text === null ? null : parseFormula(formula.text, formula.row, formula.column, found.sheet.name);
    // A formula that reads itself ends here too.
    if (expression === null || this.depth >= deepestChain) throw new NotComputed();
    this.depth++;
    try {
      const value = evaluate(expression, { row, column }, this.lookupFrom(found.sheet.name), this.steps);
      found.computed.set(key, value);
      return value;
    } finally {
      this.depth--;
    }
  }

  isError({ sheet, row, column }: At): boolean {
    return this.find(sheet).sheet.errors.has(cellKey(row, column));
  }

  lastRow(sheet: string | null): number {
    return this.find(sheet).sheet.rows.at(-1)?.number ?? 0;
  }

  private find(sheet: string | null | undefined): SheetCells {
    const found = this.sheets.get((sheet ?? '').toLowerCase());
    if (found === undefined) throw new NotComputed();
    return found;
  }

  private lookupFrom(own: string): CellLookup {
    const from = (at: At) => ({ ...at, sheet: at.sheet ?? own });
    return {
      value: (at) => this.value(from(at)),
      isError: (at) => this.isError(from(at)),
      lastRow: (sheet) => this.lastRow(sheet ?? own),
      countsTexts: false,
      isSubtotal: () => false,
    };
  }
}
