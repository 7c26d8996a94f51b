/** One sheet of a workbook in memory: the values of its cells, the formulas behind them, and what else a reader of the sheet would see. */

import { BrokenXml, type XmlHandler } from '../../office/xml-events.ts';
import type { Cell } from '../cell.ts';
import { type Area, maxColumn, maxRow, parseAddress, parseArea } from './address.ts';
import type { NumberForm } from './number-forms.ts';

/** `cells[column - 1]` is the stored value: numbers as stored, errors as their text. `forms` has the forms of numbers that are not plain. */
export type SheetRow = { number: number; cells: Cell[]; forms: Map<number, NumberForm> | null };

export type Sheet = {
  name: string;
  isHidden: boolean;
  /** By number. Empty cells and rows are left out. */
  rows: SheetRow[];
  /** Formulas by the key of their cell; a shared formula is translated from the cell that has its text. */
  formulas: Map<number, SheetFormula>;
  /** Keys of cells whose value is an error. */
  errors: Set<number>;
  merged: Area[];
  hiddenRows: Set<number>;
  hiddenColumns: Set<number>;
};

/** `text` is that of the cell `row`, `column`, which differs from the formula's own cell if the formula is shared. Null: not to be computed. */
export type SheetFormula = { text: string | null; row: number; column: number };

export type CellBudget = { cells: number; chars: number; seen: number };
export type SharedParts = { strings: readonly string[]; forms: readonly NumberForm[]; budget: CellBudget };

const maxFormulas = 200_000;
const maxFormulaChars = 2_000;
const maxMerged = 20_000;
const maxHiddenColumns = 1_000;
export const maxCellChars = 32_767;

export class TooManyCells extends Error {}

export function cellKey(row: number, column: number): number {
  return row * (maxColumn + 1) + column;
}

export function keyPlace(key: number): { row: number; column: number } {
  return { row: Math.floor(key / (maxColumn + 1)), column: key % (maxColumn + 1) };
}

/** The cells that a workbook may have: places in rows up to the last filled one, characters of texts, and cells of any kind. */
export function newBudget(): CellBudget {
  return { cells: 1_500_000, chars: 48_000_000, seen: 12_000_000 };
}

/** Reads a sheet's part into `sheet`. Where its rows are is what the cells themselves say; the part's own summary of that is not read. */
export class SheetReader implements XmlHandler {
  private readonly sheet: Sheet;
  private readonly shared: SharedParts;
  private readonly sharedFormulas = new Map<string, SheetFormula>();
  private row: SheetRow | null = null;
  private lastRow = 0;
  private column = 0;
  private type = '';
  private form: NumberForm = 'plain';
  private formula: { text: string; kind: string; shared: string | undefined } | null = null;
  private value = '';
  private inline = '';
  private reading: 'v' | 'f' | 't' | null = null;
  private isPhonetic = false;

