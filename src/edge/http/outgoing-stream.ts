/** Sends a stream as an answer's body, no faster than the client reads it. */
import type { Readable } from 'node:stream';
import { monotonicMs } from '../../clock.ts';
import type { ResponseSocket } from './exchange.ts';

/** The connection is closed when the reader accepts nothing, or the source provides nothing, for this long. */
const stalledAfterMs = 60_000;
/** uWS closes a connection 10 s after its last write; pausing and resuming restarts those 10 s. */
const extendEveryMs = 4_000;

export class OutgoingStream {
  private readonly socket: ResponseSocket;
  private readonly source: Readable;
  private readonly totalBytes: number | undefined;
  private readonly close: boolean;
  private readonly ended: () => void;
  private readonly pulse: NodeJS.Timeout;
  private done = false;
  private sourceEnded = false;
  /** A chunk that uWS accepted only in part, and its offset in the body. */
  private waiting: Buffer | null = null;
  private waitingFrom = 0;
  private writtenBytes = 0;
  private movedAtMs = monotonicMs();

  /**
   * Starts sending; status and headers are written already. Where the source fails, or is longer or shorter than `totalBytes`, the
   * connection is cut: the client sees an incomplete answer, never a short one that looks complete.
   *
   * @param totalBytes sent as Content-Length; without it the body goes out in chunks
   * @param ended called once when the answer is complete; not when the connection is cut
   */
  constructor(socket: ResponseSocket, source: Readable, totalBytes: number | undefined, close: boolean, ended: () => void) {
    this.socket = socket;
    this.source = source;
    this.totalBytes = totalBytes;
    this.close = close;
    this.ended = ended;
    this.pulse = setInterval(() => this.extendTimeout(), extendEveryMs);
    socket.onWritable((offset) => this.writable(offset));
    source.on('error', () => this.cut());
    source.on('data', (chunk: Buffer) => this.writeChunk(chunk));
    source.on('end', () => this.finishSource());
    source.on('close', () => {
      if (!this.sourceEnded) this.cut();
    });
  }

  /** The client has disconnected. */
  abort(): void {
    this.done = true;
    clearInterval(this.pulse);
    this.source.destroy();
  }

  private writeChunk(chunk: Buffer): void {
    if (this.done) return;
    this.movedAtMs = monotonicMs();
    this.writtenBytes += chunk.length;
    if (this.totalBytes !== undefined && this.writtenBytes > this.totalBytes) return this.cut();
    this.socket.cork(() => {
      const isWritten = this.totalBytes === undefined ? this.socket.write(chunk) : this.pushSized(chunk, this.totalBytes);
      if (!isWritten) this.source.pause();
    });
  }

  private writable(offset: number): boolean {
    if (this.done) return true;
    this.movedAtMs = monotonicMs();
    if (this.waiting !== null) {
      if (!this.pushSized(this.waiting.subarray(offset - this.waitingFrom), this.totalBytes!)) return false;
      if (this.sourceEnded && !this.done) this.cut();
    }
    this.source.resume();
    return true;
  }

  private pushSized(chunk: Buffer, totalBytes: number): boolean {
    this.waitingFrom = this.socket.getWriteOffset();
    const [taken, complete] = this.socket.tryEnd(chunk, totalBytes);
    this.waiting = taken || complete ? null : chunk;
    if (complete) this.finish();
    return taken || complete;
  }

  private finishSource(): void {
    this.sourceEnded = true;
    if (this.done) return;
    if (this.totalBytes === undefined || this.totalBytes === 0) {
      this.finish();
      this.socket.cork(() => this.socket.end(undefined, this.close));
    } else if (this.waiting === null) {
      this.cut();
    }
  }

  private finish(): void {
    this.done = true;
    clearInterval(this.pulse);
    this.ended();
  }

  private cut(): void {
    if (this.done) return;
    this.abort();
    this.socket.close();
  }

  private extendTimeout(): void {
    if (monotonicMs() - this.movedAtMs > stalledAfterMs) return this.cut();
    this.socket.pause();
    this.socket.resume();
  }
}
