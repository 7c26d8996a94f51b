/**
 * A caller as the contract wants one: whatever can have been lost is asked again with the same Idempotency-Key, on any node, until somebody
 * answers or its patience ends. Everything it asks and hears goes into the history.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { NodeProcess } from '../support/node-process.ts';
import type { Random } from '../support/random.ts';
import type { History, Operation, OperationName } from './history.ts';

export type Ask = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Made anew for every request. */
  body?: () => string | FormData;
  /** What the history keeps of a good answer. */
  resultOf?: (answer: Answer) => string | number | null;
};
export type Answer = { status: number; text: string; json: any };

/** A request that hangs longer is given up, as callers do; the node may still carry it out. */
const requestTimeoutMs = 5_000;
/** Every fault is over by then, and whoever lived through it has answered. */
const patienceMs = 60_000;
const longestWaitMs = 2_000;
const afterBrokenMs = 50;

export class Client {
  readonly account: string;
  readonly token: string;
  requests = 0;
  retries = 0;
  private readonly history: History;
  private readonly nodes: () => NodeProcess[];
  private readonly random: Random;

  /** @param nodes those that requests may go to; also such that are about to be found dead */
  constructor(parts: { account: string; token: string; history: History; nodes: () => NodeProcess[]; random: Random }) {
    this.account = parts.account;
    this.token = parts.token;
    this.history = parts.history;
    this.nodes = parts.nodes;
    this.random = parts.random;
  }

  /** Does it once, however often it must be asked. Resolves with the answer that settled it; null where nobody said. */
  async perform(
    name: OperationName,
    subject: string,
    value: string | null,
    ask: Ask,
  ): Promise<{ operation: Operation; answer: Answer | null }> {
    const operation = this.history.begin(this.account, name, subject, value);
    const key = randomUUID();
    const giveUpAtMs = operation.invokedMs + patienceMs;
    let lastUrl: string | null = null;
    while (this.history.nowMs() < giveUpAtMs) {
      // Only the request that is answered says anything about what was read.
      if (ask.method === 'GET') operation.invokedMs = this.history.nowMs();
      operation.requests++;
      const url = this.urlOtherThan(lastUrl);
      const heard = await this.request(ask, key, url);
      lastUrl = url;
      const waitMs = this.waitBeforeRetry(heard);
      if (waitMs === null) {
        const { answer } = heard as { answer: Answer };
        this.settle(operation, ask, answer);
        return { operation, answer };
      }
      this.retries++;
      await pause(waitMs);
    }
    return { operation, answer: null };
  }

  /** One request to one node, for whoever needs no history. Null where it broke. */
  async ask(ask: Ask, node?: NodeProcess): Promise<Answer | null> {
    const heard = await this.request(ask, randomUUID(), node?.url ?? this.urlOtherThan(null));
    return 'answer' in heard ? heard.answer : null;
  }

  unexpected(words: string): void {
    this.history.anomaly(words);
  }

  private settle(operation: Operation, { method, resultOf }: Ask, answer: Answer): void {
    // Gone already: an earlier request of this operation had taken effect.
    const wasDone = answer.status === 404 && method === 'DELETE' && operation.requests > 1;
    const done = answer.status < 300 || wasDone;
    const absent = method === 'GET' && answer.status === 404;
    this.history.end(operation, done || absent ? 'done' : 'refused', answer.status, done && !wasDone ? (resultOf?.(answer) ?? null) : null);
    if (answer.status >= 500)
      this.history.anomaly(`${operation.name} ${operation.subject} was answered ${answer.status} ${answer.text.slice(0, 200)}`);
    if (answer.status === 400 || answer.status === 401 || answer.status === 403 || answer.status === 422)
      this.history.anomaly(`${operation.name} ${operation.subject} was answered ${answer.status} ${answer.text.slice(0, 200)}`);
  }

  /** Null: it is settled. */
  private waitBeforeRetry(heard: Heard): number | null {
    if ('broken' in heard) return afterBrokenMs + this.random.next() * afterBrokenMs;
    const { answer, retryAfterS } = heard;
    const mayRetry =
      answer.status === 503 || answer.status === 504 || answer.status === 429 || (answer.status === 409 && retryAfterS !== null);
    if (!mayRetry) return null;
    const askedMs = retryAfterS === null ? 100 : retryAfterS * 1_000;
    return Math.min(longestWaitMs, askedMs * (0.5 + this.random.next() / 2));
  }

  /** Where one node has not answered well another is asked, if there is one. Null: none runs. */
  private urlOtherThan(last: string | null): string | null {
    const urls = this.nodes().map(({ url }) => url);
    const others = urls.filter((url) => url !== last);
    return urls.length === 0 ? null : this.random.pick(others.length > 0 ? others : urls);
  }

  private async request({ method, path, body }: Ask, key: string, url: string | null): Promise<Heard> {
    if (url === null) return { broken: 'no node runs' };
    this.requests++;
    try {
      const sent = body?.();
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${this.token}`,
          ...(method === 'POST' ? { 'Idempotency-Key': key } : {}),
          ...(typeof sent === 'string' ? { 'Content-Type': 'application/json' } : {}),
        },
        body: sent,
        signal: AbortSignal.timeout(requestTimeoutMs),
      });
      const text = await response.text();
      const isJson = /^application\/json/.test(response.headers.get('content-type') ?? '');
      const retryAfter = response.headers.get('retry-after');
      const answer = { status: response.status, text, json: isJson && text !== '' ? JSON.parse(text) : null };
      return { answer, retryAfterS: retryAfter === null ? null : Number(retryAfter) };
    } catch (error) {
      return { broken: (error as Error).message };
    }
  }
}

type Heard = { answer: Answer; retryAfterS: number | null } | { broken: string };
