/**
 * A caller that follows the contract: a request with a possibly lost answer is repeated with the same Idempotency-Key, on any node,
 * until it is answered or the time limit ends. All requests and answers are recorded in the history.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import type { History, Operation, OperationName, Result } from './history.ts';

export type Ask = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Where it is not the client's. */
  token?: string;
  /** Called for every request. */
  body?: () => string | FormData;
  /** What the history keeps of a good answer. */
  resultOf?: (answer: Answer) => Result;
  /** The refusals that a right service may give; without them any that does not blame the request. */
  refusals?: readonly number[];
  /** How long it is retried; 0: never, so that after a lost answer its outcome is unknown. */
  patienceMs?: number;
  /** It is sent once more when it was answered well, and is to be answered the same. */
  isRepeated?: boolean;
};
/** Where requests go. */
export type Door = { readonly url: string };
export type Answer = { status: number; text: string; json: any };

/** A request that hangs longer is given up, as callers do; the node may still carry it out. */
const requestTimeoutMs = 5_000;
/** By then every fault has ended and each node that survived has answered. */
const usualPatienceMs = 60_000;
const longestWaitMs = 2_000;
/** They blame the request, or what its account may do. */
const neverFitting = [400, 401, 402, 403, 422];
const afterBrokenMs = 50;

export class Client {
  readonly account: string;
  readonly token: string;
  requests = 0;
  retries = 0;
  private readonly history: History;
  private readonly nodes: () => Door[];
  private readonly random: Random;

  /** @param nodes those that requests may go to; also such that are about to be found dead */
  constructor(parts: { account: string; token: string; history: History; nodes: () => Door[]; random: Random }) {
    this.account = parts.account;
    this.token = parts.token;
    this.history = parts.history;
    this.nodes = parts.nodes;
    this.random = parts.random;
  }

  /** Performs the operation once, with retries. Resolves with the answer that decided it; null if its outcome is unknown. */
  async perform(
    name: OperationName,
    subject: string,
    value: string | number | null,
    ask: Ask,
  ): Promise<{ operation: Operation; answer: Answer | null }> {
    const operation = this.history.begin(this.account, name, subject, value);
    const key = randomUUID();
    const answer = await this.untilAnswered(ask, key, () => {
      // Only the request that is answered says anything about what was read.
      if (ask.method === 'GET') operation.invokedMs = this.history.nowMs();
      operation.requests++;
    });
    if (answer !== null) this.settle(operation, ask, answer);
    if (ask.isRepeated && answer !== null && answer.status < 300) await this.repeat(operation, ask, key, answer);
    return { operation, answer };
  }

  /** Null: patience has ended. */
  private async untilAnswered(ask: Ask, key: string, onRequest = () => {}): Promise<Answer | null> {
    const giveUpAtMs = this.history.nowMs() + (ask.patienceMs ?? usualPatienceMs);
    let lastUrl: string | null = null;
    for (;;) {
      onRequest();
      const url = this.urlOtherThan(lastUrl);
      const received = await this.request(ask, key, url);
      lastUrl = url;
      const waitMs = this.waitBeforeRetry(received);
      if (waitMs === null) return (received as { answer: Answer }).answer;
      if (this.history.nowMs() + waitMs >= giveUpAtMs) return null;
      this.retries++;
      await pause(waitMs);
    }
  }

  private async repeat({ name, subject }: Operation, ask: Ask, key: string, first: Answer): Promise<void> {
    const retried = await this.untilAnswered(ask, key);
    if (retried !== null && (retried.status !== first.status || retried.text !== first.text))
      this.history.anomaly(
        `${name} ${subject} was answered ${first.status} ${first.text}, and when repeated ${retried.status} ${retried.text}`,
      );
  }

  /** One request to any node, not recorded in the history. Null if the connection broke. */
  async ask(ask: Ask): Promise<Answer | null> {
    const received = await this.request(ask, randomUUID(), this.urlOtherThan(null));
    return 'answer' in received ? received.answer : null;
  }

  /** What this node answers, once it does not ask to try again: a busy machine is no lost state. Null if it never answers. */
  async askNode(node: Door, ask: Ask): Promise<Answer | null> {
    const giveUpAtMs = this.history.nowMs() + usualPatienceMs;
    for (;;) {
      const received = await this.request(ask, randomUUID(), node.url);
      const waitMs = this.waitBeforeRetry(received);
      if (waitMs === null || this.history.nowMs() + waitMs >= giveUpAtMs) return 'answer' in received ? received.answer : null;
      await pause(waitMs);
    }
  }

  unexpected(words: string): void {
    this.history.anomaly(words);
  }

  private settle(operation: Operation, { method, resultOf, refusals }: Ask, answer: Answer): void {
    // Gone already: an earlier request of this operation had taken effect.
    const wasDone = answer.status === 404 && method === 'DELETE' && operation.requests > 1;
    const done = answer.status < 300 || wasDone;
    const absent = method === 'GET' && answer.status === 404;
    this.history.end(operation, done || absent ? 'done' : 'refused', answer.status, done && !wasDone ? (resultOf?.(answer) ?? null) : null);
    const isFitting = refusals === undefined ? !neverFitting.includes(answer.status) : done || refusals.includes(answer.status);
    if (answer.status >= 500 || !isFitting)
      this.history.anomaly(`${operation.name} ${operation.subject} was answered ${answer.status} ${answer.text.slice(0, 200)}`);
  }

  /** Null: it is settled. */
  private waitBeforeRetry(received: Received): number | null {
    if ('broken' in received) return afterBrokenMs + this.random.next() * afterBrokenMs;
    const { answer, retryAfterS } = received;
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

  private async request({ method, path, body, token = this.token }: Ask, key: string, url: string | null): Promise<Received> {
    if (url === null) return { broken: 'no node runs' };
    this.requests++;
    try {
      const sent = body?.();
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
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

type Received = { answer: Answer; retryAfterS: number | null } | { broken: string };
