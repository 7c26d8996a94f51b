/** A table in a file of any form: its columns' names, and its rows, streamed as often as needed. */

import type { Readable } from 'node:stream';
import { ToolError } from '../../errors.ts';
import { documentText, isDocument } from '../office/document-text.ts';
import { type AlignedLayout, alignedCells, alignedLayout, isRule } from './aligned-text.ts';
import { type Cell, cellText } from './cell.ts';
import { eachCsvRow, type UnclosedQuote } from './csv-rows.ts';
import { columnNames, type Delimiter, detectDialect } from './dialect.ts';
import { type Encoding, inspectText } from './encoding.ts';
import { detectJsonShape, eachJsonRecord, wholeJson } from './json-records.ts';
import { type EntriesOf, type JsonTable, tablesInJson } from './json-tables.ts';
import { eachLine, maxLineChars } from './lines.ts';
import { hasEvenRows } from './looks-like-table.ts';
import { dataTable, isMarkdown, type MarkdownTable } from './markdown-tables.ts';
import type { Finding, TableProfile } from './table-profile.ts';
import { eachLogRow, webLogColumns } from './web-log.ts';
import { isWorkbook } from './workbook/workbook.ts';
import { workbookTables } from './workbook/workbook-tables.ts';

/** `row` counts data rows from 1, without the header. `cells` may have fewer or more entries than there are columns. */
export type RowVisitor = (cells: readonly Cell[], row: number) => void;

export type TableSource = {
  readonly format: TableProfile['format'];
  readonly encoding: Encoding;
  readonly delimiter: Delimiter | null;
  readonly hasHeader: boolean;
  readonly sizeBytes: number;
  /** Columns that entries of a list inherit from the surrounding record. */
  readonly inherited?: readonly string[];
  /** The records that entries of a list belong to. */
  readonly records?: EntriesOf;
  /** Numbers of rows that are totals by their formulas. */
  readonly totals?: ReadonlySet<number>;
  /** Findings that only the file's own form shows, such as those on formulas. */
  readonly findings?: readonly Finding[];
  /** Columns with figures that the file does not store: what the cells of their rows give. */
  readonly recomputed?: readonly string[];
  /** Of a workbook. */
  readonly sheets?: readonly string[];
  /** Of a workbook: the name of the sheet of this table. */
  readonly title?: string;
  /** Irregularities, as texts; readings add to it. */
  readonly notes: Set<string>;
  /** The columns' names; complete after the first reading. */
  readonly names: readonly string[];
  /** Reads the table from the start. Rejects with `UnclosedQuote` when quotes are unreliable, with `ToolError` when it is not a table. */
  eachRow(visit: RowVisitor, signal?: AbortSignal): Promise<void>;
  /** From now on quotes are ordinary characters. */
  ignoreQuotes(because: UnclosedQuote): void;
};

const maxColumns = 16_384;
const deepestFlattening = 3;
/** JSON up to this size is read whole, so that lists within its records can become tables; Markdown too. */
const maxWholeBytes = 8 * 1024 * 1024;
const linesNamed = 5;
const lineCharsNamed = 120;
const swallowed = 'Some quoted cells hold line breaks and delimiters like whole rows; a quote before them may never be closed.';

/**
 * Determines how to read the file: as one table, or as several if a JSON file contains several lists or a workbook several sheets. Throws `ToolError` for a file that is
 * not a table. `open` is called once per reading.
 */
export async function openTables(
  open: () => Promise<Readable>,
  name: string,
  signal?: AbortSignal,
  sheet?: string,
): Promise<{ path: string; source: TableSource }[]> {
  if (isWorkbook(name)) return sheetsOf(await open(), name, sheet, signal);
  if (isDocument(name)) return [{ path: '', source: await tableInDocument(await open(), name, signal) }];
  const { encoding, sizeBytes, sample, warnings } = await inspectText(await open(), name, signal);
  const common = { encoding, sizeBytes, notes: new Set(warnings) };
  if (isMarkdown(name) && sizeBytes <= maxWholeBytes) {
    const table = await tableInMarkdown(await open(), encoding, signal);
    if (table !== null) return [{ path: '', source: memoryTable('markdown', table, common) }];
  }
  const logColumns = isJson(name, sample) ? null : webLogColumns(sample);
  if (logColumns !== null) return [{ path: '', source: logTable(open, logColumns, common) }];
  if (!isJson(name, sample)) {
    const layout = isDelimited(name) || hasEvenRows(sample, sizeBytes > sample.length) ? null : alignedLayout(sample);
    return [{ path: '', source: layout === null ? csvTable(open, sample, common) : alignedTable(open, layout, common) }];
  }
  if (sizeBytes <= maxWholeBytes) {
    const tables = tablesInJson(await wholeJson(await open(), encoding, detectJsonShape(sample), (note) => warnings.push(note), signal));
    if (tables !== null)
      return tables.map((table) => ({ path: table.path, source: memoryTable('json', table, { ...common, notes: new Set(warnings) }) }));
  }
  return [{ path: '', source: jsonTable(open, sample, common) }];
}

