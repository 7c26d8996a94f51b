/**
 * One account that makes keys by the dozen and asks with all of them, beside a quiet one: however many keys, it gets no more than its account may, and
 * neither the other account nor a sign-in from the same address is slower or refused.
 */
import assert from 'node:assert/strict';
import type { Scope } from '../support/scope.ts';
import { Caller, type Service, startService } from '../support/service.ts';

/** Of the free plan. */
const keysMax = 5;
const perMinute = 5 * 60;
const socketsMax = 5;

const floodMs = 5_000;
const lanesPerKey = 4;
const quietEveryMs = 100;

export type ManyKeysReport = { keys: number; granted: number; refused: number; sockets: number; quietP99Ms: number };

export async function manyKeys(t: Scope): Promise<ManyKeysReport> {
  const service = await startService(t, { ANONYMOUS_REQUESTS_PER_MINUTE: '1000' }, { limited: true });
  const [heavy, light] = [await Caller.register(service, 'greedy'), await Caller.register(service, 'quiet')];
  const keys = await makeKeys(heavy);
  assert.equal(keys.length, keysMax);

  const beganMs = performance.now();
  const answered = new Map<number, number>();
  const [quietMs] = await Promise.all([
    lightLoad(light, beganMs),
    ...keys.flatMap((key) => Array.from({ length: lanesPerKey }, () => flood(service, key, beganMs, answered))),
  ]);
  const granted = (answered.get(200) ?? 0) + (answered.get(404) ?? 0);
  const came = ((performance.now() - beganMs) * perMinute) / 60_000;
  assert.ok(granted <= perMinute + came, `${granted} requests were let in, ${perMinute} and ${came.toFixed()} for the time may be`);
  assert.deepEqual(
    [...answered.keys()].filter((status) => ![200, 404, 429].includes(status)),
    [],
  );

  const sockets = await openSockets(service, keys);
  assert.ok(sockets <= socketsMax, `${sockets} sockets`);
  const login = await light.fetch('POST', '/v1/auth/login', { email: 'quiet@example.com', password: 'a long enough password' });
  assert.equal(login.status, 200, 'what leads nowhere counts toward the key, and not toward the address');
  const quietP99Ms = quietMs.sort((a, b) => a - b)[Math.floor(quietMs.length * 0.99)]!;
  return { keys: keys.length, granted, refused: answered.get(429) ?? 0, sockets, quietP99Ms };
}

/** Tries forty times, eight at once. */
async function makeKeys(heavy: Caller): Promise<string[]> {
  const keys: string[] = [];
  for (let round = 0; round < 5; round++) {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) => heavy.fetch('POST', '/v1/api-keys', { name: `k${round}${n}`, scopes: ['tasks.read'] })),
    );
    for (const answer of made) {
      assert.ok([201, 402, 429].includes(answer.status), String(answer.status));
      if (answer.status === 201) keys.push(((await answer.json()) as { key: string }).key);
      else await answer.arrayBuffer();
    }
  }
  return keys;
}

/** Every fourth request leads nowhere. */
async function flood({ url }: Service, key: string, beganMs: number, answered: Map<number, number>): Promise<void> {
  for (let n = 0; performance.now() - beganMs < floodMs; n++) {
    const answer = await fetch(`${url}/v1/${n % 4 === 3 ? 'nowhere' : 'auth/me'}`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    answered.set(answer.status, (answered.get(answer.status) ?? 0) + 1);
  }
}

/** The times of answers, all of them good ones. */
async function lightLoad(light: Caller, beganMs: number): Promise<number[]> {
  const times: number[] = [];
  while (performance.now() - beganMs < floodMs) {
    const askedMs = performance.now();
    await light.json('GET', '/v1/auth/me');
    times.push(performance.now() - askedMs);
    await new Promise((resolve) => setTimeout(resolve, quietEveryMs));
  }
  return times;
}

/** Three for each key at once. Answers how many were let in; they are closed. */
async function openSockets({ url }: Service, keys: readonly string[]): Promise<number> {
  const opened = await Promise.all(
    keys.flatMap((token) =>
      [0, 1, 2].map(
        () =>
          new Promise<boolean>((resolve) => {
            const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`);
            socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token }));
            socket.onmessage = () => resolve(true);
            socket.onclose = () => resolve(false);
          }),
      ),
    ),
  );
  return opened.filter(Boolean).length;
}
