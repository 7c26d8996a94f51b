/** Health: what balancers, orchestrators and people ask. */
import Type from 'typebox';
import { type AnyRoute, route } from '../http/route.ts';
import { answer } from './answer.ts';

export type Health = {
  version: string;
  node: string;
  startedAtMs: number;
  /** `ready`, or why not, e.g. `draining`, `the database does not answer`. */
  readiness(): string;
  /** Parts by name, each `ok` or what is wrong with it. */
  checks(): Promise<Record<string, string>>;
};

const Texts = Type.Record(Type.String(), Type.String());

export function healthRoutes(health: Health): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      summary: 'How the service is',
      scope: null,
      responses: {
        200: Type.Object({ status: Type.String(), version: Type.String(), node: Type.String(), uptime_s: Type.Integer(), checks: Texts }),
      },
      async handler() {
        const checks = await health.checks();
        const status = Object.values(checks).every((state) => state === 'ok') ? 'ok' : 'degraded';
        const uptime = Math.floor((Date.now() - health.startedAtMs) / 1_000);
        return answer(200, { status, version: health.version, node: health.node, uptime_s: uptime, checks });
      },
    }),
    route({
      method: 'GET',
      path: '/health/ready',
      summary: 'Whether this node takes requests',
      scope: null,
      responses: { 200: Texts, 503: Texts },
      handler() {
        const status = health.readiness();
        return status === 'ready' ? answer(200, { status }) : answer(503, { status });
      },
    }),
    route({
      method: 'GET',
      path: '/health/live',
      summary: 'Whether this process works at all',
      scope: null,
      responses: { 200: Texts },
      handler: () => answer(200, { status: 'alive' }),
    }),
    route({
      method: 'GET',
      path: '/health/browser',
      summary: 'Whether the browser service can be reached',
      scope: null,
      responses: { 200: Type.Object({ status: Type.String(), detail: Type.String() }) },
      handler: () => ({
        status: 200,
        json: { status: 'not_configured', detail: 'No browser service is configured; fetch_url reads pages without one' },
      }),
    }),
  ];
}
