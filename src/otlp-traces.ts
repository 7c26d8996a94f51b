/**
 * Sends finished spans to an OpenTelemetry collector: OTLP over HTTP, JSON. Nothing waits for it: spans that the collector does not accept
 * in time are dropped and counted, and memory stays bounded.
 */
import { backoffMs } from './backoff.ts';
import type { AttributeValue, FinishedSpan, SpanKind, SpanSink } from './tracing.ts';
import { withoutTrailing } from './trailing.ts';

export type OtlpOptions = {
  /** Base URL of the collector; spans go to `/v1/traces` below it. */
  url: string;
  /** Sent with every request, e.g. the collector's key. */
  headers?: Readonly<Record<string, string>>;
  /** The resource: `service.name`, `service.instance.id` … */
  resource: Readonly<Record<string, string>>;
  /** Called once when spans begin to be dropped, and again only after some were sent. */
  onDropping?: (why: string) => void;
  /** Default 2,000. */
  intervalMs?: number;
};

const maxWaiting = 8_192;
const maxInRequest = 512;
const maxTries = 3;
const maxRetryMs = 5_000;
const requestTimeoutMs = 5_000;
const stopTimeoutMs = 3_000;
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };

export class OtlpTraces implements SpanSink {
  sent = 0;
  dropped = 0;
  private readonly waiting: FinishedSpan[] = [];
  private sending: Promise<void> | null = null;
  private isDropping = false;
  /** Set by `stop`: the deadline for sending the rest. */
  private late: AbortSignal | null = null;
  private readonly options: OtlpOptions;
  private readonly endpoint: string;
  private readonly timer: NodeJS.Timeout;

  constructor(options: OtlpOptions) {
    this.options = options;
    this.endpoint = `${withoutTrailing(options.url, '/')}/v1/traces`;
    this.timer = setInterval(() => void this.flush(), options.intervalMs ?? 2_000);
    this.timer.unref();
  }

  take(span: FinishedSpan): void {
    if (this.waiting.length >= maxWaiting) return this.drop(1, 'the collector is slower than spans come');
    this.waiting.push(span);
    if (this.waiting.length >= maxInRequest) void this.flush();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    const late = AbortSignal.timeout(stopTimeoutMs);
    this.late = late;
    await this.sending;
    while (this.waiting.length > 0 && !late.aborted) await this.flush();
  }

  /** One request at a time. Resolves when the running one has ended, with success or not. */
  private flush(): Promise<void> {
    if (this.sending === null && this.waiting.length > 0) this.sending = this.sendAll().finally(() => (this.sending = null));
    return this.sending ?? Promise.resolve();
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const spans = this.waiting.splice(0, maxInRequest);
      const failure = await this.send(JSON.stringify(this.requestOf(spans)));
      if (failure !== null) {
        this.drop(spans.length, failure);
        return;
      }
      this.sent += spans.length;
      this.isDropping = false;
    }
  }

  /** Null if the collector accepted it; otherwise the reason. */
  private async send(body: string): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      const { retry, failure } = await this.try(body);
      if (failure === null || !retry || attempt === maxTries || this.late !== null) return failure;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, 200, maxRetryMs)));
    }
  }

  private async try(body: string): Promise<{ retry: boolean; failure: string | null }> {
    try {
      const headers = { ...this.options.headers, 'content-type': 'application/json' };
      const timeout = AbortSignal.timeout(requestTimeoutMs);
      const signal = this.late === null ? timeout : AbortSignal.any([timeout, this.late]);
      const response = await fetch(this.endpoint, { method: 'POST', headers, body, signal, redirect: 'error' });
      await response.body?.cancel();
      if (response.ok) return { retry: false, failure: null };
      return { retry: [429, 502, 503, 504].includes(response.status), failure: `the collector answers ${response.status}` };
    } catch (error) {
      return { retry: true, failure: `the collector cannot be reached (${(error as Error).name})` };
    }
  }

  private drop(count: number, why: string): void {
    this.dropped += count;
    if (!this.isDropping) this.options.onDropping?.(why);
    this.isDropping = true;
  }

  private requestOf(spans: readonly FinishedSpan[]): object {
    const scopeSpans = [{ scope: { name: 'troupe' }, spans: spans.map(encoded) }];
    return { resourceSpans: [{ resource: { attributes: attributes(this.options.resource) }, scopeSpans }] };
  }
}

function encoded(span: FinishedSpan): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId === null ? {} : { parentSpanId: span.parentId }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.beganAtMs),
    endTimeUnixNano: nanoseconds(span.endedAtMs),
    attributes: attributes(span.attributes),
    links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: span.failure === null ? {} : { code: 2, message: span.failure },
  };
}

function attributes(values: Readonly<Record<string, AttributeValue>>): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: attribute(value) }));
}

function attribute(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  // 64-bit integers are strings in OTLP's JSON.
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** As text: nanoseconds since 1970 exceed the exact range of numbers; microseconds do not. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
