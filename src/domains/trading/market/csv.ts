/**
 * Reads bars from a CSV file: `date,open,high,low,close,volume` in any order of columns. The file is read once, in chunks, and only the
 * bars of the period are kept; but every line is checked, and an error names its line number.
 */
import { setImmediate as yieldOnce } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { monotonicMs } from '../../../clock.ts';
import { type BarColumns, barFields, cutBars } from '../bars.ts';
import { emptyBars, maxBars } from './bars.ts';
import { type DayNumber, msPerDay, parseDate } from './calendar.ts';
import type { Bars, Timeframe } from './port.ts';
import type { AssetClass } from './symbol.ts';

/** A fault of the file's content; the message says where. */
export class BarsFileFault extends Error {
  override name = 'BarsFileFault';
}

export type BarsFileRequest = {
  symbol: string;
  assetClass: AssetClass;
  /** First and last UTC date, inclusive. `YYYY-MM-DD`; null: from the first bar, to the last. */
  start: string | null;
  end: string | null;
  /** null: taken from the file. */
  timeframe: Timeframe | null;
};

const names = ['date', 'open', 'high', 'low', 'close', 'volume'] as const;
const maxLineChars = 1_024;
const pieceBytes = 64 * 1024;
const yieldEveryMs = 10;
const minBars = 2;
const numberForm = /^[+-]?[0-9.]{1,40}([eE][+-]?[0-9]{1,3})?$/;

/** Rejects with `BarsFileFault` for the first fault of the content, and with the errors of the source. */
export async function readBarsCsv(source: AsyncIterable<Uint8Array>, request: BarsFileRequest): Promise<Bars> {
  const rows = new Rows(request);
  const lines = new Lines((line) => rows.take(line));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let yieldedAtMs = monotonicMs();
  for await (const chunk of source) {
    for (let from = 0; from < chunk.length; from += pieceBytes) {
      lines.write(decoded(decoder, rows, chunk.subarray(from, from + pieceBytes)));
      if (monotonicMs() - yieldedAtMs < yieldEveryMs) continue;
      await yieldOnce();
      yieldedAtMs = monotonicMs();
    }
  }
  lines.write(decoded(decoder, rows, null));
  lines.end();
  return rows.end();
}

/** Removes a byte order mark. */
function decoded(decoder: TextDecoder, rows: Rows, bytes: Uint8Array | null): string {
  try {
    return bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    const [before = ''] = new TextDecoder().decode(bytes ?? new Uint8Array()).split('\ufffd');
    throw new BarsFileFault(`line ${rows.line + before.split('\n').length}: the text is not UTF-8`);
  }
}

/** Splits a text that arrives in chunks into lines, without line ends. */
class Lines {
  private rest = '';
  private readonly onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.onLine = onLine;
  }

  write(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.emitLine(this.rest + text.slice(from, end));
      this.rest = '';
      from = end + 1;
    }
    this.rest += text.slice(from);
    // The caller refuses a line that is too long.
    if (this.rest.length > maxLineChars + 1) this.onLine(this.rest);
  }

  end(): void {
    if (this.rest !== '') this.emitLine(this.rest);
  }

  private emitLine(line: string): void {
    this.onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}

class Rows {
  line = 0;
  private columns: BarColumns = emptyBars(1_024);
  private length = 0;
  /** The position of each of `names` in a row; null before the header is read. */
  private places: number[] | null = null;
  private withTime: boolean | null = null;
  private lastMs = Number.NEGATIVE_INFINITY;
  private smallestStepMs = Number.POSITIVE_INFINITY;
  private emptyAt: number | null = null;
  private dayText = '';
  private day: DayNumber | null = null;
  private readonly fromMs: number;
  private readonly toMs: number;
  private readonly request: BarsFileRequest;

  constructor(request: BarsFileRequest) {
    this.request = request;
    this.fromMs = request.start === null ? Number.NEGATIVE_INFINITY : dateMs(request.start);
    this.toMs = request.end === null ? Number.POSITIVE_INFINITY : dateMs(request.end) + msPerDay;
  }

  take(line: string): void {
    this.line++;
    if (line.length > maxLineChars) throw this.fault(`has more than ${maxLineChars} characters`);
    if (line === '') {
      this.emptyAt ??= this.line;
      return;
    }
    // The file may end with empty lines.
    if (this.emptyAt !== null) throw new BarsFileFault(`line ${this.emptyAt}: is empty`);
    const cells = line.includes('"') ? this.unquoted(line) : line.split(',');
    if (this.places === null) this.places = this.header(cells);
    else this.row(cells, this.places);
  }

  end(): Bars {
    const { symbol, assetClass, start, end } = this.request;
    if (this.places === null) throw new BarsFileFault(`line 1: the file is empty, and must begin with ${names.join()}`);
    if (this.length < minBars) {
      const period = start === null && end === null ? 'The file' : `The period from ${start ?? 'the first bar'} to ${end ?? 'the last'}`;
      throw new BarsFileFault(`${period} has ${this.length === 0 ? 'no bars' : 'one bar'}; the minimum is ${minBars}`);
    }
    const bars = cutBars(this.columns, 0, this.length);
    return { symbol, assetClass, timeframe: this.timeframe(), source: 'csv', adjusted: false, bars };
  }

  private header(cells: string[]): number[] {
    const given = cells.map((cell) => cell.trim());
    const places = names.map((name) => given.indexOf(name));
    if (given.length !== names.length || places.includes(-1)) {
      throw this.fault(`the header is ${shown(given.join())}, and must have the columns ${names.join()}`);
    }
    return places;
  }

