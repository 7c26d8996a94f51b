/** The tables of a Markdown text: a header, a line of dashes below it, and rows, all with bars between the cells. Pure and linear. */
import { isMissing } from './cell.ts';
import { columnNames } from './dialect.ts';
import { parseNumber } from './number-format.ts';

export type MarkdownTable = {
  /** Index of the header among the lines of the text; `end` is exclusive. */
  start: number;
  end: number;
  names: string[];
  rows: string[][];
  notes: string[];
};

const maxTables = 100;
const maxColumns = 200;
const minRows = 3;
/** At least this share of a column's cells are numbers. */
const minNumbers = 0.5;
const marks = ['**', '__', '*', '_', '`'];
const maxMarks = 3;
const othersNamed = 5;
const nameChars = 60;

export function isMarkdown(name: string): boolean {
  return /\.(?:md|markdown)$/i.test(name);
}

/** In their order; without tables within code blocks. */
export function markdownTables(lines: readonly string[]): MarkdownTable[] {
  const tables: MarkdownTable[] = [];
  let fence = '';
  for (let at = 0; at < lines.length && tables.length < maxTables; at++) {
    const line = lines[at]!;
    const opened = line.trimStart().slice(0, 3);
    if (opened === '```' || opened === '~~~') fence = fence === '' ? opened : fence === opened ? '' : fence;
    if (fence !== '' || !line.includes('|') || at + 1 >= lines.length) continue;
    const header = cellsOf(line);
    if (header.length < 2 || header.length > maxColumns || !isDelimiterRow(lines[at + 1]!, header.length)) continue;
    let end = at + 2;
    while (end < lines.length && lines[end]!.includes('|')) end++;
    const rows = lines.slice(at + 2, end).map((row) => fitted(cellsOf(row), header.length));
    tables.push({ start: at, end, ...columnNames(header, true), rows });
    at = end - 1;
  }
  return tables;
}

/** The table with the most cells, with a note on the others; null if no table has data. Lists of texts, such as actions, are not data. */
export function dataTable(lines: readonly string[]): MarkdownTable | null {
  const tables = markdownTables(lines);
  const data = tables.filter(hasNumbers);
  if (data.length === 0) return null;
  const cells = ({ rows, names }: MarkdownTable) => rows.length * names.length;
  const largest = data.reduce((best, table) => (cells(table) > cells(best) ? table : best));
  const others = tables.filter((table) => table !== largest);
  if (others.length === 0) return largest;
  const named = others
    .slice(0, othersNamed)
    .map(({ start, names }) => `the table in line ${start + 1} (${names.join(', ').slice(0, nameChars)})`);
  const more = others.length > othersNamed ? ` and ${others.length - othersNamed} more` : '';
  return {
    ...largest,
    notes: [
      ...largest.notes,
      `Of the tables in the file only the largest with numbers is read, in line ${largest.start + 1}. Not read: ${named.join('; ')}${more}.`,
    ],
  };
}

function hasNumbers({ rows, names }: MarkdownTable): boolean {
  if (rows.length < minRows) return false;
  return names.some((_, column) => {
    const filled = rows.map((row) => row[column]!).filter((cell) => !isMissing(cell));
    const numbers = filled.filter((cell) => parseNumber(cell, 'dot') !== null || parseNumber(cell, 'comma') !== null);
    const counted = column === 0 && filled.every((cell, i) => Number.parseInt(cell, 10) === i + 1);
    return !counted && filled.length >= minRows && numbers.length >= filled.length * minNumbers;
  });
}

/** Dashes in each cell, with a colon at either end for the alignment. */
function isDelimiterRow(line: string, width: number): boolean {
  const cells = cellsOf(line);
  return cells.length === width && cells.every((cell) => /^:?-+:?$/.test(cell));
}

/** The texts between the bars, without the marks of bold, italic and code text. A bar behind a backslash belongs to the cell. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let cell = '';
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '\\' && line[i + 1] === '|') {
      cell += '|';
      i++;
    } else if (line[i] === '|') {
      cells.push(cell);
      cell = '';
    } else cell += line[i];
  }
  cells.push(cell);
  if (cells[0]!.trim() === '') cells.shift();
  if (cells.length > 0 && cells.at(-1)!.trim() === '') cells.pop();
  return cells.map(plainText);
}

function plainText(cell: string): string {
  let text = cell.trim();
  for (let i = 0; i < maxMarks; i++) {
    const mark = marks.find((each) => text.length > 2 * each.length && text.startsWith(each) && text.endsWith(each));
    if (mark === undefined) return text;
    text = text.slice(mark.length, -mark.length).trim();
  }
  return text;
}

/** As many cells as there are columns. */
function fitted(cells: string[], width: number): string[] {
  return Array.from({ length: width }, (_, i) => cells[i] ?? '');
}