  constructor(sheet: Sheet, shared: SharedParts) {
    this.sheet = sheet;
    this.shared = shared;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'c') this.openCell(attributes);
    else if (name === 'v' || name === 't') this.reading = this.isPhonetic ? null : name;
    else if (name === 'f') {
      this.reading = 'f';
      this.formula = { text: '', kind: attributes.t ?? 'normal', shared: attributes.si };
    } else if (name === 'rPh') this.isPhonetic = true;
    else if (name === 'row') this.openRow(attributes);
    else if (name === 'mergeCell') {
      const area = parseArea(attributes.ref ?? '');
      if (area !== null && this.sheet.merged.length < maxMerged) this.sheet.merged.push(area);
    } else if (name === 'col' && isOn(attributes.hidden)) this.hideColumns(Number(attributes.min), Number(attributes.max));
  }

  text(text: string): void {
    if (this.reading === 'v') this.value = (this.value + text).slice(0, maxCellChars);
    else if (this.reading === 't') this.inline = (this.inline + text).slice(0, maxCellChars);
    else if (this.reading === 'f' && this.formula !== null) this.formula.text = (this.formula.text + text).slice(0, maxFormulaChars + 1);
  }

  close(name: string): void {
    if (name === 'v' || name === 'f' || name === 't') this.reading = null;
    else if (name === 'rPh') this.isPhonetic = false;
    else if (name === 'c') this.closeCell();
    else if (name === 'row') {
      if (this.row !== null && this.row.cells.length > 0) this.sheet.rows.push(this.row);
      this.row = null;
    }
  }

  /** Call at the end: rows may come in any order. */
  finish(): void {
    const { rows } = this.sheet;
    if (rows.some(({ number }, i) => i > 0 && number < rows[i - 1]!.number)) rows.sort((a, b) => a.number - b.number);
  }

  private openRow(attributes: Readonly<Record<string, string>>): void {
    const number = attributes.r === undefined ? this.lastRow + 1 : Number(attributes.r);
    if (!Number.isInteger(number) || number < 1 || number > maxRow) throw new BrokenXml('a row has no number within a sheet');
    this.spend('seen', 1);
    this.row = { number, cells: [], forms: null };
    this.lastRow = number;
    this.column = 0;
    if (isOn(attributes.hidden)) this.sheet.hiddenRows.add(number);
  }

  private openCell({ r, t, s }: Readonly<Record<string, string>>): void {
    if (this.row === null) throw new BrokenXml('a cell is in no row');
    const place = r === undefined ? null : parseAddress(r);
    if (r !== undefined && (place === null || place.row !== this.row.number))
      throw new BrokenXml(`a cell of row ${this.row.number} has the address ${r.slice(0, 20)}`);
    this.column = place?.column ?? this.column + 1;
    if (this.column > maxColumn) throw new BrokenXml('a row has too many cells');
    this.spend('seen', 1);
    this.type = t ?? 'n';
    this.form = s === undefined ? 'plain' : (this.shared.forms[Number(s)] ?? 'plain');
    this.formula = null;
    this.value = '';
    this.inline = '';
  }

  private closeCell(): void {
    const row = this.row!;
    const value = this.cellValue();
    if (this.formula !== null) this.addFormula(row.number, this.formula);
    if (value === null) return;
    this.spend('cells', Math.max(1, this.column - row.cells.length));
    if (typeof value === 'string') this.spend('chars', value.length);
    while (row.cells.length < this.column) row.cells.push(null);
    row.cells[this.column - 1] = value;
    if (this.type === 'e') this.sheet.errors.add(cellKey(row.number, this.column));
    if (typeof value === 'number' && this.form !== 'plain') {
      row.forms ??= new Map();
      row.forms.set(this.column, this.form);
    }
  }

  private cellValue(): Cell {
    if (this.type === 'inlineStr') return textOf(this.inline);
    if (this.value === '') return null;
    if (this.type === 's') return textOf(this.shared.strings[Number(this.value)] ?? '');
    if (this.type === 'b') return this.value.trim() === '1' || this.value.trim() === 'true';
    if (this.type === 'str' || this.type === 'e' || this.type === 'd') return textOf(this.value);
    const number = Number(this.value);
    return Number.isFinite(number) ? number : textOf(this.value);
  }

  private addFormula(row: number, { text, kind, shared }: NonNullable<SheetReader['formula']>): void {
    const { formulas } = this.sheet;
    if (formulas.size >= maxFormulas) return;
    const key = cellKey(row, this.column);
    const isPlain = kind === 'normal' || kind === 'shared';
    const own = { text: isPlain && text !== '' && text.length <= maxFormulaChars ? text : null, row, column: this.column };
    if (kind !== 'shared' || shared === undefined) formulas.set(key, own);
    else if (text !== '') {
      this.sharedFormulas.set(shared, own);
      formulas.set(key, own);
    } else formulas.set(key, this.sharedFormulas.get(shared) ?? own);
  }

  private hideColumns(from: number, to: number): void {
    for (let column = from; column <= Math.min(to, maxColumn) && this.sheet.hiddenColumns.size < maxHiddenColumns; column++)
      this.sheet.hiddenColumns.add(column);
  }

  private spend(what: keyof CellBudget, amount: number): void {
    this.shared.budget[what] -= amount;
    if (this.shared.budget[what] < 0) throw new TooManyCells();
  }
}

/** Excel writes characters that XML does not allow as _x000D_. */
export function textOf(text: string): string | null {
  const plain = text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
  return plain.trim() === '' ? null : plain;
}

function isOn(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}
