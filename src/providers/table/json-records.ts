/**
 * Streams the records of a JSON file: an array of objects, an object that contains one (`{"data": […]}`), JSON lines, or one object. The
 * text is split between records and each is parsed alone, so memory is bounded by the longest record.
 */

import type { Readable } from 'node:stream';
import { ToolError } from '../../errors.ts';
import type { Encoding } from './encoding.ts';
import { paced } from './paced.ts';

export type JsonShape = 'array' | 'nested_array' | 'lines';

const maxRecordChars = 4 * 1024 * 1024;
const deepestNesting = 500;
const brokenShown = 5;

/** The position of the records, from the beginning of the text. */
export function detectJsonShape(sample: string): JsonShape {
  const text = sample.trimStart();
  if (text.startsWith('[')) return 'array';
  // An object whose first line is complete JSON is a JSON lines file, even if a record contains an array.
  const firstLine = text.slice(0, text.search(/\r?\n|$/));
  try {
    JSON.parse(firstLine);
    const whole = text.slice(firstLine.length).trim() === '';
    return whole && /:\s*\[\s*[{[]/.test(firstLine) ? 'nested_array' : 'lines';
  } catch {
    return /:\s*\[\s*[{[]/.test(text) ? 'nested_array' : 'lines';
  }
}

/** Calls `onRecord` with each parsed record. Rejects with `ToolError` for text that is not JSON, with the record's number. */
export async function eachJsonRecord(
  source: Readable,
  encoding: Encoding,
  shape: JsonShape,
  onRecord: (record: unknown) => void,
  signal?: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder(encoding);
  const cutter = new RecordCutter(shape, onRecord);
  for await (const chunk of paced(source, signal)) cutter.add(decoder.decode(chunk, { stream: true }));
  cutter.add(decoder.decode());
  cutter.end();
}

/**
 * The whole content of a file that fits into memory: its JSON value, or the list of records of JSON lines. Single broken lines are left out
 * and reported to `onBroken`. Rejects with `ToolError` for text that is not JSON.
 */
export async function wholeJson(
  source: Readable,
  encoding: Encoding,
  shape: JsonShape,
  onBroken: (note: string) => void,
  signal?: AbortSignal,
): Promise<unknown> {
  const decoder = new TextDecoder(encoding);
  const pieces: string[] = [];
  for await (const chunk of paced(source, signal)) pieces.push(decoder.decode(chunk, { stream: true }));
  pieces.push(decoder.decode());
  const text = pieces.join('');
  if (isShallow(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // JSON lines, or broken: the cutter determines which, and where.
    }
  }
  const records: unknown[] = [];
  const cutter = new RecordCutter(shape, (record) => records.push(record));
  try {
    cutter.add(text);
    cutter.end();
    return records;
  } catch (error) {
    const lines = shape === 'lines' ? goodLines(text) : null;
    if (lines === null) throw error;
    onBroken(lines.note);
    return lines.records;
  }
}

/** Records with one line each, without the broken lines; null if fewer than four of five lines are records. */
function goodLines(text: string): { records: unknown[]; note: string } | null {
  const records: unknown[] = [];
  const broken: { line: number; text: string }[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const record = isShallow(line) ? recordIn(line) : null;
    if (record === null) broken.push({ line: i + 1, text: line.trim() });
    else records.push(record);
  }
  if (records.length < 2 || broken.length === 0 || broken.length * 4 > records.length) return null;
  const named = broken.slice(0, brokenShown).map(({ line, text: written }) => `line ${line} ("${written.slice(0, 40)}")`);
  const more = broken.length > brokenShown ? ` and ${broken.length - brokenShown} more` : '';
  return {
    records,
    note: `${broken.length} of ${broken.length + records.length} lines ${broken.length === 1 ? 'is' : 'are'} not valid JSON and left out: ${named.join(', ')}${more}.`,
  };
}

function recordIn(line: string): object | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Values nested deeper than any table are not parsed whole: recursive code would overflow the stack. */
function isShallow(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 92) i++;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 123 || code === 91) {
      if (++depth > deepestNesting) return false;
    } else if (code === 125 || code === 93) depth--;
  }
  return true;
}

/** Tracks only strings and brackets. JSON.parse validates each piece. */
class RecordCutter {
  private readonly onRecord: (record: unknown) => void;
  private readonly shape: JsonShape;
  /** Depth at which records begin; for a nested array set once the array was found. */
  private base: number;
  private depth = 0;
  /** The open brackets, outermost first. */
  private open: number[] = [];
  private inString = false;
  private escaped = false;
  /** Whether the list of records has begun or ended. */
  private entered: 'searching' | 'inside' | 'left';
  private kept = '';
  private recording = false;
  private count = 0;
  private sawText = false;

  constructor(shape: JsonShape, onRecord: (record: unknown) => void) {
    this.shape = shape;
    this.onRecord = onRecord;
    this.base = shape === 'lines' ? 0 : shape === 'array' ? 1 : 2;
    this.entered = shape === 'lines' ? 'inside' : 'searching';
  }

  add(text: string): void {
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (code === 92) this.escaped = true;
        else if (code === 34) this.inString = false;
        continue;
      }
      if (code === 32 || code === 10 || code === 13 || code === 9 || code === 0xfeff) {
        // A scalar or a broken object of JSON lines ends at the end of the line.
        if (this.shape === 'lines' && code === 10 && this.recording && this.depth === 0) {
          this.finish(text.slice(from, i));
        }
        continue;
      }
      if (this.entered === 'left' && this.depth === 0) throw this.broken('there is text after its end');
      this.sawText = true;
      const atBase = this.depth === this.base && this.entered === 'inside';
      if (atBase && !this.recording && code !== 44 && code !== 93 && code !== 125) {
        if (this.shape === 'nested_array' && this.count === 0 && code !== 123 && code !== 91) {
          // A list of plain values beside the list of records: continue the search.
          this.entered = 'searching';
        } else {
          this.recording = true;
          from = i;
        }
      }
      if (atBase && code === 44 && this.recording && this.shape !== 'lines') {
        this.finish(text.slice(from, i));
        continue;
      }
      if (code === 34) this.inString = true;
      else if (code === 123 || code === 91) {
        this.depth = this.open.push(code);
        if (this.depth > deepestNesting) throw this.broken(`it is nested more than ${deepestNesting} levels deep`);
        if (code === 91 && this.entered === 'searching' && this.depth === this.base) this.entered = 'inside';
      } else if (code === 125 || code === 93) {
        if (atBase && this.recording && this.shape !== 'lines') this.finish(text.slice(from, i));
        // In ASCII the code of each closing bracket is two more than its opening one.
        if (this.open.pop() !== code - 2) throw this.broken('a bracket closes that was not opened');
        this.depth = this.open.length;
        if (this.depth === this.base && this.recording && this.shape === 'lines') {
          this.finish(text.slice(from, i + 1));
          from = i + 1;
        }
        if (this.depth < this.base && this.entered === 'inside' && this.shape !== 'lines') this.entered = 'left';
      }
    }
    if (this.recording) {
      this.kept += text.slice(from);
      if (this.kept.length > maxRecordChars)
        throw new ToolError(`Record ${this.count + 1} is longer than ${maxRecordChars} characters; this is no table that can be read.`);
    }
  }

  end(): void {
    if (this.recording && this.shape === 'lines') this.finish('');
    if (this.inString || this.depth !== 0) throw this.broken('it ends in the middle of a value');
    if (this.sawText && this.entered === 'searching') throw new ToolError('The JSON holds no list of records to profile.');
  }

  private finish(rest: string): void {
    const text = this.kept + rest;
    this.kept = '';
    this.recording = false;
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch {
      throw this.broken(`"${text.trim().slice(0, 60)}" cannot be read`);
    }
    this.count++;
    this.onRecord(record);
  }

  private broken(why: string): ToolError {
    return new ToolError(`The file is not valid JSON at record ${this.count + 1}: ${why}.`);
  }
}
