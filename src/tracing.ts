/**
 * Traces: the work that one request caused, across actors and nodes. Parts use only this port and have a `Tracer | null`; if tracing is off
 * it is null, this file is not loaded, and a request costs one more comparison. A span's position in its trace is passed on as W3C
 * `traceparent` text, also between nodes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { machineClock } from './clock.ts';
import { AppError } from './errors.ts';

export type AttributeValue = string | number | boolean;
/** Only ids and names: no caller's text, no secrets. */
export type Attributes = Readonly<Record<string, AttributeValue>>;
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';
export type SpanOptions = { kind?: SpanKind /** Further spans it belongs to, as `traceparent`. */; links?: readonly string[] };

export interface Span {
  readonly traceparent: string;
  set(name: string, value: AttributeValue): void;
  /** Ends it, once. Of an error only its code or class is kept, because messages may quote callers; a text is kept as it is. */
  end(failure?: unknown): void;
}

export interface Tracer {
  /** @param parent a `traceparent`; null or an invalid one starts a new trace */
  startSpan(name: string, parent: string | null, attributes?: Attributes, options?: SpanOptions): Span;
  /** Runs `work` in the span: inside, `current` returns it, also after awaits. */
  within<T>(traceparent: string, work: () => T): T;
  /** The span of the running code; null outside of any span. */
  current(): string | null;
  /** Sends ended spans, as far as the collector accepts them in a few seconds. */
  stop(): Promise<void>;
}

export type FinishedSpan = {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  kind: SpanKind;
  links: readonly TraceContext[];
  /** Wall clock, milliseconds with fractions. */
  beganAtMs: number;
  endedAtMs: number;
  attributes: Record<string, AttributeValue>;
  /** Why it failed; null if it did not. */
  failure: string | null;
};

/** Receives finished spans. */
export interface SpanSink {
  take(span: FinishedSpan): void;
  stop(): Promise<void>;
}

export type TraceContext = { traceId: string; spanId: string; sampled: boolean };

const traceparentShape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** Parses a `traceparent`, also of a later version, as W3C requires. Null if it is invalid. */
export function readTraceparent(text: string | null): TraceContext | null {
  const match = text === null || text.length > 512 ? null : traceparentShape.exec(text);
  if (match === null) return null;
  const [whole, version, traceId, spanId, flags] = match as unknown as [string, string, string, string, string];
  if (version === 'ff' || (version === '00' && whole.length !== text!.length)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export type TracerOptions = {
  sink: SpanSink;
  /** The share of new traces that is recorded, 0 to 1. Traces from outside keep their caller's decision. */
  sampleRatio?: number;
  random?: () => number;
};

export function createTracer({ sink, sampleRatio = 1, random = Math.random }: TracerOptions): Tracer {
  const context = new AsyncLocalStorage<string>();
  return {
    startSpan(name, parent, attributes = {}, { kind = 'internal', links = [] } = {}) {
      const from = readTraceparent(parent);
      const traceId = from?.traceId ?? randomBytes(16).toString('hex');
      const spanId = randomBytes(8).toString('hex');
      const sampled = from?.sampled ?? random() < sampleRatio;
      const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
      if (!sampled) return { traceparent, set: ignore, end: ignore };
      const parentId = from?.spanId ?? null;
      const linked = links.map(readTraceparent).filter((link) => link !== null);
      return recorded(sink, { traceId, spanId, parentId, name, kind, links: linked, attributes: { ...attributes } }, traceparent);
    },
    within: (traceparent, work) => context.run(traceparent, work),
    current: () => context.getStore() ?? null,
    stop: () => sink.stop(),
  };
}

function recorded(sink: SpanSink, span: Omit<FinishedSpan, 'beganAtMs' | 'endedAtMs' | 'failure'>, traceparent: string): Span {
  const begun = performance.now();
  const beganAtMs = wallClockAt(begun);
  let ended = false;
  return {
    traceparent,
    set(name, value) {
      span.attributes[name] = value;
    },
    end(failure) {
      if (ended) return;
      ended = true;
      const endedAtMs = beganAtMs + performance.now() - begun;
      sink.take({ ...span, beganAtMs, endedAtMs, failure: failureOf(failure) });
    },
  };
}

const clocksComparedEveryMs = 60_000;
let wallClockOffsetMs = 0;
let comparedAt = Number.NEGATIVE_INFINITY;

/** The wall clock in fractions of a millisecond; synchronised periodically, because the two clocks drift apart. */
function wallClockAt(now: number): number {
  if (now - comparedAt > clocksComparedEveryMs) {
    wallClockOffsetMs = machineClock.nowMs() - now;
    comparedAt = now;
  }
  return wallClockOffsetMs + now;
}

function failureOf(failure: unknown): string | null {
  if (failure === undefined || failure === null) return null;
  if (failure instanceof AppError) return failure.code;
  return failure instanceof Error ? failure.name : String(failure);
}

function ignore(): void {}
