/** The form of a CSV file, from its beginning: the delimiter, the rows before the header, and whether there is a header. */
import { isMissing, parseBoolean } from './cell.ts';
import { parseDate } from './date-format.ts';
import { parseNumber } from './number-format.ts';

export type Delimiter = ',' | ';' | '\t' | '|';

export type Dialect = {
  delimiter: Delimiter;
  /** Rows before the header (a title, Excel's `sep=;`). */
  skippedRows: number;
  hasHeader: boolean;
};

const candidates: Delimiter[] = ['\t', ';', '|', ','];
const sampleRows = 200;
const farthestHeader = 20;

/** @param sample the decoded beginning of the file; its last row may be incomplete */
export function detectDialect(sample: string): Dialect {
  const declared = /^sep=([,;\t|])\r?\n/.exec(sample);
  const ranked = candidates
    .map((delimiter) => ({ delimiter, rows: sampleCells(sample, delimiter) }))
    .map((each) => ({ ...each, ...shapeOf(each.rows) }));
  const best =
    declared === null
      ? ranked.reduce((winner, each) => (each.score > winner.score ? each : winner), ranked.at(-1)!)
      : ranked.find((each) => each.delimiter === declared[1])!;
  return { delimiter: best.delimiter, ...headerOf(best.rows, best.width, declared === null ? 0 : 1) };
}

/** Where the header of rows of this usual width is. `from`: rows that are certainly above it. */
export function headerOf(rows: string[][], width: number, from = 0): Omit<Dialect, 'delimiter'> {
  const skippedRows = width > 1 && rows.length > 2 ? Math.max(from, linesAbove(rows, width, from)) : from;
  const first = rows[skippedRows];
  return { skippedRows, hasHeader: first !== undefined && looksLikeHeader(first, rows.slice(skippedRows + 1)) };
}

/** The number of rows before the header: titles and notes fill fewer cells than the table's rows. */
function linesAbove(rows: string[][], width: number, from: number): number {
  const filled = rows.map((row) => row.reduce((count, cell) => count + (cell === '' ? 0 : 1), 0));
  const usual = mode(filled.slice(from));
  const narrow = (at: number) => {
    const row = rows[at]!;
    if (row.length === 1 && width > 1) return rows[at + 1]!.length <= width;
    if (row[0]!.startsWith('#') && row.length < width) return true;
    return width >= 3 && filled[at]! < 0.6 * usual && filled[at]! <= 2;
  };
  let at = from;
  while (at < Math.min(farthestHeader, rows.length - 1) && narrow(at)) at++;
  return at < rows.length - 1 && (rows[at]!.length > 1 || at === from) ? at : from;
}

function mode(values: number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), [0, 0])[0];
}

/** Names of the columns: those of the header, made unique, or column_1, column_2 … `notes` describe the changes. */
export function columnNames(header: readonly string[], hasHeader: boolean): { names: string[]; notes: string[] } {
  const notes: string[] = [];
  if (!hasHeader)
    return {
      names: header.map((_, i) => `column_${i + 1}`),
      notes: ['There is no header row; columns are called column_1, column_2 and so on.'],
    };
  const taken = new Set<string>();
  const repeated = new Set<string>();
  const nextNumber = new Map<string, number>();
  let unnamed = 0;
  const names = header.map((cell, i) => {
    const given = cell.trim().slice(0, 120);
    if (given === '') unnamed++;
    const base = given === '' ? `column_${i + 1}` : given;
    let name = base;
    if (taken.has(name)) {
      // The end of the last search for this name: otherwise equal names would be tried again from 2.
      let n = nextNumber.get(base) ?? 2;
      while (taken.has(`${base} (${n})`)) n++;
      name = `${base} (${n})`;
      nextNumber.set(base, n + 1);
      repeated.add(base);
    }
    taken.add(name);
    return name;
  });
  if (unnamed > 0) notes.push(`${unnamed} columns have no name in the header; they are called by their position.`);
  if (repeated.size > 0) notes.push(`Column names that occur more than once are numbered: ${[...repeated].slice(0, 5).join(', ')}.`);
  return { names, notes };
}

