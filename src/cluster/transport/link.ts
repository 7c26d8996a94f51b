/**
 * An open stream to one peer: asks, replies and notifications in both directions. It begins after the handshake and ends once.
 *
 * L1 Frames are handled in the order in which the other side queued them.
 * L2 Credit is returned for processed batches, so a node that is blocked gets at most the window.
 * L3 When it ends, every open ask is settled and the signal of every ask being served is aborted.
 */
import { monotonicMs } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { within } from '../../within.ts';
import type { AnswerAsk } from '../peers.ts';
import type { RemoteAsk } from '../placement.ts';
import { type Bounds, fits } from './bounds.ts';
import type { Parcel } from './contract.ts';
import type { TransportCounters } from './counters.ts';
import {
  creditFrame,
  type Frame,
  frameType,
  goodbyeFrame,
  isBatch,
  notificationFrame,
  pingFrame,
  pongFrame,
  readFailure,
} from './frames.ts';
import { KeepAlive } from './keep-alive.ts';
import { OpenAsks } from './open-asks.ts';
import { SendQueue } from './send-queue.ts';
import { ServedAsks } from './served-asks.ts';
import type { Wire } from './wire.ts';

/** `closed`: one of the two sides has sent a goodbye frame. */
export type LinkEnd = { reason: 'broken' | 'silent' | 'closed'; detail: string };

/** The callbacks of a link. */
export type LinkHooks = {
  answer(): AnswerAsk | null;
  notified(kind: string, payload: unknown, from: string): void;
  ended(end: LinkEnd): void;
};

export type LinkContext = { log: Log; bounds: Bounds; counters: TransportCounters };

type Arrived = { readonly frames: Frame[]; handled: number; readonly bytes: number; readonly nowMs: number };

/** Most frames handled in one turn of the event loop: the first answers leave while later asks are handled, and other work gets its turn. */
const maxFramesPerTurn = 128;

export class Link {
  private readonly wire: Wire;
  private readonly from: string;
  private readonly hooks: LinkHooks;
  private readonly context: LinkContext;
  private readonly queue: SendQueue;
  private readonly asks: OpenAsks;
  private readonly served: ServedAsks;
  private readonly keepAlive: KeepAlive;
  private pieces: Buffer[] = [];
  private pieceBytes = 0;
  /** Batches that have arrived and are not completely handled. The window bounds them. */
  private arrived: Arrived[] = [];
  /** Whether frames were handled in this turn of the event loop. */
  private turn: 'free' | 'used' = 'free';
  /** Bytes processed since credit was last returned. */
  private processedBytes = 0;
  private leaving: 'no' | 'remote' | 'local' = 'no';
  private onDrained: (() => void) | null = null;
  private end: LinkEnd | null = null;

  /** @param from the peer's incarnation */
  constructor(wire: Wire, from: string, hooks: LinkHooks, context: LinkContext) {
    const { bounds } = context;
    this.wire = wire;
    this.from = from;
    this.hooks = hooks;
    this.context = context;
    this.queue = new SendQueue((parcel) => wire.write(parcel), context);
    this.asks = new OpenAsks(this.queue, context);
    this.served = new ServedAsks(from, this.queue, context);
    this.keepAlive = new KeepAlive(bounds.receiveTimeoutMs, {
      ping: (number) => this.queue.pushControl(pingFrame(number)),
      tick: () => this.tick(),
      timedOut: (ms) => this.finish({ reason: 'silent', detail: `no data was received for ${Math.round(ms)} ms` }),
    });
  }

  /** Starts reading. Separate from the constructor, so that the link is registered when the first frame arrives. */
  start(): void {
    this.wire.listen(
      (parcel) => this.receive(parcel),
      (why) => this.finish({ reason: this.leaving === 'no' ? 'broken' : 'closed', detail: why }),
    );
  }

  get takesAsks(): boolean {
    return this.leaving === 'no' && this.end === null;
  }

  get roundTripMs(): number | null {
    return this.keepAlive.roundTripMs;
  }

  get asksWaiting(): number {
    return this.asks.size;
  }

  /** Call it only while `takesAsks`. */
  ask(ask: RemoteAsk, signal: AbortSignal | undefined): Promise<unknown> {
    return this.asks.open(ask, signal);
  }

  /** False if the notification was certainly not sent. */
  notify(kind: string, payload: unknown): boolean {
    if (!this.takesAsks) return false;
    const { bounds, counters, log } = this.context;
    const frame = notificationFrame(kind, payload);
    if (!fits(frame, bounds.maxPayloadBytes)) {
      log.error({ kind, chars: frame.length }, 'a notification is too large for another node and was dropped');
      return false;
    }
    if (!this.queue.hasCapacity(frame.length)) {
      counters.refusedQueueFull++;
      return false;
    }
    this.queue.push(frame);
    return true;
  }

