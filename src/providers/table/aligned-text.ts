/**
 * Tables whose columns are aligned by blanks. A column boundary is a range of positions that are blank in nearly all lines. Each line is
 * scanned by hand, once for each possible header.
 */
import { isMissing } from './cell.ts';
import { isValue, looksLikeHeader } from './dialect.ts';

/** Positions in a line; `to` is exclusive. */
type Range = { from: number; to: number };
export type AlignedLayout = {
  /** Index of the header among all lines of the file. */
  headerLine: number;
  /** The positions between two columns, blank in nearly all rows. */
  gaps: Range[];
  /** Columns with numbers or dates in nearly all rows. */
  valued: number[];
  /** Whether a rule in parts ("---- -----") below the header shows the columns. */
  marked: boolean;
};

const sampleLines = 200;
const maxSampleLine = 2000;
const farthestHeader = 20;
const minRows = 2;
const minRowsOfTexts = 5;
const maxNameChars = 40;
const shareOfRows = 0.1;

/** The columns of the table in a text, or null if there is no header, or no rows below it that fit its columns. */
export function alignedLayout(sample: string): AlignedLayout | null {
  const lines = sample.split('\n', sampleLines).map((line) => line.trimEnd());
  if (lines.some((line) => line.length > maxSampleLine)) return null;
  let best: (AlignedLayout & { ruled: boolean }) | null = null;
  let tried = 0;
  for (let at = 0; at < lines.length - 1 && tried < farthestHeader; at++) {
    if (!hasColumns(lines[at]!) && !(isRule(lines[at + 1]!) && hasBlankWithin(lines[at + 1]!))) continue;
    tried++;
    const found = layoutBelow(lines, at);
    if (found === null) continue;
    // A rule below the header is a stronger sign than the number of columns.
    if (found.ruled) return found;
    if (best === null || found.gaps.length > best.gaps.length) best = found;
  }
  return best;
}

/** The cells of a line, or null if the line is no row of the table: a rule, a note, a heading. */
export function alignedCells(line: string, { gaps, valued, marked }: Omit<AlignedLayout, 'headerLine'>): string[] | null {
  const cells: string[] = [];
  let start = 0;
  for (const gap of gaps) {
    const cut = cutWithin(line, gap);
    if (cut === null) return null;
    cells.push(line.slice(start, cut).trim());
    start = cut;
  }
  cells.push(line.slice(start).trim());
  if (cells.filter((cell) => cell !== '').length < 2) return null;
  // The single blanks of a sentence may be at the boundaries by chance.
  const sentence = !marked && !hasColumns(line) && gaps.some(({ from, to }) => to - from > 1);
  return sentence && !valued.some((column) => isValue(cells[column]!)) ? null : cells;
}

/** Whether the line consists of dashes or similar characters. */
export function isRule(line: string): boolean {
  let marks = 0;
  for (const char of line) {
    if ('-=_─━═'.includes(char)) marks++;
    else if (!' +|\r'.includes(char)) return false;
  }
  return marks >= 3;
}

function layoutBelow(lines: readonly string[], headerLine: number): (AlignedLayout & { ruled: boolean }) | null {
  const header = lines[headerLine]!;
  const below = lines.slice(headerLine + 1);
  const first = below.findIndex((line) => line !== '');
  if (first === -1) return null;
  const rule = isRule(below[first]!) ? below[first]! : null;
  const marked = rule !== null && hasBlankWithin(rule);
  // A rule in parts shows the columns by itself. Otherwise only lines with two blanks or more show columns.
  const end = marked ? below.indexOf('', first) : -1;
  const rows = (end === -1 ? below : below.slice(0, end)).filter((line) => (marked ? line !== '' : hasColumns(line)) && !isRule(line));
  const gaps = marked ? gapsOf(rule, [], 0) : gapsOf(header, rows, tolerance(rows.length));
  const names = gaps.length === 0 ? null : alignedCells(header, { gaps, valued: [], marked });
  if (names === null || !areNames(names)) return null;
  const fitting = rows.map((line) => alignedCells(line, { gaps, valued: [], marked })).filter((cells) => cells !== null);
  if (fitting.length < minRows || rows.length - fitting.length > tolerance(rows.length)) return null;
  if (!looksLikeHeader(names, fitting)) return null;
  const valued = names.flatMap((_, column) => (isValued(fitting.map((row) => row[column]!)) ? [column] : []));
  const ofTexts = rule !== null || (names.length >= 3 && fitting.length >= minRowsOfTexts);
  return valued.length > 0 || ofTexts ? { headerLine, gaps, valued, marked, ruled: rule !== null } : null;
}

