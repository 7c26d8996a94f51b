/** The process is killed while users register and change addresses: afterwards each address belongs to one user or is free. */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const password = 'a long enough password';
const people = 8;

test('after a kill at any time a user keeps the old address, and the new one is reserved for this user or free', {
  timeout: 300_000,
}, async (t) => {
  const service = await startService(t, { ANONYMOUS_REQUESTS_PER_MINUTE: '10000' });
  const post = async (path: string, body: unknown) =>
    (
      await fetch(`${service.url}/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status;
  const signsIn = async (email: string) => (await post('/auth/login', { email, password })) === 200;
  const callers = await Promise.all(Array.from({ length: people }, (_, n) => Caller.register(service, `old-${n}`)));
  const asked = callers.map((caller, n) =>
    caller.fetch('PATCH', '/v1/auth/me', { email: `new-${n}@example.com`, password }).catch(() => null),
  );
  const fresh = post('/auth/register', { email: 'fresh@example.com', password }).catch(() => 0);
  // As soon as one has been answered, the others are anywhere between the first step and the last.
  const first = await Promise.race(asked);
  assert.equal(first?.status, 200);
  await service.kill();
  const answered = await Promise.all(asked.map(async (one) => (await one)?.status === 200));
  const wasMade = (await fresh) === 201;
  await service.restart();
  await untilNothingIsUnfinished(service);
  for (const [n, caller] of callers.entries()) {
    const wanted = `new-${n}@example.com`;
    const pending = (await caller.json('GET', '/v1/auth/me')).pending_email;
    assert.ok(pending === wanted || pending === null, pending);
    if (answered[n]) assert.equal(pending, wanted, 'what was answered has happened');
    assert.equal(await post('/auth/register', { email: wanted, password }), pending === null ? 201 : 409);
    const old = `old-${n}@example.com`;
    assert.equal((await caller.json('GET', '/v1/auth/me')).email, old);
    assert.ok(await signsIn(old), old);
  }
  if (wasMade) assert.ok(await signsIn('fresh@example.com'));
  else assert.ok([201, 409].includes(await post('/auth/register', { email: 'fresh@example.com', password })));
  assert.ok(await signsIn('fresh@example.com'), 'a registration is whole, or was never begun');
});

/** Waits until the work begun before the kill has ended: its pending messages are consumed. */
async function untilNothingIsUnfinished({ dataDir }: Service): Promise<void> {
  const client = new pg.Client({ connectionString: (await runningEmbeddedPostgres(dataDir))! });
  await client.connect();
  try {
    await until(async () => {
      const { rows } = await client.query('select count(*)::int as unfinished from email_address where unfinished is not null');
      return rows[0].unfinished === 0;
    }, 'every claim of an address to be finished');
  } finally {
    await client.end();
  }
}
