/** Health endpoints, for load balancers, orchestrators and operators. */
import Type from 'typebox';
import { monotonicMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { answer } from './answer.ts';

export type Health = {
  version: string;
  node: string;
  /** In the time of `nowMs`. */
  startedAtMs: number;
  /** Default: `monotonicMs`. */
  nowMs?: () => number;
  /** `ready`, or the reason, e.g. `draining`, `the database does not answer`. */
  readiness(): string;
  /** Checks by name of the part. A check resolves when its part works and rejects when it does not; after 2 s it counts as failed. */
  checks: Record<string, () => Promise<unknown>>;
  /** Of the browser for agents; it may take a few seconds. */
  browser(): Promise<{ status: string; detail: string }>;
};

const checkTimeoutMs = 2_000;
/** Results are cached, because callers are not authenticated. */
const checksHoldMs = 5_000;

const Texts = Type.Record(Type.String(), Type.String());

export function healthRoutes(health: Health): AnyRoute[] {
  const { nowMs = monotonicMs } = health;
  const checks = cached(nowMs, () => runChecks(health.checks));
  const browser = cached(nowMs, () => health.browser());
  return [
    route({
      method: 'GET',
      path: '/health',
      summary: 'Get the health of the service',
      scope: null,
      limited: false,
      responses: {
        200: Type.Object({ status: Type.String(), version: Type.String(), node: Type.String(), uptime_s: Type.Integer(), checks: Texts }),
      },
      async handler() {
        const found = await checks();
        const status = Object.values(found).every((state) => state === 'ok') ? 'ok' : 'degraded';
        const uptimeS = Math.floor((nowMs() - health.startedAtMs) / 1_000);
        return answer(200, { status, version: health.version, node: health.node, uptime_s: uptimeS, checks: found });
      },
    }),
    route({
      method: 'GET',
      path: '/health/ready',
      summary: 'Check whether this node accepts requests',
      scope: null,
      limited: false,
      responses: { 200: Texts, 503: Texts },
      handler() {
        const status = health.readiness();
        return status === 'ready' ? answer(200, { status }) : answer(503, { status });
      },
    }),
    route({
      method: 'GET',
      path: '/health/live',
      summary: 'Check whether this process responds',
      scope: null,
      limited: false,
      responses: { 200: Texts },
      handler: () => answer(200, { status: 'alive' }),
    }),
    route({
      method: 'GET',
      path: '/health/browser',
      summary: 'Check whether agents can open pages in a browser',
      description: '`status` is ok, unavailable or not_configured.',
      scope: null,
      limited: false,
      responses: { 200: Type.Object({ status: Type.String(), detail: Type.String() }) },
      handler: async () => answer(200, await browser()),
    }),
  ];
}

/** The same result for some seconds, also while it is found out. */
function cached<T>(nowMs: () => number, find: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; found: Promise<T> } | null = null;
  return () => {
    const atMs = nowMs();
    if (last === null || atMs - last.atMs >= checksHoldMs) last = { atMs, found: find() };
    return last.found;
  };
}

/** By name: `ok`, or the problem. */
async function runChecks(checks: Health['checks']): Promise<Record<string, string>> {
  const found = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await stateOf(check)]));
  return Object.fromEntries(found);
}

async function stateOf(check: () => Promise<unknown>): Promise<string> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, checkTimeoutMs, `no answer within ${checkTimeoutMs / 1_000} s`);
  const state = check().then(
    () => 'ok',
    // Callers are not authenticated: only texts meant for callers are shown.
    (error: unknown) => (error instanceof AppError ? error.message : 'it failed'),
  );
  return Promise.race([state, late]).finally(() => clearTimeout(timer));
}
