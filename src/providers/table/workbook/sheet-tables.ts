/**
 * The tables of a sheet: its rows without titles above the header and notes below the last row. A sheet may have several tables below one
 * another, each with its own header behind an empty row.
 */
import { type Cell, cellText, isMissing } from '../cell.ts';
import { columnNames, headerOf } from '../dialect.ts';
import { listed } from '../figure-text.ts';
import { maxColumn } from './address.ts';
import { shownNumber } from './number-forms.ts';
import type { Sheet, SheetRow } from './sheet.ts';

export type SheetTable = {
  sheet: Sheet;
  /** Row of the header in the sheet; 0 without a header. */
  headerRow: number;
  /** First column in the sheet. */
  left: number;
  names: string[];
  /** Their numbers in the sheet. */
  rows: SheetRow[];
  hasHeader: boolean;
  notes: string[];
};

const sampleRows = 200;
const titlesNamed = 3;
const titleChars = 160;
const minColumnsOfTable = 2;
/** Rows of a title, such as "As of" and a date. */
const maxTitleCells = 2;
const maxFilledDown = 200_000;
const hiddenNamed = 5;

/** Empty for a sheet without cells. */
export function sheetTables(sheet: Sheet): SheetTable[] {
  fillDown(sheet);
  return blocksOf(sheet.rows).flatMap((block) => tableOf(sheet, block) ?? []);
}

/** The cells of a row as the reader of the sheet sees them, from the table's first column on. */
export function shownCells({ left }: SheetTable, { cells, forms }: SheetRow, is1904: boolean): Cell[] {
  const own = cells.slice(left - 1);
  for (const [column, form] of forms ?? []) {
    const value = cells[column - 1];
    if (typeof value === 'number') own[column - left] = shownNumber(value, form, is1904);
  }
  return own;
}

/** Rows that belong together: behind an empty row a new table begins if it has a header of its own. */
function blocksOf(rows: readonly SheetRow[]): SheetRow[][] {
  const parts: SheetRow[][] = [];
  for (const row of rows) {
    const part = parts.at(-1);
    if (part !== undefined && row.number === part.at(-1)!.number + 1) part.push(row);
    else parts.push([row]);
  }
  const blocks: SheetRow[][] = [];
  for (const part of parts) {
    if (blocks.length === 0 || (startsTable(part) && !isTitle(blocks.at(-1)!))) blocks.push([...part]);
    else for (const row of part) blocks.at(-1)!.push(row);
  }
  return blocks;
}

function startsTable(rows: readonly SheetRow[]): boolean {
  if (rows.length < 3) return false;
  const texts = textRows(rows, 1);
  const { skippedRows, hasHeader } = headerOf(texts, usualWidth(texts));
  const header = rows[skippedRows]!;
  return (
    hasHeader &&
    filledOf(header) >= minColumnsOfTable &&
    header.cells.every((cell) => cell === null || typeof cell === 'string') &&
    rows
      .slice(skippedRows + 1)
      .some(({ cells }) => cells.some((cell, i) => typeof cell === 'number' && typeof header.cells[i] === 'string'))
  );
}

/** One or two cells in each of a few rows. */
function isTitle(rows: readonly SheetRow[]): boolean {
  return rows.length <= titlesNamed && rows.every((row) => filledOf(row) <= maxTitleCells);
}

