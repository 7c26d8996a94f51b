/**
 * Outgoing frames of one link. They wait for the end of the event loop's tick, so that many share a message, and for credit: the number of
 * bytes that the other side can process.
 *
 * Q1 Frames leave in the order in which they were queued; control frames overtake, and need no credit, so that credit itself never waits
 *    for credit.
 * Q2 A batch is started only while there is credit. It may overdraw by one frame, so that a frame larger than the window can be sent.
 * Q3 Both sides count the bytes of whole batches, so they agree on the credit.
 */
import { monotonicMs } from '../../clock.ts';
import type { Bounds } from './bounds.ts';
import { maxPieceBytes, type Parcel } from './contract.ts';
import type { TransportCounters } from './counters.ts';

/** A frame that is encoded when it is sent; null: it is no longer needed. */
export interface DeferredFrame {
  readonly chars: number;
  encode(nowMs: number): string | null;
}

export class SendQueue {
  private queue: (string | DeferredFrame)[] = [];
  private head = 0;
  private queuedChars = 0;
  private control = '';
  private controlFrames = 0;
  private credit: number;
  private flushing = false;
  private closed = false;
  private readonly write: (parcel: Parcel) => void;
  private readonly bounds: Bounds;
  private readonly counters: TransportCounters;

  constructor(write: (parcel: Parcel) => void, { bounds, counters }: { bounds: Bounds; counters: TransportCounters }) {
    this.write = write;
    this.bounds = bounds;
    this.counters = counters;
    this.credit = bounds.windowBytes;
  }

  get isEmpty(): boolean {
    return this.head === this.queue.length && this.control === '';
  }

  /** Whether a frame of so many characters fits into the bound of this queue, or into so many times the bound. */
  hasCapacity(chars: number, factor = 1): boolean {
    return this.head === this.queue.length || this.queuedChars + chars <= factor * this.bounds.queueChars;
  }

  push(frame: string | DeferredFrame): void {
    this.queue.push(frame);
    this.queuedChars += typeof frame === 'string' ? frame.length : frame.chars;
    this.flushSoon();
  }

  pushControl(frame: string): void {
    this.control = this.control === '' ? frame : `${this.control},${frame}`;
    this.controlFrames++;
    this.flushSoon();
  }

  /** The other side has processed so many bytes. */
  grant(bytes: number): void {
    this.credit += bytes;
    if (this.head < this.queue.length) this.flushSoon();
  }

  /** Waiting frames are dropped. */
  close(): void {
    this.closed = true;
    this.queue = [];
    this.head = 0;
    this.control = '';
  }

  /** Sends as much as the credit allows. Called at the end of a tick in which frames were queued or credit arrived. */
  readonly flush = (): void => {
    this.flushing = false;
    const nowMs = monotonicMs();
    while (!this.closed && (this.control !== '' || (this.head < this.queue.length && this.credit > 0))) this.sendBatch(nowMs);
    if (this.head === this.queue.length) {
      this.queue.length = 0;
      this.head = 0;
    } else if (!this.closed) {
      this.counters.creditStalls++;
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  };

  private flushSoon(): void {
    if (this.flushing || this.closed) return;
    this.flushing = true;
    setImmediate(this.flush);
  }

  private sendBatch(nowMs: number): void {
    const { queue } = this;
    const longest = Math.min(maxPieceBytes, this.credit);
    let text = this.control;
    let frames = this.controlFrames;
    this.control = '';
    this.controlFrames = 0;
    while (this.head < queue.length && text.length < longest) {
      const next = queue[this.head]!;
      const isDeferred = typeof next !== 'string';
      const chars = isDeferred ? next.chars : next.length;
      // A large frame is sent alone, so that small frames before it do not wait for its pieces.
      if (frames > 0 && text.length + chars > maxPieceBytes) break;
      queue[this.head++] = '';
      this.queuedChars -= chars;
      const frame = isDeferred ? next.encode(nowMs) : next;
      if (frame === null) continue;
      text = frames === 0 ? frame : `${text},${frame}`;
      frames++;
    }
    if (frames === 0) return;
    const batch = Buffer.from(`[${text}]`);
    this.credit -= batch.length;
    this.counters.batchesSent++;
    this.counters.framesSent += frames;
    this.counters.bytesSent += batch.length;
    let from = 0;
    for (; batch.length - from > maxPieceBytes; from += maxPieceBytes) this.write({ piece: batch.subarray(from, from + maxPieceBytes) });
    this.write({ batch: from === 0 ? batch : batch.subarray(from) });
  }
}