  /**
   * Sends a goodbye frame, waits until all asks on both sides are answered, and closes the stream. Resolves when the other side has read
   * everything, at the latest after `graceMs`.
   */
  async drain(graceMs: number): Promise<void> {
    if (this.end !== null) return;
    const untilMs = monotonicMs() + graceMs;
    if (this.leaving !== 'local') {
      this.leaving = 'local';
      this.queue.pushControl(goodbyeFrame);
      this.asks.failUnsent();
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
      this.closeIfIdle();
    });
    this.finish({ reason: 'closed', detail: 'this side closed the stream' });
    await within(this.wire.closed, untilMs - monotonicMs());
  }

  /** Ends at once. */
  cut(detail: string): void {
    this.finish({ reason: 'broken', detail });
  }

  private receive(parcel: Parcel): void {
    this.keepAlive.dataReceived();
    const { batch, piece } = parcel;
    if (piece) {
      this.pieces.push(piece);
      this.pieceBytes += piece.length;
      // The size of a frame, plus the overhead of its batch.
      if (this.pieceBytes > this.context.bounds.maxPayloadBytes * 1.1 + 64 * 1024) this.cut('a batch without end');
      return;
    }
    if (!batch) return;
    let bytes = batch;
    if (this.pieceBytes > 0) {
      bytes = Buffer.concat([...this.pieces, batch]);
      this.pieces = [];
      this.pieceBytes = 0;
    }
    this.read(bytes);
  }

  private read(bytes: Buffer): void {
    const { counters, log } = this.context;
    let frames: unknown;
    try {
      frames = JSON.parse(bytes.toString());
    } catch (error) {
      log.error({ err: error, peer: this.from }, 'a batch from another node is not valid JSON');
    }
    if (!isBatch(frames)) return this.cut('a batch from another node is malformed');
    counters.batchesReceived++;
    counters.framesReceived += frames.length;
    counters.bytesReceived += bytes.length;
    this.arrived.push({ frames, handled: 0, bytes: bytes.length, nowMs: monotonicMs() });
    if (this.turn === 'free') this.handleSome();
  }

  private readonly handleSome = (): void => {
    this.turn = 'used';
    setImmediate(this.nextTurn);
    const answer = this.hooks.answer();
    let remaining = maxFramesPerTurn;
    for (let batch = this.arrived[0]; batch !== undefined && remaining > 0; batch = this.arrived[0]) {
      const until = Math.min(batch.frames.length, batch.handled + remaining);
      remaining -= until - batch.handled;
      while (batch.handled < until && this.end === null) this.handleFrame(batch.frames[batch.handled++]!, batch.nowMs, answer);
      if (batch.handled < batch.frames.length) return;
      this.arrived.shift();
      this.returnCredit(batch.bytes);
    }
    if (this.arrived.length === 0 && this.leaving === 'local') this.closeIfIdle();
  };

  private readonly nextTurn = (): void => {
    this.turn = 'free';
    if (this.arrived.length > 0) this.handleSome();
  };

  /** Not for every batch: a quarter of the window at a time. */
  private returnCredit(bytes: number): void {
    this.processedBytes += bytes;
    if (this.processedBytes < this.context.bounds.windowBytes / 4) return;
    this.queue.pushControl(creditFrame(this.processedBytes));
    this.processedBytes = 0;
  }

  private handleFrame(frame: Frame, nowMs: number, answer: AnswerAsk | null): void {
    switch (frame[0]) {
      case frameType.ask:
        return this.served.serve(frame, nowMs, answer);
      case frameType.reply:
        return this.asks.take(frame[1])?.resolve(frame[2]);
      case frameType.failure:
        return this.asks.take(frame[1])?.reject(readFailure(frame));
      case frameType.notification:
        return this.hooks.notified(frame[1], frame[2], this.from);
      case frameType.cancel:
        return this.served.cancel(frame[1]);
      case frameType.credit:
        return this.queue.grant(frame[1]);
      case frameType.ping:
        return this.queue.pushControl(pongFrame(frame[1]));
      case frameType.pong:
        return this.keepAlive.answered(frame[1]);
      case frameType.goodbye:
        if (this.leaving === 'no') this.leaving = 'remote';
        return this.asks.failUnsent();
    }
  }

  /** Answers that have arrived are not lost with the link; other frames are. */
  private handleArrivedReplies(): void {
    for (const { frames, handled, nowMs } of this.arrived.splice(0)) {
      for (const frame of frames.slice(handled))
        if (frame[0] === frameType.reply || frame[0] === frameType.failure) this.handleFrame(frame, nowMs, null);
    }
  }

  private tick(): void {
    this.asks.expire(monotonicMs());
    if (this.leaving === 'local') this.closeIfIdle();
  }

  private closeIfIdle(): void {
    const idle = this.arrived.length === 0 && this.asks.size === 0 && this.served.size === 0 && this.queue.isEmpty;
    if (idle) this.onDrained?.();
  }

  private finish(end: LinkEnd): void {
    if (this.end !== null) return;
    this.end = end;
    this.keepAlive.stop();
    this.queue.close();
    if (end.reason === 'closed') this.wire.end();
    else this.wire.cut(end.detail);
    this.pieces = [];
    this.handleArrivedReplies();
    this.asks.failAll();
    this.served.cancelAll();
    this.onDrained?.();
    this.hooks.ended(end);
  }
}