function tableOf(sheet: Sheet, block: readonly SheetRow[]): SheetTable | null {
  const left = block.reduce((least, { cells }) => Math.min(least, cells.findIndex((cell) => cell !== null) + 1 || maxColumn), maxColumn);
  const texts = textRows(block, left);
  const width = usualWidth(texts);
  const { skippedRows, hasHeader } = headerOf(texts, width);
  const head = block[skippedRows];
  if (head === undefined) return null;
  const notes: string[] = [];
  const said = (rows: readonly SheetRow[]) =>
    listed(rows.slice(0, titlesNamed).map(({ cells }) => `"${cellText(cells.find((cell) => cell !== null) ?? null, titleChars)}"`));
  if (skippedRows > 0) notes.push(`Above the header the sheet says ${said(block.slice(0, skippedRows))}.`);
  const below = notesBelow(block, skippedRows, width);
  if (below < block.length) notes.push(`Below the table the sheet says ${said(block.slice(below))}.`);
  const rows = block.slice(skippedRows + (hasHeader ? 1 : 0), below);
  const columns = Math.max(head.cells.length - left + 1, hasHeader ? 0 : width);
  const named = columnNames(
    Array.from({ length: columns }, (_, i) => cellText(head.cells[left - 1 + i] ?? null, titleChars)),
    hasHeader,
  );
  notes.push(...named.notes, ...hiddenNotes(sheet, rows, left, columns));
  return { sheet, headerRow: hasHeader ? head.number : head.number - 1, left, names: named.names, rows, hasHeader, notes };
}

/** Where the notes below the table begin: rows of one text, behind an empty row. */
function notesBelow(block: readonly SheetRow[], header: number, width: number): number {
  let at = block.length;
  if (width < minColumnsOfTable + 1) return at;
  while (at > header + 2 && filledOf(block[at - 1]!) === 1 && typeof block[at - 1]!.cells.find((cell) => cell !== null) === 'string') at--;
  // Without an empty row in between, a row of one text may be a record with gaps.
  while (at < block.length && block[at]!.number === block[at - 1]!.number + 1) at++;
  return at;
}

function hiddenNotes(sheet: Sheet, rows: readonly SheetRow[], left: number, columns: number): string[] {
  const hidden = rows.filter(({ number }) => sheet.hiddenRows.has(number)).map(({ number }) => number);
  const hiddenNames = [...sheet.hiddenColumns].filter((column) => column >= left && column < left + columns);
  return [
    ...(hidden.length === 0
      ? []
      : [
          `${hidden.length === 1 ? 'One row of the sheet is' : `${hidden.length} rows of the sheet are`} hidden (${listed(hidden.slice(0, hiddenNamed).map(String))}${hidden.length > hiddenNamed ? ' and more' : ''}); the figures count ${hidden.length === 1 ? 'it' : 'them'}.`,
        ]),
    ...(hiddenNames.length === 0
      ? []
      : [
          `${hiddenNames.length === 1 ? 'One column of the table is' : `${hiddenNames.length} columns of the table are`} hidden in the sheet; the figures count ${hiddenNames.length === 1 ? 'it' : 'them'}.`,
        ]),
  ];
}

/** A text that is merged over several rows of one column stands for each of them. */
function fillDown(sheet: Sheet): void {
  let left = maxFilledDown;
  let rows: Map<number, SheetRow> | null = null;
  for (const { top, bottom, left: column, right } of sheet.merged) {
    if (column !== right || bottom === top) continue;
    rows ??= new Map(sheet.rows.map((row) => [row.number, row]));
    const value = rows.get(top)?.cells[column - 1] ?? null;
    if (typeof value !== 'string') continue;
    for (let number = top + 1; number <= bottom && left > 0; number++, left--) {
      const row = rows.get(number);
      if (row === undefined || row.cells[column - 1] != null) continue;
      while (row.cells.length < column) row.cells.push(null);
      row.cells[column - 1] = value;
    }
  }
}

function textRows(rows: readonly SheetRow[], left: number): string[][] {
  return rows.slice(0, sampleRows).map(({ cells, forms }) =>
    cells.slice(left - 1).map((cell, i) => {
      const form = forms?.get(left + i);
      return typeof cell === 'number' && form !== undefined ? String(shownNumber(cell, form, false)) : cellText(cell, titleChars);
    }),
  );
}

function usualWidth(rows: readonly string[][]): number {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].reduce((most, each) => (each[1] > most[1] || (each[1] === most[1] && each[0] > most[0]) ? each : most), [0, 0])[0];
}

function filledOf({ cells }: SheetRow): number {
  return cells.reduce<number>((count, cell) => count + (isMissing(cell) ? 0 : 1), 0);
}