async function sheetsOf(source: Readable, name: string, sheet: string | undefined, signal?: AbortSignal) {
  const { tables, sizeBytes, sheets } = await workbookTables(source, name, sheet, signal);
  return tables.map(({ path, names, rows, numbers, notes, ...rest }): { path: string; source: TableSource } => ({
    path,
    source: {
      format: 'xlsx',
      encoding: 'utf-8',
      delimiter: null,
      sizeBytes,
      sheets,
      notes: new Set(notes),
      names,
      ...rest,
      ignoreQuotes() {},
      async eachRow(visit) {
        for (const [i, cells] of rows.entries()) visit(cells, numbers[i]!);
      },
    },
  }));
}

/** An access log. Its numbers are texts here, as in CSV. */
function logTable(open: () => Promise<Readable>, names: string[], common: Common): TableSource {
  return {
    ...common,
    format: 'log',
    delimiter: null,
    hasHeader: true,
    names,
    ignoreQuotes() {},
    async eachRow(visit, signal) {
      let row = 0;
      const { otherLines } = await eachLogRow(await open(), common.encoding, (cells) => visit(cells, ++row), signal);
      common.notes.add('Read as the access log of a web server.');
      if (otherLines > 0)
        common.notes.add(`${otherLines} ${otherLines === 1 ? 'line is' : 'lines are'} not in the form of the log and left out.`);
    },
  };
}

async function tableInMarkdown(source: Readable, encoding: Encoding, signal?: AbortSignal): Promise<MarkdownTable | null> {
  const lines: string[] = [];
  await eachLine(source, encoding, (line) => lines.push(line), signal);
  return dataTable(lines);
}

async function tableInDocument(source: Readable, name: string, signal?: AbortSignal): Promise<TableSource> {
  const text = await documentText(source, name, signal);
  const table = dataTable(text.split('\n'));
  if (table === null) throw new ToolError(`${name} has no table of figures; read it as a text.`);
  return memoryTable('docx', table, { encoding: 'utf-8', sizeBytes: Buffer.byteLength(text), notes: new Set() });
}

/** A table that is already in memory. */
function memoryTable(
  format: 'json' | 'markdown' | 'docx',
  { names, rows, notes, inherited, records }: Omit<JsonTable, 'path' | 'inherited' | 'records'> & Partial<JsonTable>,
  common: Common,
): TableSource {
  if (names.length > maxColumns)
    throw new ToolError(`The records have more than ${maxColumns} different fields; this is no table that can be read.`);
  for (const note of notes) common.notes.add(note);
  return {
    ...common,
    format,
    delimiter: null,
    hasHeader: true,
    names,
    ...(inherited === undefined ? {} : { inherited }),
    ...(records == null ? {} : { records }),
    ignoreQuotes() {},
    async eachRow(visit) {
      for (const [i, cells] of rows.entries()) visit(cells, i + 1);
    },
  };
}

type Common = { encoding: Encoding; sizeBytes: number; notes: Set<string> };

