/**
 * Quotes and the market's clock from a file that is replaced over time: tests, demonstrations and operators without a vendor control the
 * market with it. Polled every 50 ms; content that cannot be used is logged once, and the last valid content stays in use.
 */
import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { type Clock, monotonicMs, systemClock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { fromNano, toNano } from '../decimal.ts';
import { isoDate, type MarketHours, newYorkDay, sessionState } from './calendar.ts';
import { type FileAction, type MarketFileContent, MarketFileFault, parseMarketFile } from './market-file-content.ts';
import type { CorporateAction, Quote } from './port.ts';
import { parseSymbol, tickOf } from './symbol.ts';

export type MarketFileOptions = {
  path: string;
  hours: MarketHours;
  log: Log;
  system?: Clock;
  monotonic?: () => number;
  everyMs?: number;
};
/** `actions`: those that appeared with this content. */
export type NewContent = { sequence: number; actions: readonly CorporateAction[] };

const maxBytes = 8 * 1024 * 1024;
const defaultEveryMs = 50;

type Reading = { content: MarketFileContent; sequence: number; marketMs: number; monotonicMs: number; actions: CorporateAction[] };

export class MarketFile {
  /** The file's `now`, advanced since it was read, or the system's clock if the file has none. Goes back if a later content says so. */
  readonly clock: Clock = { nowMs: () => this.now() };
  private reading: Reading | null = null;
  private text: string | null = null;
  private mark = '';
  private fault = '';
  private readonly appearances = new Map<string, number>();
  private readonly listeners = new Set<(content: NewContent) => void>();
  private readonly options: Required<MarketFileOptions>;
  private timer: NodeJS.Timeout | null = null;
  private polling: Promise<void> = Promise.resolve();
  private isClosed = false;

  private constructor(options: MarketFileOptions) {
    this.options = { system: systemClock, monotonic: monotonicMs, everyMs: defaultEveryMs, ...options };
  }

  /** Polls the file from now on; `polled` resolves after the first poll. Until a valid file exists no symbol is known. */
  static open(options: MarketFileOptions): MarketFile {
    const file = new MarketFile(options);
    // Synchronously: before content is read the clock is the system's, and days would end by it.
    try {
      file.takeFile(readBoundedSync(options.path));
    } catch (error) {
      file.failed(error);
    }
    file.schedulePoll();
    return file;
  }

  /** The current poll, or the last one. */
  get polled(): Promise<void> {
    return this.polling;
  }

  /** null for a symbol that the file does not have. */
  quote(symbol: string): Quote | null {
    const found = this.reading?.content.quotes.get(symbol);
    const instrument = parseSymbol(symbol);
    if (this.reading === null || found === undefined || instrument === null) return null;
    const { bid, ask, last, volume, atMs } = found;
    return {
      symbol,
      assetClass: instrument.assetClass,
      bid,
      ask,
      last,
      volume,
      atMs: atMs ?? this.reading.marketMs,
      ...sessionState(instrument.assetClass, this.options.hours, this.now()),
      tick: fromNano(tickOf(instrument, toNano(last))),
      source: 'file',
      sequence: this.reading.sequence,
    };
  }

  symbols(): string[] {
    return [...(this.reading?.content.quotes.keys() ?? [])];
  }

  /** The corporate actions of the current content. */
  actions(): readonly CorporateAction[] {
    return this.reading?.actions ?? [];
  }

  /** Whether content was read: before that there is no price, and the clock may differ from the market's. */
  get hasContent(): boolean {
    return this.reading !== null;
  }

  /** Called with every new content, once it is in use. Returns a function that ends the calls. */
  onContent(listener: (content: NewContent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Polls the file now. Resolves when its content is in use, or is found invalid. */
  poll(): Promise<void> {
    this.polling = this.polling.then(() => this.pollOnce());
    return this.polling;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.listeners.clear();
    await this.polling;
  }

  private schedulePoll(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      void this.poll().then(() => this.schedulePoll());
    }, this.options.everyMs);
  }

  private async pollOnce(): Promise<void> {
    try {
      const { path } = this.options;
      const there = markOf(await stat(path, { bigint: true }));
      if (there !== this.mark) this.takeFile(await readBounded(path));
    } catch (error) {
      this.failed(error);
    }
  }

  private takeFile({ mark, text, changedUs }: FileRead): void {
    this.mark = mark;
    if (text !== this.text) this.take(text, parseMarketFile(text), changedUs);
    this.fault = '';
  }

  /** An unexpected error is logged as any other failure: the last valid content stays, and the next poll tries again. */
  private failed(error: unknown): void {
    const { path, log } = this.options;
    const fault = error instanceof MarketFileFault ? error.message : String((error as NodeJS.ErrnoException).code ?? error);
    if (fault !== this.fault) log.warn({ path, fault }, 'market data file cannot be used; the last good content stays in force');
    this.fault = fault;
  }

  private take(text: string, content: MarketFileContent, changedUs: number): void {
    const { system, monotonic } = this.options;
    const readAtMs = monotonic();
    const marketMs = content.nowMs ?? system.nowMs();
    // When the file was put in this place, in microseconds: the same on every node that reads it and after a restart, so nothing fills
    // twice on one content.
    const sequence = Math.max((this.reading?.sequence ?? 0) + 1, changedUs);
    const before = new Map((this.reading?.actions ?? []).map((action) => [action.id, action]));
    const actions = this.named(content.actions, marketMs, before);
    this.reading = { content, sequence, marketMs, monotonicMs: readAtMs, actions };
    this.text = text;
    const appeared = actions.filter(({ id }) => !before.has(id));
    for (const listener of this.listeners) this.notify(listener, { sequence, actions: appeared });
  }

  private notify(listener: (content: NewContent) => void, content: NewContent): void {
    try {
      listener(content);
    } catch (err) {
      this.options.log.error({ err }, 'a listener of the market data file failed');
    }
  }

  /**
   * An action keeps its identity while it stays in the file. If it is removed and added again, it is a new one: the number at the end of
   * its id counts these, from the start of this process. With an `id` in the file, it is always the same action.
   */
  private named(actions: readonly FileAction[], marketMs: number, before: ReadonlyMap<string, CorporateAction>): CorporateAction[] {
    const alike = new Map<string, number>();
    return actions.map((action) => {
      const value = action.type === 'split' ? action.ratio : action.amount;
      const kind = `${action.type}:${action.symbol}:${value}`;
      const n = (alike.get(kind) ?? 0) + 1;
      alike.set(kind, n);
      const slot = `${kind}:${n}`;
      const given = action.id;
      let id = given ?? `${slot}:${this.appearances.get(slot) ?? 0}`;
      if (given === undefined && !before.has(id)) {
        this.appearances.set(slot, (this.appearances.get(slot) ?? 0) + 1);
        id = `${slot}:${this.appearances.get(slot)}`;
      }
      const known = before.get(id);
      if (known !== undefined) return known;
      const place = { id, symbol: action.symbol, date: isoDate(newYorkDay(marketMs)), effectiveMs: marketMs };
      return action.type === 'split'
        ? { ...place, type: action.type, ratio: action.ratio }
        : { ...place, type: action.type, amount: action.amount };
    });
  }

  private now(): number {
    const { system, monotonic } = this.options;
    if (this.reading?.content.nowMs == null) return system.nowMs();
    return Math.floor(this.reading.marketMs + monotonic() - this.reading.monotonicMs);
  }
}

type FileRead = { mark: string; text: string; changedUs: number };

/** What a poll compares: changes for another file, or another version of it. */
function markOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino}/${size}/${mtimeNs}`;
}

/** Reads text and times of the same file, also if another file takes its place meanwhile. */
async function readBounded(path: string): Promise<FileRead> {
  const handle = await open(path, 'r');
  try {
    const stats = await handle.stat({ bigint: true });
    const buffer = Buffer.alloc(bufferBytes(stats));
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0 || (length += bytesRead) === buffer.length) break;
    }
    return fileRead(stats, buffer, length);
  } finally {
    await handle.close();
  }
}

function readBoundedSync(path: string): FileRead {
  const handle = openSync(path, 'r');
  try {
    const stats = fstatSync(handle, { bigint: true });
    const buffer = Buffer.alloc(bufferBytes(stats));
    let length = 0;
    for (;;) {
      const bytesRead = readSync(handle, buffer, length, buffer.length - length, length);
      if (bytesRead === 0 || (length += bytesRead) === buffer.length) break;
    }
    return fileRead(stats, buffer, length);
  } finally {
    closeSync(handle);
  }
}

function bufferBytes({ size }: BigIntStats): number {
  return Math.min(Number(size) + 1, maxBytes + 1);
}

function fileRead(stats: BigIntStats, buffer: Buffer, length: number): FileRead {
  if (length > maxBytes) throw new MarketFileFault(`has more than ${maxBytes} bytes`);
  return { mark: markOf(stats), text: buffer.toString('utf8', 0, length), changedUs: Number(stats.ctimeNs / 1_000n) };
}
