/** Access logs of web servers (the common and the combined format) as tables. Scanned by hand: each line is read once. */
import type { Readable } from 'node:stream';
import type { Cell } from './cell.ts';
import type { Encoding } from './encoding.ts';
import { eachLine, maxLineChars } from './lines.ts';

const columns = ['host', 'user', 'time', 'method', 'path', 'status', 'bytes'];
const combined = ['referrer', 'agent'];
const linesLookedAt = 5;

/** The columns' names if the text begins like an access log; otherwise null. */
export function webLogColumns(sample: string): string[] | null {
  const lines = sample
    .slice(0, 64 * 1024)
    .split('\n', linesLookedAt)
    .filter((line) => line.trim() !== '');
  const parsed = lines.map((line) => parseLogLine(line));
  if (lines.length < 2 || parsed.filter((cells) => cells !== null).length < lines.length - 1) return null;
  return parsed.some((cells) => cells !== null && cells.length > columns.length) ? [...columns, ...combined] : columns;
}

/** Calls `onRow` with the cells of each log line, and returns the number of other lines. */
export async function eachLogRow(
  source: Readable,
  encoding: Encoding,
  onRow: (cells: Cell[]) => void,
  signal?: AbortSignal,
): Promise<{ otherLines: number }> {
  let otherLines = 0;
  const take = (line: string) => {
    if (line.trim() === '') return;
    const cells = line.length > maxLineChars ? null : parseLogLine(line);
    if (cells === null) otherLines++;
    else onRow(cells);
  };
  await eachLine(source, encoding, take, signal);
  return { otherLines };
}

/** `host ident user [time] "METHOD path HTTP/1.1" status bytes "referrer" "agent"`. */
function parseLogLine(line: string): Cell[] | null {
  const open = line.indexOf('[');
  const close = line.indexOf(']', open + 1);
  if (open < 5 || open > 400 || close < 0 || close - open > 40) return null;
  const head = line.slice(0, open).trim().split(' ');
  if (head.length < 3) return null;
  const start = line.indexOf('"', close);
  const end = line.indexOf('" ', start + 1);
  if (start < 0 || end < 0) return null;
  const [method, path] = line.slice(start + 1, end).split(' ');
  const rest = line.slice(end + 2).split(' ', 2);
  if (rest.length < 2 || !/^\d{3}$/.test(rest[0]!)) return null;
  const bytes = rest[1]!.trim();
  const cells: Cell[] = [
    head[0]!,
    head[2] === '-' ? null : head[2]!,
    line.slice(open + 1, close),
    method ?? null,
    path ?? null,
    rest[0]!,
    bytes,
  ];
  const quoted = line.slice(end + 2).split('"');
  if (quoted.length >= 4) cells.push(quoted[1] === '-' ? null : quoted[1]!, quoted[3] === '-' ? null : quoted[3]!);
  return cells;
}