function isJson(name: string, sample: string): boolean {
  if (/\.(json|jsonl|ndjson|geojson)$/i.test(name)) return true;
  return !isDelimited(name) && /^\s*(\{\s*["}]|\[\s*[{\]])/.test(sample);
}

function isDelimited(name: string): boolean {
  return /\.(csv|tsv|tab|psv)$/i.test(name);
}

/** A table with columns aligned by blanks. Lines that do not fit its columns are left out, and named in the notes. */
function alignedTable(open: () => Promise<Readable>, layout: AlignedLayout, common: Common): TableSource {
  let names: string[] = [];
  return {
    ...common,
    format: 'aligned',
    delimiter: null,
    hasHeader: true,
    get names() {
      return names;
    },
    ignoreQuotes() {},
    async eachRow(visit, signal) {
      const others: string[] = [];
      let otherLines = 0;
      let at = -1;
      let row = 0;
      const take = (line: string) => {
        at++;
        if (line.trim() === '' || isRule(line)) return;
        const cells = at < layout.headerLine || line.length > maxLineChars ? null : alignedCells(line.trimEnd(), layout);
        if (cells === null) {
          otherLines++;
          if (others.length < linesNamed) others.push(`"${cellText(line.trim(), lineCharsNamed)}" (line ${at + 1})`);
        } else if (at === layout.headerLine) {
          const named = columnNames(cells, true);
          names = named.names;
          for (const note of named.notes) common.notes.add(note);
        } else visit(cells, ++row);
      };
      await eachLine(await open(), common.encoding, take, signal);
      if (otherLines > 0) common.notes.add(otherLinesNote(otherLines, others));
    },
  };
}

function otherLinesNote(count: number, named: readonly string[]): string {
  const more = count > named.length ? ' and more' : '';
  return `${count} ${count === 1 ? 'line does' : 'lines do'} not fit the columns and ${count === 1 ? 'is' : 'are'} left out: ${named.join(', ')}${more}.`;
}

function csvTable(open: () => Promise<Readable>, sample: string, common: Common): TableSource {
  const { delimiter, skippedRows, hasHeader } = detectDialect(sample);
  const { notes, encoding } = common;
  if (skippedRows > 0) notes.add(`${skippedRows} ${skippedRows === 1 ? 'line' : 'lines'} above the header skipped.`);
  let quotes = true;
  let names: string[] = [];

  return {
    ...common,
    format: 'csv',
    delimiter,
    hasHeader,
    get names() {
      return names;
    },
    ignoreQuotes(because) {
      quotes = false;
      names = [];
      notes.add(`${because.message} Quotes were read as ordinary characters.`);
    },
    async eachRow(visit, signal) {
      let row = hasHeader ? -1 - skippedRows : -skippedRows;
      const onRow = (cells: string[]) => {
        row++;
        if (names.length === 0 && row === (hasHeader ? 0 : 1)) {
          if (cells.length > maxColumns) throw new ToolError(`The table has ${cells.length} columns; at most ${maxColumns} can be read.`);
          const named = columnNames(cells, hasHeader);
          names = named.names;
          for (const note of named.notes) notes.add(note);
        }
        if (row < 1) return;
        if (quotes && !notes.has(swallowed) && cells.some((cell) => holdsRows(cell, delimiter, names.length))) notes.add(swallowed);
        visit(cells, row);
      };
      await eachCsvRow(await open(), { encoding, delimiter, quotes }, onRow, signal);
    },
  };
}

/** Whether a line within the cell has as many delimiters as a row of this table. */
function holdsRows(cell: string, delimiter: Delimiter, columns: number): boolean {
  if (columns < 3 || !cell.includes('\n')) return false;
  const inner = cell.split('\n', 50).slice(1, -1);
  return inner.some((line) => line.split(delimiter).length === columns);
}

function jsonTable(open: () => Promise<Readable>, sample: string, common: Common): TableSource {
  const shape = detectJsonShape(sample);
  const names: string[] = [];
  const positions = new Map<string, number>();

  const place = (cells: Cell[], name: string, value: Cell) => {
    let at = positions.get(name);
    if (at === undefined) {
      if (names.length === maxColumns)
        throw new ToolError(`The records have more than ${maxColumns} different fields; this is no table that can be read.`);
      at = names.length;
      positions.set(name, at);
      names.push(name);
    }
    while (cells.length < at) cells.push(null);
    cells[at] = value;
  };
  const flatten = (cells: Cell[], prefix: string, value: unknown, depth: number) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') place(cells, prefix, value);
    else if (Array.isArray(value) || depth === deepestFlattening) place(cells, prefix, JSON.stringify(value));
    else
      for (const [key, inner] of Object.entries(value as object))
        flatten(cells, prefix === '' ? key : `${prefix}.${key}`, inner, depth + 1);
  };

  return {
    ...common,
    format: 'json',
    delimiter: null,
    hasHeader: true,
    names,
    ignoreQuotes() {},
    async eachRow(visit, signal) {
      let row = 0;
      let header: string[] | undefined;
      const onRecord = (record: unknown) => {
        const cells: Cell[] = [];
        if (Array.isArray(record)) {
          if (row === 0 && header === undefined && record.length > 0 && record.every((value) => typeof value === 'string')) {
            header = columnNames(record, true).names;
            for (const name of header) place([], name, null);
            return;
          }
          for (const [i, value] of record.entries()) flatten(cells, header?.[i] ?? `column_${i + 1}`, value, 1);
        } else if (typeof record === 'object' && record !== null) flatten(cells, '', record, 0);
        else flatten(cells, 'value', record, 1);
        visit(cells, ++row);
      };
      await eachJsonRecord(await open(), common.encoding, shape, onRecord, signal);
    },
  };
}
