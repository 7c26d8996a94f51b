/**
 * The tables within a JSON value: all lists of records in it. A record's objects become columns by path; its lists become tables of their
 * own, each entry with the texts and dates of its record (never its numbers, which would count twice).
 */
import { ToolError } from '../../errors.ts';
import type { Cell } from './cell.ts';
import { nameTokens } from './column-role.ts';

export type JsonTable = {
  /** Path of the list, '' for the outermost. */
  path: string;
  names: string[];
  rows: Cell[][];
  /** Columns that entries inherit from the surrounding record. */
  inherited: string[];
  /** The record that each entry belongs to: the path of the records' table and the number of the row in it, from 1. */
  records: EntriesOf | null;
  notes: string[];
};

export type EntriesOf = { path: string; rows: number[] };

const deepestPath = 6;
const maxTables = 8;
const maxCells = 5_000_000;
const maxContext = 8;
const maxNotedFields = 8;
const maxNotedRows = 6;
const contextIds = new Set('id key no nr number code sku'.split(' '));

/** Null if the value is not a list of records and contains none. */
export function tablesInJson(value: unknown): JsonTable[] | null {
  const lists = listsOf(value);
  if (lists === null) return null;
  const tables: JsonTable[] = [];
  for (const { path, records, notes } of lists) {
    if (tables.length >= maxTables) break;
    addTables(
      tables,
      path,
      records.map((record) => ({ context: [], record, row: 0 })),
      notes,
      0,
    );
  }
  return tables;
}

/** `row`: of the surrounding record in its table, from 1; 0 without one. */
type Entry = { context: [string, Cell][]; record: unknown; row: number };
type List = { path: string; records: unknown[]; notes: string[] };

function addTables(tables: JsonTable[], path: string, entries: Entry[], notes: string[], depth: number, above: string | null = null): void {
  const names: string[] = [];
  const positions = new Map<string, number>();
  const lists = new Map<string, Entry[]>();
  const rows: Cell[][] = [];
  /** The rows in which a field is there and null, by the field. */
  const nulls = new Map<string, Set<number>>();
  const empty: [Cell[], string][] = [];
  let cellsUsed = 0;
  const place = (cells: Cell[], name: string, value: Cell) => {
    let at = positions.get(name);
    if (at === undefined) {
      at = names.push(name) - 1;
      positions.set(name, at);
    }
    cellsUsed += Math.max(0, at + 1 - cells.length);
    if (cellsUsed > maxCells) throw new ToolError('The records have too many different fields; this is no table that can be read.');
    while (cells.length <= at) cells.push(null);
    cells[at] = value;
  };
  for (const { context, record } of entries) {
    const cells: Cell[] = [];
    const own: [string, Cell][] = [];
    const found: [string, unknown[]][] = [];
    for (const [name, value] of context) place(cells, name, value);
    const taken = new Set(context.map(([name]) => name));
    flatten('', record, 0, (name, value) => {
      const called = name === '' ? lastStep(path) : taken.has(name) ? `${lastStep(path)}.${name}` : name;
      if (!Array.isArray(value)) {
        place(cells, called, value);
        if (value === null && (nulls.get(called)?.size ?? 0) <= maxNotedRows)
          nulls.set(called, (nulls.get(called) ?? new Set()).add(rows.length));
        own.push([called, value]);
        return;
      }
      if (value.length === 0) empty.push([cells, called]);
      else if (value.every(isScalar)) place(cells, called, value.map((each) => String(each ?? '')).join(', '));
      else place(cells, `number of ${called}`, value.length);
      found.push([called, value]);
    });
    rows.push(cells);
    if (found.length === 0 || depth >= 3) continue;
    const passedOn = [...context, ...own.filter(([name, value]) => isContext(name, value))].slice(0, maxContext);
    for (const [name, list] of found) {
      let below = lists.get(name);
      if (below === undefined) lists.set(name, (below = []));
      for (const each of list) below.push({ context: passedOn, record: each, row: rows.length });
    }
  }
  // Only other lists of the same name show whether an empty list is one of records.
  for (const [cells, called] of empty) {
    if (positions.has(`number of ${called}`)) place(cells, `number of ${called}`, 0);
    else place(cells, called, null);
  }
  const unrolled = [...lists].filter(([, below]) => below.length > 0);
  tables.push({
    path,
    names,
    rows,
    records: above === null ? null : { path: above, rows: entries.map(({ row }) => row) },
    inherited: [...new Set(entries.flatMap(({ context }) => context.map(([name]) => name)))],
    notes: [
      ...notes,
      ...nullsAndGaps(names, rows, nulls),
      ...unrolled.map(([name, below]) => `${name} is a list in each record; its ${below.length} entries are profiled on their own.`),
    ],
  });
  for (const [name, below] of unrolled) {
    if (tables.length >= maxTables) break;
    const inherited = below[0]!.context.map(([each]) => each);
    const about =
      inherited.length === 0
        ? []
        : [`${inherited.join(', ')} ${inherited.length === 1 ? 'is' : 'are'} of the record that the entry belongs to.`];
    addTables(tables, path === '' ? name : `${path}.${name}`, below, about, depth + 1, path);
  }
}