  private row(cells: string[], places: number[]): void {
    if (cells.length !== names.length) throw this.fault(`has ${cells.length} cells instead of ${names.length}`);
    const cell = (n: number) => cells[places[n]!]!.trim();
    const time = this.time(cell(0));
    const open = this.price('open', cell(1));
    const high = this.price('high', cell(2));
    const low = this.price('low', cell(3));
    const close = this.price('close', cell(4));
    const volume = this.number('volume', cell(5));
    if (volume < 0) throw this.fault(`volume is ${volume}, below 0`);
    if (high < Math.max(open, close)) throw this.fault(`high ${high} is below ${open > close ? 'open' : 'close'} ${Math.max(open, close)}`);
    if (low > Math.min(open, close)) throw this.fault(`low ${low} is above ${open < close ? 'open' : 'close'} ${Math.min(open, close)}`);
    if (time < this.fromMs || time >= this.toMs) return;
    if (this.length === maxBars) throw this.fault(`the period has more than ${maxBars} bars`);
    this.keep({ time, open, high, low, close, volume });
  }

  private keep(row: Record<(typeof barFields)[number], number>): void {
    if (this.length > 0) this.smallestStepMs = Math.min(this.smallestStepMs, row.time - this.columns.time[this.length - 1]!);
    if (this.length === this.columns.time.length) {
      const larger = emptyBars(Math.min(maxBars, this.length * 2));
      for (const field of barFields) larger[field].set(this.columns[field]);
      this.columns = larger;
    }
    for (const field of barFields) this.columns[field][this.length] = row[field];
    this.length++;
  }

  private time(text: string): number {
    const timed = text.length > 10;
    if (timed && (text.length !== 20 || text[10] !== 'T' || !text.endsWith(':00Z'))) throw this.badDate(text);
    const dayText = timed ? text.slice(0, 10) : text;
    if (dayText !== this.dayText) {
      this.day = parseDate(dayText);
      this.dayText = dayText;
    }
    if (this.day === null) throw this.badDate(text);
    const minute = timed ? this.minute(text) : 0;
    if (this.withTime !== null && this.withTime !== timed)
      throw this.fault(`date is ${shown(text)}, ${timed ? 'with a time' : 'without time'}, unlike those before`);
    this.withTime = timed;
    const time = this.day * msPerDay + minute * 60_000;
    if (time <= this.lastMs)
      throw this.fault(
        `date ${shown(text)} is ${time === this.lastMs ? 'the same as' : 'before'} that of the line before; dates must ascend`,
      );
    this.lastMs = time;
    return time;
  }

  /** The timestamp of `2024-01-02T14:30:00Z`. */
  private minute(text: string): number {
    const [hour, minute] = [text.slice(11, 13), text.slice(14, 16)];
    const isTime = /^\d\d:\d\d$/.test(text.slice(11, 16)) && hour < '24' && minute < '60';
    if (!isTime) throw this.badDate(text);
    return Number(hour) * 60 + Number(minute);
  }

  private badDate(text: string): BarsFileFault {
    return this.fault(`date is ${shown(text)}, and must be like 2024-01-02 or 2024-01-02T14:30:00Z`);
  }

  private price(name: string, text: string): number {
    const value = this.number(name, text);
    if (value <= 0) throw this.fault(`${name} is ${text}, not above 0`);
    return value;
  }

  private number(name: string, text: string): number {
    const value = numberForm.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(value)) throw this.fault(`${name} is ${shown(text)}, which is no number`);
    return value;
  }

  /** Quotes as spreadsheets write them: around a whole cell, doubled inside. A line's end always ends the row. */
  private unquoted(line: string): string[] {
    const cells: string[] = [];
    let at = 0;
    for (;;) {
      let end = at;
      if (line[at] === '"') {
        end = line.indexOf('"', at + 1);
        while (end !== -1 && line[end + 1] === '"') end = line.indexOf('"', end + 2);
        if (end === -1) throw this.fault('a quote is not closed');
        cells.push(line.slice(at + 1, end).replaceAll('""', '"'));
        end++;
        if (end < line.length && line[end] !== ',') throw this.fault('text follows a closed quote');
      } else {
        end = line.indexOf(',', at);
        if (end === -1) end = line.length;
        cells.push(line.slice(at, end));
      }
      if (end >= line.length) return cells;
      at = end + 1;
    }
  }

  /** Derived from the smallest step between two bars in the period. */
  private timeframe(): Timeframe {
    const requested = this.request.timeframe;
    if (requested !== null && this.withTime !== (requested !== '1d')) {
      throw new BarsFileFault(
        `The file's dates are ${this.withTime ? 'with times' : 'without times'}, and the timeframe asked for is ${requested}`,
      );
    }
    if (requested !== null) return requested;
    const minutes = this.withTime ? this.smallestStepMs / 60_000 : 1_440;
    if (minutes >= 1_440) return '1d';
    return minutes >= 60 ? '1h' : minutes >= 5 ? '5m' : '1m';
  }

  private fault(problem: string): BarsFileFault {
    return new BarsFileFault(`line ${this.line}: ${problem}`);
  }
}

/** In quotes, on one line, of bounded length. */
function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function dateMs(text: string): number {
  const day = parseDate(text);
  if (day === null) throw new RangeError(`${text} is not a date`);
  return day * msPerDay;
}
