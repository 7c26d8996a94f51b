/**
 * More requests than a service can answer, sent when they are due, independent of earlier answers: each uses a free connection or a new
 * one. Raw sockets, one buffer and prepared bytes, so that the flood needs less processor time than the service.
 */
import { connect, type Socket } from 'node:net';

export type FloodOptions = {
  url: string;
  perSecond: number;
  ms: number;
  /** Open at once; what is due beyond is not sent, and counted. */
  maxConnections: number;
  /** Opened before the first request is due. Default: each when it is needed. */
  initialConnections?: number;
  /** First line of all requests, without the version. */
  line: string;
  headers: Record<string, string>;
  /** JSON of the n-th request, ASCII. Default: requests have no body. */
  body?: (n: number) => string;
};

export type FloodOutcome = {
  /** Answers by status. */
  statuses: Record<number, number>;
  /** Refusals (503) whose Retry-After is missing or below 1. */
  withoutRetryAfter: number;
  /** Connections that ended under a request, or never came to stand. */
  broken: number;
  /** Due when every connection was taken. */
  unsent: number;
  connections: number;
  /** From the moment it was due, of those answered with 2xx and of those refused. */
  admittedMs: number[];
  refusedMs: number[];
  /** How long after they were due requests were sent, at most: what is this side's own part of the times above. */
  latestSentMs: number;
};

/** A request without an answer for this long counts as broken. */
const answerWithinMs = 30_000;
const tickMs = 2;
/** One read at a time is handed on, so all sockets read into the same bytes. */
const readBytes = 64 * 1024;

/** Resolves when every request that was sent is answered or broken. */
export async function flood(options: FloodOptions): Promise<FloodOutcome> {
  const { url, perSecond, ms, maxConnections, initialConnections = 0, body } = options;
  const { hostname, port } = new URL(url);
  const headOf = heads(options);
  const outcome: FloodOutcome = {
    statuses: {},
    withoutRetryAfter: 0,
    broken: 0,
    unsent: 0,
    connections: 0,
    admittedMs: [],
    refusedMs: [],
    latestSentMs: 0,
  };
  const buffer = Buffer.allocUnsafe(readBytes);
  const free: Line[] = [];
  const all = new Set<Line>();
  let open = 0;
  const { promise: answered, resolve: allAnswered } = Promise.withResolvers<void>();
  let sending = true;

  const ended = (line: Line): void => {
    if (!all.delete(line)) return;
    const at = line.busy ? -1 : free.indexOf(line);
    if (at >= 0) free.splice(at, 1);
    if (line.busy) {
      outcome.broken++;
      settled();
    }
  };
  const settled = (): void => {
    open--;
    if (open === 0 && !sending) allAnswered();
  };
  const answeredBy = (line: Line, head: string): void => {
    const status = Number(head.slice(9, 12));
    outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
    const tookMs = performance.now() - line.dueMs;
    if (status < 300) outcome.admittedMs.push(tookMs);
    else if (status === 503) {
      outcome.refusedMs.push(tookMs);
      if (!(Number(/\r\nretry-after: (\d+)/i.exec(head)?.[1]) >= 1)) outcome.withoutRetryAfter++;
    }
    free.push(line);
    settled();
  };
  const newLine = (): Line => {
    const line = new Line(hostname, Number(port), buffer, answeredBy, ended);
    all.add(line);
    outcome.connections = Math.max(outcome.connections, all.size);
    return line;
  };
  const send = (n: number, dueMs: number): void => {
    let line = free.pop();
    if (line === undefined) {
      if (all.size >= maxConnections) return void outcome.unsent++;
      line = newLine();
    }
    const text = body?.(n) ?? '';
    open++;
    line.ask(headOf(text.length) + text, dueMs);
  };

  for (let i = 0; i < initialConnections; i++) free.push(newLine());
  await Promise.all(free.map((line) => line.stands));
  const beganMs = performance.now();
  let sent = 0;
  for (let nowMs = beganMs; nowMs - beganMs < ms; nowMs = performance.now()) {
    const due = Math.floor(((nowMs - beganMs) * perSecond) / 1_000) + 1;
    if (sent < due) outcome.latestSentMs = Math.max(outcome.latestSentMs, nowMs - beganMs - (sent * 1_000) / perSecond);
    while (sent < due) send(sent, beganMs + (sent++ * 1_000) / perSecond);
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  sending = false;
  if (open > 0) {
    const timer = setTimeout(() => {
      for (const line of [...all]) line.close();
    }, answerWithinMs);
    await answered;
    clearTimeout(timer);
  }
  for (const line of [...all]) line.close();
  return outcome;
}

/** Everything before the body, made once for each of its lengths. */
function heads({ url, line, headers, body }: FloodOptions): (bodyBytes: number) => string {
  const all = { Host: new URL(url).host, ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  const common = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `${line} HTTP/1.1\r\n${common.join('')}`;
  if (body === undefined) return () => `${start}\r\n`;
  const made = new Map<number, string>();
  return (bodyBytes) => {
    const known = made.get(bodyBytes);
    if (known !== undefined) return known;
    const head = `${start}Content-Length: ${bodyBytes}\r\n\r\n`;
    made.set(bodyBytes, head);
    return head;
  };
}

/** One connection with one request on it at most. */
class Line {
  busy = false;
  dueMs = 0;
  /** Resolves when it is open, or will never be. */
  readonly stands: Promise<void>;
  private head = '';
  private missing = -1;
  private readonly socket: Socket;

  constructor(host: string, port: number, buffer: Buffer, onAnswer: (line: Line, head: string) => void, onEnd: (line: Line) => void) {
    const callback = (bytes: number): boolean => {
      if (this.arrive(buffer, bytes)) this.done(onAnswer);
      return true;
    };
    this.socket = connect({ host, port, noDelay: true, onread: { buffer, callback } });
    this.socket.on('error', () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stands = promise;
    this.socket.on('connect', resolve);
    this.socket.on('close', () => {
      resolve();
      onEnd(this);
    });
  }

  ask(text: string, dueMs: number): void {
    this.busy = true;
    this.dueMs = dueMs;
    this.head = '';
    this.missing = -1;
    this.socket.write(text, 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  /** True when the answer is whole. */
  private arrive(buffer: Buffer, bytes: number): boolean {
    if (this.missing >= 0) {
      this.missing -= bytes;
      return this.missing <= 0;
    }
    this.head += buffer.toString('latin1', 0, bytes);
    const end = this.head.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.head)?.[1] ?? 0);
    this.missing = end + 4 + length - this.head.length;
    return this.missing <= 0;
  }

  private done(onAnswer: (line: Line, head: string) => void): void {
    this.busy = false;
    onAnswer(this, this.head);
  }
}