/** The rows of the sample, to distinguish tables from other texts. */
export function sampleWidths(sample: string, delimiter: Delimiter): string[][] {
  return sampleCells(sample, delimiter);
}

/** The rows of the sample, split fast and with quotes; only their shape matters here. */
function sampleCells(sample: string, delimiter: Delimiter): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let start = 0;
  let quoted = false;
  const push = (end: number) => row.push(unquote(sample.slice(start, end)));
  for (let i = 0; i < sample.length && rows.length < sampleRows; i++) {
    const char = sample[i]!;
    // A quote has a meaning only at the start of a cell or inside a quoted one.
    if (char === '"' && (quoted || i === start)) quoted = !quoted;
    else if (quoted) continue;
    else if (char === delimiter) {
      push(i);
      start = i + 1;
    } else if (char === '\n' || char === '\r') {
      if (i > start || row.length > 0) {
        push(i);
        rows.push(row);
        row = [];
      }
      start = i + 1;
    }
  }
  if (rows.length < sampleRows && !quoted && start < sample.length) {
    push(sample.length);
    rows.push(row);
  }
  return rows;
}

function unquote(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith('"') && trimmed.endsWith('"') && trimmed.length > 1 ? trimmed.slice(1, -1).replaceAll('""', '"') : trimmed;
}

/**
 * The most common width, and the share of rows with it; the first row counts more, because a decimal comma can be mistaken for a delimiter
 * in the others.
 */
function shapeOf(rows: string[][]): { width: number; score: number } {
  const widths = new Map<number, number>();
  for (const { length } of rows) widths.set(length, (widths.get(length) ?? 0) + 1);
  const [width, count] = [...widths].reduce(
    (most, each) => (each[1] > most[1] || (each[1] === most[1] && each[0] > most[0]) ? each : most),
    [1, 0],
  );
  if (width === 1 || rows.length === 0) return { width, score: 0 };
  const headerFits = rows[0]!.length === width ? 1 : 0.6;
  return { width, score: (count / rows.length) * headerFits * (1 + Math.min(width, 50) / 1000) };
}

/** Whether the first row has names: not values, unless they are years above columns of figures. */
export function looksLikeHeader(first: string[], rest: string[][]): boolean {
  const filled = first.filter((cell) => !isMissing(cell));
  if (filled.length === 0) return false;
  // "no" is more often the name of a numeric column than a value: as a value it is above yes/no values.
  const answers = (at: number) => rest.slice(0, 20).some((row) => row[at] !== undefined && parseBoolean(row[at]) !== null);
  const values = first.filter((cell, at) => !isMissing(cell) && (parseBoolean(cell) === null ? isValue(cell) : answers(at)));
  if (values.length === 0) return !recurs(first, rest);
  if (values.length === filled.length) return false;
  // Texts beside years or months (region, 2023, 2024, Jan 2025) name columns of figures; beside other values they are a data row.
  const periods = values.every((cell) => /^(19|20)\d\d$/.test(cell.trim()) || parseDate(cell, 'day_first')?.coarse === true);
  if (periods && new Set(filled).size === filled.length && rest.length > 0) return true;
  return values.length * 4 <= filled.length && rest.some((row) => valuesOf(row) > values.length * 2);
}

function valuesOf(row: string[]): number {
  return row.filter((cell) => !isMissing(cell) && isValue(cell)).length;
}

/** A column's name does not occur below it; rows that repeat the whole header do not count. */
function recurs(first: string[], rest: string[][]): boolean {
  if (rest.length < 4) return false;
  const below = rest.filter((row) => !row.every((cell, i) => cell === first[i]));
  const again = first.filter((cell, i) => cell !== '' && below.some((row) => row[i] === cell)).length;
  return again > 0 && again * 2 >= first.length;
}

export function isValue(cell: string): boolean {
  return (
    parseNumber(cell, 'dot') !== null ||
    parseNumber(cell, 'comma') !== null ||
    parseDate(cell, 'month_first') !== null ||
    parseDate(cell, 'day_first') !== null ||
    (parseBoolean(cell) !== null && cell.trim().length > 1)
  );
}
