/** Statistics of answers by route: plain numbers that the router updates and metrics read. Raw paths are never kept. */

import { Distribution, type Labels, latencyBoundsS, type Sample } from '../../counts.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import { unavailableIfUnreachable } from '../../storage/database.ts';

/** Counts of one method on one route pattern. */
export class RouteStats {
  readonly method: string;
  readonly route: string;
  readonly duration = new Distribution(latencyBoundsS);
  /** By status. */
  readonly answers = new Map<number, number>();
  private readonly all: RequestStats;

  constructor(all: RequestStats, method: string, route: string) {
    this.all = all;
    this.method = method;
    this.route = route;
  }

  /** Counts an answer to a request that arrived at `begunAtMs` (`performance.now()`). A streamed body may still be in transit. */
  answered(status: number, begunAtMs: number): void {
    const nowMs = performance.now();
    this.all.answered(nowMs);
    this.duration.record((nowMs - begunAtMs) / 1_000);
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }
}

const rememberedAnswers = 5;

export class RequestStats {
  inFlight = 0;
  /** Of the last answers, by `performance.now()`. A new one replaces the oldest, at `oldest`. */
  private readonly answersAtMs: number[] = new Array(rememberedAnswers).fill(Number.NEGATIVE_INFINITY);
  private oldest = 0;
  /** Requests without a route: unknown paths, and methods that a path does not have, by status. */
  private readonly unrouted = new Map<number, number>();
  private readonly failures = new Map<ErrorCode, number>();
  private readonly routes: RouteStats[] = [];

  answered(nowMs: number): void {
    this.inFlight--;
    this.answersAtMs[this.oldest] = nowMs;
    this.oldest = (this.oldest + 1) % rememberedAnswers;
  }

  /** By `performance.now()`. */
  get lastAnswerAtMs(): number {
    return this.answersAtMs.at(this.oldest - 1)!;
  }

  /** The last five answers were given since this time. */
  get fifthLastAnswerAtMs(): number {
    return this.answersAtMs[this.oldest]!;
  }

  route(method: string, route: string): RouteStats {
    const stats = new RouteStats(this, method, route);
    this.routes.push(stats);
    return stats;
  }

  /** Counts a request that was refused or failed, by its error code. */
  failed(thrown: unknown): void {
    const error = unavailableIfUnreachable(thrown);
    const code = error instanceof AppError ? error.code : 'internal';
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1);
  }

  notRouted(status: number): void {
    this.unrouted.set(status, (this.unrouted.get(status) ?? 0) + 1);
  }

  requests(): Sample[] {
    const routed = this.routes.flatMap(({ method, route, answers }) =>
      Array.from(answers, ([status, value]) => ({ labels: { method, route, status: String(status) }, value })),
    );
    const unrouted = Array.from(this.unrouted, ([status, value]) => ({
      labels: { method: 'any', route: 'none', status: String(status) },
      value,
    }));
    return [...routed, ...unrouted];
  }

  /** Only of routes that have had requests. */
  durations(): { labels: Labels; distribution: Distribution }[] {
    return this.routes
      .filter(({ answers }) => answers.size > 0)
      .map(({ method, route, duration }) => ({ labels: { method, route }, distribution: duration }));
  }

  failuresByCode(): Sample[] {
    return Array.from(this.failures, ([code, value]) => ({ labels: { code }, value }));
  }
}
