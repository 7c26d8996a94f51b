/** The tables of a workbook, the largest first, with the findings on their formulas. */
import type { Readable } from 'node:stream';
import { ToolError } from '../../../errors.ts';
import type { Cell } from '../cell.ts';
import { listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { BookCells } from './book-cells.ts';
import { formulaFindings } from './formula-findings.ts';
import { cellKey, keyPlace, type Sheet } from './sheet.ts';
import { SheetFormulas } from './sheet-formulas.ts';
import { type SheetTable, sheetTables, shownCells } from './sheet-tables.ts';
import { readWorkbook } from './workbook.ts';

export type WorkbookTable = {
  /** The sheet's name; empty for the main table. */
  path: string;
  /** The name of its sheet, with its rows if the sheet has several tables. */
  title: string;
  names: string[];
  rows: Cell[][];
  /** Numbers of the rows below the header, by position. */
  numbers: number[];
  /** Numbers of rows that add up others. */
  totals: ReadonlySet<number>;
  hasHeader: boolean;
  notes: string[];
  findings: Finding[];
  /** Columns with values that are not the stored ones, but what the cells of their rows give. */
  recomputed: string[];
};

const maxTables = 8;
const sheetsNamed = 20;

/** @param sheet only this sheet; of any case */
export async function workbookTables(
  source: Readable,
  name: string,
  sheet: string | undefined,
  signal?: AbortSignal,
): Promise<{ tables: WorkbookTable[]; sizeBytes: number; sheets: string[] }> {
  const { sheets, is1904, sizeBytes, notes } = await readWorkbook(source, name, signal);
  const chosen = sheet === undefined ? sheets : sheets.filter((each) => each.name.trim().toLowerCase() === sheet.trim().toLowerCase());
  if (chosen.length === 0)
    throw new ToolError(
      `${name} has no sheet "${sheet}". Its sheets are ${listed(
        sheets.map((each) => each.name),
        sheetsNamed,
      )}.`,
    );
  const all = chosen.flatMap(sheetTables);
  // A column of texts is a note, unless the workbook has nothing else.
  const data = all.filter(isData);
  const found = data.length > 0 ? data : all;
  const titles = sheets.map((each) => each.name);
  if (found.length === 0) return { tables: [emptyTable(notes)], sizeBytes, sheets: titles };
  const size = ({ rows, names }: SheetTable) => rows.length * names.length;
  // A visible table comes before a hidden one.
  const ordered = found.toSorted((a, b) => Number(a.sheet.isHidden) - Number(b.sheet.isHidden) || size(b) - size(a));
  const book = new BookCells(sheets);
  const tables = ordered.slice(0, maxTables).map((table) => asTable(table, ordered, book, is1904));
  tables[0]!.path = '';
  tables[0]!.notes.unshift(...notes, ...sheetNotes(sheets, ordered, sheet));
  return { tables, sizeBytes, sheets: titles };
}

function isData({ rows, names }: SheetTable): boolean {
  return names.length > 1 || rows.some(({ cells }) => cells.some((cell) => typeof cell === 'number'));
}

function asTable(table: SheetTable, all: readonly SheetTable[], book: BookCells, is1904: boolean): WorkbookTable {
  const { sheet, headerRow, left, names, rows, hasHeader } = table;
  const formulas = new SheetFormulas(table, book);
  const { findings, values } = formulaFindings(table, formulas);
  const range = `rows ${headerRow} to ${rows.at(-1)?.number ?? headerRow}`;
  const isOnly = all.filter((each) => each.sheet === sheet).length === 1;
  const place = `Read from the sheet "${sheet.name}"${sheet.isHidden ? ', which is hidden' : ''}${isOnly ? '' : `, ${range}`}`;
  const shift = headerRow === 0 ? '' : `; row 1 here is row ${headerRow + 1} of the sheet`;
  const cells = rows.map((row) => {
    const own = shownCells(table, row, is1904);
    for (let i = 0; i < names.length; i++) {
      const value = values.get(cellKey(row.number, left + i));
      if (value !== undefined) own[i] = value;
    }
    return own;
  });
  const title = isOnly ? sheet.name : `${sheet.name}, ${range}`;
  return {
    path: title,
    title,
    names,
    rows: cells,
    numbers: rows.map(({ number }) => number - headerRow),
    totals: new Set([...formulas.summedRows].map((row) => row - headerRow)),
    hasHeader,
    notes: [`${place}${shift}.`, ...table.notes],
    findings,
    recomputed: [...new Set([...values.keys()].map((key) => names[keyPlace(key).column - left] ?? ''))],
  };
}

function emptyTable(notes: string[]): WorkbookTable {
  return {
    path: '',
    title: '',
    names: [],
    rows: [],
    numbers: [],
    totals: new Set(),
    hasHeader: false,
    notes,
    findings: [],
    recomputed: [],
  };
}

function sheetNotes(sheets: readonly Sheet[], tables: readonly SheetTable[], chosen: string | undefined): string[] {
  const quoted = (some: readonly Sheet[]) =>
    listed(
      some.map(({ name }) => `"${name}"`),
      sheetsNamed,
    );
  const others = sheets.filter(({ name }) => name.toLowerCase() !== chosen?.trim().toLowerCase());
  const hidden = others.filter(({ isHidden }) => isHidden);
  const empty = others.filter((sheet) => !tables.some((table) => table.sheet === sheet));
  if (chosen !== undefined) return others.length === 0 ? [] : [`The other sheets are not read: ${quoted(others)}.`];
  return [
    ...(sheets.length > 1 ? [`The workbook has ${sheets.length} sheets: ${quoted(sheets)}.`] : []),
    ...(hidden.length > 0 ? [`${hidden.length === 1 ? 'This sheet is' : 'These sheets are'} hidden: ${quoted(hidden)}.`] : []),
    ...(empty.length > 0 ? [`${empty.length === 1 ? 'This sheet has' : 'These sheets have'} no table: ${quoted(empty)}.`] : []),
    ...(tables.length > maxTables ? [`Only the ${maxTables} largest of ${tables.length} tables are read.`] : []),
  ];
}