function tolerance(rows: number): number {
  return rows < 4 ? 0 : Math.max(1, Math.floor(rows * shareOfRows));
}

/** Names of columns are short, and not the start of a list or a labelled line. */
function areNames(names: readonly string[]): boolean {
  const named = names.filter((name) => name !== '');
  return (
    named.length * 2 > names.length &&
    !isValue(names[0]!) &&
    named.every((name) => name.length <= maxNameChars && !':;,{}=>'.includes(name.at(-1)!) && !'-*•{}=<>'.includes(name[0]!))
  );
}

function isValued(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => !isMissing(cell));
  return filled.length > 0 && filled.filter((cell) => isValue(cell)).length >= filled.length * 0.8;
}

function gapsOf(header: string, rows: readonly string[], tolerated: number): Range[] {
  const filled: number[] = new Array(Math.max(header.length, ...rows.map((line) => line.length))).fill(0);
  for (const line of rows) for (let at = 0; at < line.length; at++) if (line[at] !== ' ') filled[at]!++;
  const isFilled = (at: number) => (header[at] ?? ' ') !== ' ' || filled[at]! > tolerated;
  const columns: Range[] = [];
  for (let at = 0; at < filled.length; at++) {
    if (!isFilled(at)) continue;
    const from = at;
    while (at < filled.length && isFilled(at)) at++;
    columns.push({ from, to: at });
  }
  if (rows.length > 0) joinParts(columns, header, rows, (at) => filled[at]! > tolerated, tolerated);
  return columns.slice(1).map(({ from }, i) => ({ from: columns[i]!.to, to: from }));
}

/** Joins what is a part of a column: a blank may also separate two words of a name or of the cells. */
function joinParts(columns: Range[], header: string, rows: readonly string[], hasCells: (at: number) => boolean, tolerated: number): void {
  const distance = (at: number) =>
    at < 0 || at + 1 >= columns.length ? Number.POSITIVE_INFINITY : columns[at + 1]!.from - columns[at]!.to;
  const joinNext = (at: number) => columns.splice(at, 2, { from: columns[at]!.from, to: columns[at + 1]!.to });
  for (let at = 0; at < columns.length; ) {
    const { from, to } = columns[at]!;
    const nearest = Math.min(distance(at - 1), distance(at));
    const named = header.slice(from, to).trim() !== '';
    let held = false;
    for (let position = from; position < to && !held; position++) held = hasCells(position);
    // The first column may lack a name: it numbers the rows.
    const isPart = (!named && at > 0) || ((!named || !held) && nearest === 1);
    if (isPart && columns.length > 1) {
      const left = distance(at - 1) <= distance(at);
      joinNext(left ? at - 1 : at);
      if (left) at--;
    } else at++;
  }
  if (!columns.some((_, at) => distance(at) > 1 && at + 1 < columns.length)) return;
  for (let at = 0; at + 1 < columns.length; )
    if (distance(at) === 1 && areWords(header, rows, columns[at]!, columns[at + 1]!, tolerated)) joinNext(at);
    else at++;
}

/** Whether all lines have one blank where other columns have more, and not two numbers beside it. */
function areWords(header: string, rows: readonly string[], left: Range, right: Range, tolerated: number): boolean {
  const both = (line: string) => line.slice(left.from, right.to).trim();
  if (hasColumns(both(header)) || rows.filter((line) => hasColumns(both(line))).length > tolerated) return false;
  return ![left, right].every(({ from, to }) => isValued(rows.map((line) => line.slice(from, to).trim())));
}

/** Where to cut a line within a gap: at the widest run of blanks. A text may reach into the gap from one side. */
function cutWithin(line: string, { from, to }: Range): number | null {
  let cut: number | null = null;
  let widest = 0;
  let at = from;
  while (at < to) {
    const start = at;
    while (at < to && (line[at] ?? ' ') === ' ') at++;
    if (at - start >= Math.max(1, widest)) {
      widest = at - start;
      cut = start;
    }
    at++;
  }
  if (cut === null) return null;
  const fromBothSides = (line[from] ?? ' ') !== ' ' && (line[to - 1] ?? ' ') !== ' ';
  return fromBothSides && widest < 2 ? null : cut;
}

/** Whether two or more blanks separate parts of the line. */
function hasColumns(line: string): boolean {
  return line.trim().includes('  ');
}

function hasBlankWithin(line: string): boolean {
  return line.trim().includes(' ');
}