/** Of each field that is null in some records whether others lack it. */
function nullsAndGaps(names: readonly string[], rows: readonly Cell[][], nulls: ReadonlyMap<string, ReadonlySet<number>>): string[] {
  return [...nulls].slice(0, maxNotedFields).flatMap(([name, known]) => {
    const at = names.indexOf(name);
    const absent = [...rows.keys()].filter((row) => (rows[row]![at] ?? null) === null && !known.has(row));
    if (absent.length === 0 || known.size + absent.length > maxNotedRows) return [];
    const listed = (own: Iterable<number>) => [...own].map((row) => row + 1).join(', ');
    return [`${name} is null in row ${listed(known)}, and the field is not there in row ${listed(absent)}.`];
  });
}

function flatten(prefix: string, value: unknown, depth: number, place: (name: string, value: Cell | unknown[]) => void): void {
  if (isScalar(value)) place(prefix, value);
  else if (Array.isArray(value)) place(prefix, value);
  else if (depth === deepestPath) place(prefix, JSON.stringify(value).slice(0, 1000));
  else
    for (const [key, inner] of Object.entries(value as object)) flatten(prefix === '' ? key : `${prefix}.${key}`, inner, depth + 1, place);
}

/** The lists of records in a value, outermost first; other values become notes. */
function listsOf(value: unknown): List[] | null {
  if (Array.isArray(value)) return value.some(Array.isArray) ? null : [{ path: '', records: value, notes: [] }];
  if (!isObject(value)) return null;
  const byColumns = columnsOf(value);
  if (byColumns !== null)
    return [{ path: '', records: byColumns, notes: ['The file lists the values of each column; they are read as rows.'] }];
  const byKey = keyedRecords(value);
  if (byKey !== null) return [{ path: '', records: byKey, notes: ['The records stand under keys; the key is the column `key`.'] }];
  const lists: List[] = [];
  const beside: string[] = [];
  collect(value, '', 0, lists, beside);
  if (lists.length === 0) return [{ path: '', records: [value], notes: [] }];
  if (beside.length > 0)
    lists[0]!.notes.push(
      `Beside the records the file says: ${beside.slice(0, maxNotedFields).join(', ')}${beside.length > maxNotedFields ? ' and more' : ''}.`,
    );
  // A single list needs no name.
  if (lists.length === 1) lists[0]!.path = '';
  return lists;
}

function collect(value: object, prefix: string, depth: number, lists: List[], beside: string[]): void {
  for (const [key, inner] of Object.entries(value)) {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (Array.isArray(inner)) {
      if (inner.some(isObject)) lists.push({ path, records: inner, notes: [] });
      else if (inner.length > 0) beside.push(`${path} ${inner.slice(0, 5).map(shortText).join(' ')}`);
    } else if (isObject(inner)) {
      const keyed = depth > 0 ? null : keyedRecords(inner);
      if (keyed !== null) lists.push({ path, records: keyed, notes: [] });
      else if (depth < 4) collect(inner, path, depth + 1, lists, beside);
    } else beside.push(`${path} ${shortText(inner)}`);
  }
}

/** {"date": […], "close": […]} with lists of equal length. */
function columnsOf(value: object): unknown[] | null {
  const entries = Object.entries(value);
  const length = Array.isArray(entries[0]?.[1]) ? entries[0][1].length : 0;
  if (entries.length < 2 || length < 2 || entries.length > 200) return null;
  if (!entries.every(([, list]) => Array.isArray(list) && list.length === length && list.every(isScalar))) return null;
  return Array.from({ length }, (_, i) => Object.fromEntries(entries.map(([name, list]) => [name, (list as unknown[])[i]])));
}

/** {"A-1": {…}, "A-2": {…}} with records of the same form. */
function keyedRecords(value: object): unknown[] | null {
  const entries = Object.entries(value);
  if (entries.length < 3 || !entries.every(([, record]) => isObject(record))) return null;
  const known = new Set(Object.keys(entries[0]![1]));
  if (known.size === 0) return null;
  const alike = entries.filter(([, record]) => Object.keys(record).filter((name) => known.has(name)).length * 2 >= known.size);
  if (alike.length < entries.length) return null;
  return entries.map(([key, record]) => ({ key, ...record }));
}

/** Whether entries of a list inherit this column of their record: it identifies or groups records. */
function isContext(name: string, value: Cell): boolean {
  if (typeof value === 'string') return value.length <= 80;
  return typeof value === 'number' && contextIds.has(nameTokens(name).at(-1) ?? '');
}

function isScalar(value: unknown): value is Cell {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shortText(value: unknown): string {
  return String(value).slice(0, 60);
}

function lastStep(path: string): string {
  return path === '' ? 'value' : path.slice(path.lastIndexOf('.') + 1);
}
