/**
 * The stream of a venue's updates: a WebSocket that is reconnected with growing pauses while it is needed. Its messages only trigger polls,
 * so a lost, repeated or unknown message costs nothing but time. A stream that sends too much is left for the longest pause.
 */
import { backoffMs } from '../../../backoff.ts';
import { monotonicMs } from '../../../clock.ts';
import { answerLimits, parseWithin } from '../../../json-bounds.ts';
import type { Outbound, OutboundSocket } from '../../../providers/outbound/port.ts';
import type { UpdateListener, UpdateStream } from './port.ts';

/** The address, and the first messages. Requested for each connection, because tokens expire. */
export type SocketOpening = { url: string; configured: boolean; first: readonly string[] };

/** The meaning of a venue's message. `refused`: these credentials get no stream; it is retried with the longest pause. */
export type SocketMeaning =
  | { kind: 'ready' }
  | { kind: 'say'; say: readonly string[] }
  | { kind: 'changed' }
  | { kind: 'refused'; reason: string }
  | { kind: 'nothing' };

export type UpdateSocketOptions = {
  outbound: Outbound;
  listener: UpdateListener;
  opening: (signal: AbortSignal) => Promise<SocketOpening>;
  meaningOf: (message: unknown) => SocketMeaning;
  /** The venue sends something at least this often; null: it may be silent. */
  silenceMs: number | null;
  firstPauseMs?: number;
  /** The venue does not confirm a subscription: the stream is ready once the request is sent. */
  readyOnOpen?: boolean;
};

const maxPauseMs = 30_000;
/** From the first try until the venue confirms the subscription. */
const readyWithinMs = 15_000;
/** A connection that lasted this long resets the pause. */
const lastingMs = 60_000;
/** Failures after which the pause grows no more. */
const maxFailures = 30;
/** More than an account's orders can cause; parsing this much takes a small part of the second. */
const maxPerSecond = { messages: 1_000, bytes: 4 * 2 ** 20 } as const;

export class UpdateSocket implements UpdateStream {
  private readonly options: UpdateSocketOptions;
  private readonly stop = new AbortController();
  private socket: OutboundSocket | null = null;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private isReady = false;
  private openedAtMs = 0;
  private received = { sinceMs: 0, messages: 0, bytes: 0 };
  /** Identifies the current connection: events of an earlier one are ignored. */
  private turn = 0;

  constructor(options: UpdateSocketOptions) {
    this.options = options;
    this.connect();
  }

  close(): void {
    this.stop.abort();
    this.turn++;
    clearTimeout(this.timer);
    this.socket?.close();
    this.socket = null;
  }

  private connect(): void {
    const turn = ++this.turn;
    this.isReady = false;
    this.expect(turn, readyWithinMs, 'no answer in time');
    this.options.opening(this.stop.signal).then(
      ({ url, configured, first }) => {
        if (turn !== this.turn) return;
        try {
          this.socket = this.options.outbound.webSocket(url, this.listener(turn, first), { configured });
        } catch {
          this.fail(turn, 'the address of the stream cannot be used');
        }
      },
      () => this.fail(turn, 'the stream could not be asked for'),
    );
  }

  private listener(turn: number, first: readonly string[]) {
    const isCurrent = () => turn === this.turn;
    return {
      opened: () => {
        if (!isCurrent()) return;
        this.say(first);
        if (this.options.readyOnOpen === true) this.ready(turn);
      },
      message: (data: string | Uint8Array) => {
        if (isCurrent()) this.take(turn, data);
      },
      closed: (reason: string) => this.fail(turn, reason),
    };
  }

  private take(turn: number, data: string | Uint8Array): void {
    const { listener, meaningOf, silenceMs } = this.options;
    if (this.isTooMuch(data)) return this.fail(turn, 'the stream sends too much', true);
    const meaning = meaningOf(messageIn(data));
    if (this.isReady) {
      clearTimeout(this.timer);
      if (silenceMs !== null) this.expect(turn, silenceMs, 'no data was received for too long');
    }
    switch (meaning.kind) {
      case 'ready':
        return this.ready(turn);
      case 'say':
        return this.say(meaning.say);
      case 'changed':
        return listener.changed();
      case 'refused':
        return this.fail(turn, meaning.reason, true);
      case 'nothing':
        return;
    }
  }

  private ready(turn: number): void {
    if (this.isReady) return;
    this.isReady = true;
    this.openedAtMs = monotonicMs();
    clearTimeout(this.timer);
    const { listener, silenceMs } = this.options;
    if (silenceMs !== null) this.expect(turn, silenceMs, 'no data was received for too long');
    listener.connected();
  }

  private say(texts: readonly string[]): void {
    for (const text of texts) this.socket?.send(text);
  }

  private expect(turn: number, withinMs: number, otherwise: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fail(turn, otherwise), withinMs);
    this.timer.unref();
  }

  private isTooMuch(data: string | Uint8Array): boolean {
    const nowMs = monotonicMs();
    if (nowMs - this.received.sinceMs >= 1_000) this.received = { sinceMs: nowMs, messages: 0, bytes: 0 };
    this.received.messages++;
    this.received.bytes += data.length;
    return this.received.messages > maxPerSecond.messages || this.received.bytes > maxPerSecond.bytes;
  }

  /** @param isHopeless the next try comes after the longest pause */
  private fail(turn: number, reason: string, isHopeless = false): void {
    if (turn !== this.turn) return;
    const wasReady = this.isReady;
    if (isHopeless) this.failures = maxFailures;
    else if (wasReady && monotonicMs() - this.openedAtMs >= lastingMs) this.failures = 0;
    this.turn++;
    this.isReady = false;
    this.socket?.close();
    this.socket = null;
    clearTimeout(this.timer);
    if (this.stop.signal.aborted) return;
    if (wasReady) this.options.listener.lost(reason);
    const pauseMs = backoffMs(this.failures, this.options.firstPauseMs ?? 1_000, maxPauseMs);
    this.failures = Math.min(this.failures + 1, maxFailures);
    this.timer = setTimeout(() => this.connect(), pauseMs);
    this.timer.unref();
  }
}

/** Text and binary frames alike: some venues send JSON in binary ones. undefined: no JSON, or too many values. */
function messageIn(data: string | Uint8Array): unknown {
  return parseWithin(typeof data === 'string' ? Buffer.from(data) : data, answerLimits);
}

/** The address of a WebSocket on the host of an HTTP address. */
export function socketUrl(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  return `${url.protocol === 'http:' ? 'ws' : 'wss'}://${url.host}${path}`;
}
