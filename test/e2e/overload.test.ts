/** Far more requests than the service can handle: every request is answered, and afterwards latency is as before. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { flood } from '../support/flood.ts';
import { startService } from '../support/service.ts';

const floodMs = 3_000;
const grownMaxBytes = 400 * 1024 * 1024;

test('under extreme load commands and lists succeed or are refused with Retry-After, health answers, and afterwards latency is as before', async (t) => {
  const { url, pid } = await startService(t, { LOG_LEVEL: 'silent' });
  const account = { email: 'flood@example.com', password: 'a flood is no secret' };
  await post(`${url}/v1/auth/register`, account);
  const { access_token } = await post(`${url}/v1/auth/login`, account);
  const headers = { Authorization: `Bearer ${access_token}` };
  for (let i = 0; i < 20; i++) await post(`${url}/v1/workspaces`, { name: `before ${i}` }, headers);
  const before = residentBytes(pid);

  let over = false;
  const health = { asked: 0, bad: 0, maxBytes: 0 };
  const watch = (async () => {
    while (!over) {
      for (const path of ['/health/live', '/health/ready']) {
        health.asked++;
        if (!(await fetch(url + path)).ok) health.bad++;
      }
      health.maxBytes = Math.max(health.maxBytes, residentBytes(pid));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const load = { url, ms: floodMs, maxConnections: 2_000 };
  const [commands, lists] = await Promise.all([
    flood({
      ...load,
      perSecond: 6_000,
      line: 'POST /v1/workspaces',
      headers,
      body: (n) => JSON.stringify({ name: `during ${n}` }),
    }),
    flood({ ...load, perSecond: 1_500, line: 'GET /v1/workspaces?limit=100', headers }),
  ]);
  over = true;
  await watch;

  for (const [done, { statuses, broken, withoutRetryAfter }] of [[201, commands] as const, [200, lists] as const]) {
    t.diagnostic(JSON.stringify(statuses));
    assert.deepEqual(
      Object.keys(statuses).filter((status) => status !== String(done) && status !== '503'),
      [],
      JSON.stringify(statuses),
    );
    assert.ok(statuses[done]! > 0, 'some were let in');
    assert.ok(statuses[503]! > 0, 'some were shed');
    assert.deepEqual({ broken, withoutRetryAfter }, { broken: 0, withoutRetryAfter: 0 });
  }
  assert.ok(health.asked > 0);
  assert.equal(health.bad, 0);
  assert.ok(health.maxBytes - before < grownMaxBytes, `${health.maxBytes - before} bytes more`);

  // The number of workspaces shows that every creation answered with 201 exists and no refused one does.
  await post(`${url}/v1/workspaces`, { name: 'after' }, headers);
  const listed = await fetch(`${url}/v1/workspaces?limit=1`, { headers });
  assert.equal(listed.headers.get('x-total-count'), String(20 + commands.statuses[201]! + 1));
});

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<any> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, `${answer.status}`);
  return answer.json();
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}
