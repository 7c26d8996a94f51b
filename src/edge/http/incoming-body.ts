/**
 * The body of one request while it arrives. Until the body is read (authentication may wait for the database), a limited part is kept; then
 * the sender is paused.
 *
 * uWS closes a connection that sends less than 160 KB in 10 s. Pausing and resuming restarts those 10 s, so a slow sender has until the
 * reader's deadline as long as some data arrives; a sender without data is still disconnected after about 10 s.
 */
import { monotonicMs } from '../../clock.ts';
import type { BodyReader, RequestBody } from './message.ts';

/** The functions of the connection that are used. */
export interface BodySocket {
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): unknown;
  pause(): void;
  resume(): void;
  close(): unknown;
}

const keptBytesMax = 64 * 1024;
const extendAfterMs = 3_000;

export class IncomingBody implements RequestBody {
  readonly declaredBytes: number | null;
  /** Whether the whole body has arrived. */
  complete = false;
  private readonly socket: BodySocket;
  private kept: Buffer[] = [];
  private keptBytes = 0;
  private reader: BodyReader | null = null;
  private paused = false;
  private closed = false;
  private extendedAtMs = monotonicMs();
  private deadlineMs = Number.POSITIVE_INFINITY;

  constructor(socket: BodySocket, declaredBytes: number | null) {
    this.socket = socket;
    this.declaredBytes = declaredBytes;
    socket.onData((chunk, last) => this.receive(Buffer.from(chunk), last));
  }

  read(reader: BodyReader, withinMs: number): void {
    this.deadlineMs = monotonicMs() + withinMs;
    this.reader = reader;
    if (this.closed) return reader.aborted();
    const kept = this.kept;
    this.kept = [];
    kept.forEach((bytes, i) => {
      reader.data(bytes, this.complete && i === kept.length - 1);
    });
    this.resume();
  }

  pause(): void {
    if (this.paused || this.closed || this.complete) return;
    this.paused = true;
    this.socket.pause();
  }

  resume(): void {
    if (!this.paused || this.closed) return;
    this.paused = false;
    this.extendedAtMs = monotonicMs();
    this.socket.resume();
  }

  /** The answer is about to end: no more data is passed on; the server discards what still arrives. */
  finish(): void {
    this.resume();
    this.closed = true;
    this.kept = [];
  }

  abort(): void {
    if (this.closed) return;
    this.closed = true;
    this.kept = [];
    if (!this.complete) this.reader?.aborted();
  }

  private receive(bytes: Buffer, last: boolean): void {
    if (this.closed) return;
    this.complete = last;
    if (this.reader !== null) this.reader.data(bytes, last);
    else this.keep(bytes);
    if (!last) this.extendTimeout();
  }

  private keep(bytes: Buffer): void {
    this.kept.push(Buffer.from(bytes));
    this.keptBytes += bytes.length;
    if (this.keptBytes > keptBytesMax) this.pause();
  }

  private extendTimeout(): void {
    if (this.closed || this.paused) return;
    const nowMs = monotonicMs();
    if (nowMs > this.deadlineMs) {
      this.socket.close();
    } else if (nowMs - this.extendedAtMs > extendAfterMs) {
      this.extendedAtMs = nowMs;
      this.socket.pause();
      this.socket.resume();
    }
  }
}
