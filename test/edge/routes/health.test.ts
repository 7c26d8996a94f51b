import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Health, healthRoutes } from '../../../src/edge/routes/health.ts';
import { AppError } from '../../../src/errors.ts';
import { noBrowser } from '../../../src/providers/browser/no-browser.ts';
import { startEdge } from '../../support/http-edge.ts';
import type { Scope } from '../../support/scope.ts';

async function startHealth(t: Scope, given: Partial<Health> = {}) {
  const state = { nowMs: 1_000_000, readiness: 'ready' };
  const nowMs = () => state.nowMs;
  const health: Health = {
    version: '1.2.3',
    node: 'a',
    startedAtMs: 0,
    nowMs,
    readiness: () => state.readiness,
    checks: {},
    browser: () => noBrowser.health(),
    ...given,
  };
  const edge = await startEdge(healthRoutes(health));
  t.after(() => edge.server.close(0));
  const get = async (path: string) => {
    const response = await fetch(edge.url + path);
    return { status: response.status, body: (await response.json()) as any };
  };
  return { state, get };
}

test('health shows the version, the node, the uptime and each part', async (t) => {
  const { get } = await startHealth(t, { checks: { database: async () => 1, files: async () => {} } });
  const expected = { status: 'ok', version: '1.2.3', node: 'a', uptime_s: 1_000, checks: { database: 'ok', files: 'ok' } };
  assert.deepEqual(await get('/health'), { status: 200, body: expected });
  assert.deepEqual((await get('/v1/health')).body, expected);
});

test('a failing part makes health degraded; internals are not shown', async (t) => {
  const { get } = await startHealth(t, {
    checks: {
      database: () => Promise.reject(new AppError('unavailable', 'The database does not answer')),
      files: () => Promise.reject(new Error('EACCES: /secret/path')),
    },
  });
  const { status, body } = await get('/health');
  assert.deepEqual([status, body.status], [200, 'degraded']);
  assert.deepEqual(body.checks, { database: 'The database does not answer', files: 'it failed' });
});

test('a part that never answers delays no caller, and is checked once for many callers', async (t) => {
  let asked = 0;
  const { state, get } = await startHealth(t, {
    checks: {
      files: () => {
        asked++;
        return new Promise(() => {});
      },
    },
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/health')));
  for (const { body } of answers) assert.deepEqual(body.checks, { files: 'no answer within 2 s' });
  assert.equal(asked, 1);
  state.nowMs += 10_000;
  await get('/health');
  assert.equal(asked, 2);
});

test('a node that is not ready answers 503 with the reason, and is still live', async (t) => {
  const { state, get } = await startHealth(t);
  assert.deepEqual(await get('/health/ready'), { status: 200, body: { status: 'ready' } });
  state.readiness = 'draining';
  assert.deepEqual(await get('/health/ready'), { status: 503, body: { status: 'draining' } });
  assert.equal((await get('/health/live')).status, 200);
  assert.equal((await get('/health/browser')).body.status, 'not_configured');
});

test('the state of the browser is shown, and is queried once for many callers', async (t) => {
  let asked = 0;
  const browser = async () => ({ status: 'unavailable', detail: `asked ${++asked} times` });
  const { state, get } = await startHealth(t, { browser });
  const bodies = await Promise.all(Array.from({ length: 5 }, async () => (await get('/health/browser')).body));
  for (const body of bodies) assert.deepEqual(body, { status: 'unavailable', detail: 'asked 1 times' });
  state.nowMs += 10_000;
  assert.equal((await get('/health/browser')).body.detail, 'asked 2 times');
});
