/** The process is killed while people sign up and move to other addresses: afterwards everybody has one address, and nobody has two. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Caller, startService } from '../support/service.ts';

const password = 'a long enough password';
const people = 6;

test('whenever the service is killed, a person signs in with the old address or the new one, and the other is free', {
  timeout: 120_000,
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
  for (const round of [1, 2]) {
    const callers = await Promise.all(Array.from({ length: people }, (_, n) => Caller.register(service, `old-${round}-${n}`)));
    const asked = callers.map((caller, n) =>
      caller.fetch('PATCH', '/v1/auth/me', { email: `new-${round}-${n}@example.com` }).catch(() => null),
    );
    const fresh = post('/auth/register', { email: `fresh-${round}@example.com`, password }).catch(() => 0);
    // As soon as one has been answered, the others are anywhere between the first step and the last.
    const first = await Promise.race(asked);
    assert.equal(first?.status, 200);
    await service.kill();
    const answered = await Promise.all(asked.map(async (one) => (await one)?.status === 200));
    const wasMade = (await fresh) === 201;
    await service.restart();
    for (let n = 0; n < people; n++) {
      const [old, new_] = [`old-${round}-${n}@example.com`, `new-${round}-${n}@example.com`];
      // What was begun is finished by itself.
      let standing = await Promise.all([signsIn(old), signsIn(new_)]);
      for (let tries = 0; standing[0] === standing[1] && tries < 100; tries++) standing = await Promise.all([signsIn(old), signsIn(new_)]);
      assert.notEqual(standing[0], standing[1], `${old} ${standing}`);
      if (answered[n]) assert.equal(standing[1], true, 'what was answered has happened');
      const free = standing[1] ? old : new_;
      assert.equal(await post('/auth/register', { email: free, password }), 201, `${free} is free`);
    }
    if (wasMade) assert.ok(await signsIn(`fresh-${round}@example.com`));
    else assert.ok([201, 409].includes(await post('/auth/register', { email: `fresh-${round}@example.com`, password })));
    assert.ok(await signsIn(`fresh-${round}@example.com`), 'a registration is whole, or was never begun');
  }
});
