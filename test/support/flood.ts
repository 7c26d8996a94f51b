/**
 * More requests than a service can answer, sent when they are due and not when there is an answer to the last one: each takes a connection
 * that is free, or a new one. Raw sockets, so that the flood costs less than what it floods.
 */
import { connect, type Socket } from 'node:net';

export type FloodOptions = {
  url: string;
  perSecond: number;
  ms: number;
  /** Open at once; what is due beyond is not sent, and counted. */
  maxConnections: number;
  /** The n-th request: its first line without the version, headers, and body. */
  request(n: number): { line: string; headers: Record<string, string>; body?: string };
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
};

/** A request that nobody answers is a broken one after so long. */
const answerWithinMs = 30_000;
const tickMs = 2;

/** Resolves when every request that was sent is answered or broken. */
export async function flood(options: FloodOptions): Promise<FloodOutcome> {
  const { url, perSecond, ms, maxConnections, request } = options;
  const { hostname, port, host } = new URL(url);
  const outcome: FloodOutcome = {
    statuses: {},
    withoutRetryAfter: 0,
    broken: 0,
    unsent: 0,
    connections: 0,
    admittedMs: [],
    refusedMs: [],
  };
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
  const send = (n: number, dueMs: number): void => {
    let line = free.pop();
    if (line === undefined) {
      if (all.size >= maxConnections) return void outcome.unsent++;
      line = new Line(connect({ host: hostname, port: Number(port), noDelay: true }), answeredBy, ended);
      all.add(line);
      outcome.connections = Math.max(outcome.connections, all.size);
    }
    const { line: first, headers, body = '' } = request(n);
    let text = `${first} HTTP/1.1\r\nHost: ${host}\r\n`;
    for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
    if (body !== '') text += `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    open++;
    line.ask(`${text}\r\n${body}`, dueMs);
  };

  const beganMs = performance.now();
  let sent = 0;
  while (performance.now() - beganMs < ms) {
    const due = Math.floor(((performance.now() - beganMs) * perSecond) / 1_000);
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

/** One connection with one request on it at most. */
class Line {
  busy = false;
  dueMs = 0;
  private head = '';
  private missing = -1;
  private readonly socket: Socket;

  constructor(socket: Socket, onAnswer: (line: Line, head: string) => void, onEnd: (line: Line) => void) {
    this.socket = socket;
    socket.on('data', (bytes) => this.arrive(bytes) && this.done(onAnswer));
    socket.on('error', () => {});
    socket.on('close', () => onEnd(this));
  }

  ask(text: string, dueMs: number): void {
    this.busy = true;
    this.dueMs = dueMs;
    this.head = '';
    this.missing = -1;
    this.socket.write(text);
  }

  close(): void {
    this.socket.destroy();
  }

  /** True when the answer is whole. */
  private arrive(bytes: Buffer): boolean {
    if (this.missing >= 0) {
      this.missing -= bytes.length;
      return this.missing <= 0;
    }
    this.head += bytes.toString('latin1');
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
