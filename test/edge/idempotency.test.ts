import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import Type from 'typebox';
import { accountSettings } from '../../src/domains/accounts/account-settings/messages.ts';
import { apiKey } from '../../src/domains/identity/api-key/messages.ts';
import { tasksIds } from '../../src/domains/tasks/ids.ts';
import { workspacesIds } from '../../src/domains/workspaces/ids.ts';
import { route } from '../../src/edge/http/route.ts';
import { commandIds, earlierCommand } from '../../src/edge/idempotency.ts';
import { AppError } from '../../src/errors.ts';
import { IdempotencyKeys, monthlyCommands } from '../../src/storage/idempotency-keys.ts';
import type { Invalid, NewApiKey } from '../support/bodies.ts';
import { startIdentityNode } from '../support/identity-node.ts';
import { until } from '../support/until.ts';

const minted = { name: 'ci', scopes: ['tasks.read'] };
const once = { 'idempotency-key': 'once' };

/** A node with one signed-in user and a route whose work a test holds in its hands. */
async function startNode(t: TestContext) {
  const ran: { id: string; commandId: string | undefined }[] = [];
  const work: { run: () => Promise<void> } = { run: async () => {} };
  const uploaded: number[] = [];
  const node = await startIdentityNode(t, () => [
    route({
      method: 'POST',
      path: '/work',
      summary: 'Works',
      scope: 'any',
      body: Type.Object({ n: Type.Optional(Type.Integer()), m: Type.Optional(Type.Integer()) }),
      responses: { 201: Type.Object({ id: Type.String() }) },
      async handler(context) {
        const ids = commandIds(context, tasksIds.task);
        ran.push(ids);
        await work.run();
        return { status: 201, json: { id: ids.id }, headers: { 'X-Work': 'done' } };
      },
    }),
    route({
      method: 'POST',
      path: '/upload',
      summary: 'Takes a file',
      scope: 'workspaces.write',
      body: 'multipart',
      responses: { 201: Type.Object({ id: Type.String() }) },
      async handler(context) {
        const { id } = commandIds(context, workspacesIds.file);
        await context.receiveFile(async ({ content }) => {
          let bytes = 0;
          for await (const chunk of content) bytes += chunk.length;
          uploaded.push(bytes);
        });
        await work.run();
        return { status: 201, json: { id } };
      },
    }),
  ]);
  const { access_token: token } = await node.register('ann@example.com');
  const keysMade = async () => (await node.database.read({ text: 'select count(*) n from api_key' })).rows[0].n;
  return { ...node, token, ran, work, uploaded, keysMade };
}

/** A card as commerce would issue it, and a token for any time: keys of commerce outlive an access token. */
async function startCommerce(t: TestContext) {
  const made = { cards: 0 };
  const node = await startIdentityNode(t, () => [
    route({
      method: 'POST',
      path: '/commerce/cards',
      summary: 'Issues a card',
      scope: 'commerce.write',
      secretFields: ['number', 'cvv'],
      responses: { 201: Type.Object({ id: Type.String(), shown: Type.Unknown() }) },
      async handler(context) {
        const { id, commandId } = commandIds(context, tasksIds.task);
        made.cards++;
        return { status: 201, json: { id, command: commandId, shown: { number: '4111111111111111', cvv: '123', last4: '1111' } } };
      },
    }),
  ]);
  const { access_token } = await node.register('ann@example.com');
  const { key } = await node.createKey(access_token, { name: 'shop', scopes: ['commerce.write'] });
  return { ...node, key, made };
}

/** Work that has begun and ends when the test says so. */
function gate(work: { run: () => Promise<void> }) {
  let end: () => void = () => {};
  const begun = new Promise<void>((begin) => {
    work.run = () => {
      begin();
      return new Promise<void>((resolve) => (end = resolve));
    };
  });
  return { begun, end: () => end() };
}

test('a repeated request gets the same answer, including secrets, and has its effect once', async (t) => {
  const { request, token, keysMade, database } = await startNode(t);
  const first = await request('POST', '/v1/api-keys', token, minted, once);
  const second = await request(
    'POST',
    '/v1/api-keys',
    token,
    { scopes: ['tasks.read'], name: 'ci', ignored: 1 },
    { 'idempotency-key': '"once"' },
  );
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(first.headers.get('idempotency-replayed'), null);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  const created = (await first.json()) as NewApiKey;
  assert.deepEqual(await second.json(), created);
  assert.equal(await keysMade(), 1);
  const kept = JSON.stringify((await database.read({ text: 'select * from idempotency_key' })).rows);
  assert.ok(!kept.includes(created.key.slice(8, 51)), 'the kept answer shows no secret');
});

test('a request whose caller disconnects before its key is reserved does not run, and leaves the key free', async (t) => {
  const { request, token, ran, database, clock, anotherEdge } = await startNode(t);
  const held = Promise.withResolvers<void>();
  const reserved = Promise.withResolvers<void>();
  class SlowKeys extends IdempotencyKeys {
    override async reserve(...input: Parameters<IdempotencyKeys['reserve']>) {
      const found = await super.reserve(...input);
      reserved.resolve();
      await held.promise;
      return found;
    }
  }
  const slow = await anotherEdge(new SlowKeys(database, clock));
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...once };
  const left = fetch(`${slow.url}/v1/work`, { method: 'POST', headers, body: '{"n":1}', signal: leaving.signal }).catch(({ name }) => name);
  await reserved.promise;
  leaving.abort();
  assert.equal(await left, 'AbortError');
  // The server hears of the disconnect by its socket, before it answers another connection.
  assert.equal((await fetch(`${slow.url}/v1/auth/me`, { headers })).status, 200);
  held.resolve();
  const keys = async () => (await database.read({ text: 'select from idempotency_key' })).rows.length;
  await until(async () => (await keys()) === 0, 'the key to be free');
  assert.equal(ran.length, 0);
  assert.equal((await request('POST', '/v1/work', token, { n: 1 }, once)).status, 201);
  assert.equal(ran.length, 1);
});

test('without a key every request has its own effect', async (t) => {
  const { request, token, keysMade } = await startNode(t);
  for (let i = 0; i < 2; i++) assert.equal((await request('POST', '/v1/api-keys', token, minted)).status, 201);
  assert.equal(await keysMade(), 2);
});

test('another body or path with a used key is 422 and names the header', async (t) => {
  const { request, token, keysMade } = await startNode(t);
  await request('POST', '/v1/api-keys', token, minted, once);
  for (const refused of [
    await request('POST', '/v1/api-keys', token, { ...minted, name: 'other' }, once),
    await request('POST', '/v1/work', token, {}, once),
    await request('POST', '/v1/api-keys?x=1', token, minted, once),
  ]) {
    assert.equal(refused.status, 422);
    assert.deepEqual(((await refused.json()) as Invalid).detail[0].loc, ['header', 'Idempotency-Key']);
  }
  assert.equal(await keysMade(), 1);
});

test('keys belong to the account, for all credentials and both prefixes; a replay needs the same rights as the request', async (t) => {
  const { request, token, keysMade, createKey } = await startNode(t);
  const entitled = await createKey(token, minted);
  const other = await createKey(token, { name: 'other', scopes: ['billing.read'] });
  const first = (await (await request('POST', '/v1/api-keys', token, minted, once)).json()) as NewApiKey;
  for (const [path, credential] of [
    ['/api-keys', token],
    ['/v1/api-keys', entitled.key],
  ] as const) {
    const again = await request('POST', path, credential, minted, once);
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true']);
    assert.deepEqual(await again.json(), first);
  }
  const refused = await request('POST', '/v1/api-keys', other.key, minted, once);
  assert.equal(refused.status, 403);
  assert.ok(!(await refused.text()).includes(first.key), 'no secret for who could not have made it');
  assert.equal((await request('POST', '/v1/api-keys', entitled.key, { ...minted, name: 'x' }, once)).status, 422);
  assert.equal(await keysMade(), 3);

  // Where a route does not say what its answer needs, it is given to its own caller alone.
  assert.equal((await request('POST', '/v1/work', token, {}, { 'idempotency-key': 'work' })).status, 201);
  assert.equal((await request('POST', '/v1/work', other.key, {}, { 'idempotency-key': 'work' })).status, 422);
});

test('idempotency keys of test keys are separate', async (t) => {
  const { request, token, createKey, ran } = await startNode(t);
  const trial = await createKey(token, { ...minted, mode: 'test' });
  const live = (await (await request('POST', '/v1/work', token, { n: 1 }, once)).json()) as { id: string };
  const answer = await request('POST', '/v1/work', trial.key, { n: 2 }, once);
  assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [201, null]);
  assert.notEqual(((await answer.json()) as { id: string }).id, live.id);
  assert.equal((await request('POST', '/v1/work', trial.key, { n: 1 }, once)).status, 422);
  assert.equal(ran.length, 2);
});

test("an upload's name and content are part of the request, wherever it is repeated", async (t) => {
  const node = await startNode(t);
  const { edge, token, uploaded } = node;
  const another = await node.anotherEdge();
  const upload = async (content: string | Uint8Array<ArrayBuffer>, name = 'a.txt', at = edge, key = 'once') => {
    const body = new FormData();
    body.set('file', new Blob([content]), name);
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': key };
    const answer = await fetch(`${at.url}/upload`, { method: 'POST', headers, body });
    return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), json: (await answer.json()) as any };
  };
  const large = new Uint8Array(3_000_000).fill(7);
  const first = await upload(large);
  assert.deepEqual([first.status, first.replayed], [201, null]);
  for (const at of [edge, another]) {
    assert.deepEqual(await upload(large, 'a.txt', at), { ...first, replayed: 'true' });
    assert.equal((await upload(large.with(2_999_999, 8), 'a.txt', at)).status, 422, 'one other byte at its end');
    assert.equal((await upload(large, 'b.txt', at)).status, 422, 'another name');
    assert.equal((await upload('short', 'a.txt', at)).status, 422);
  }
  assert.deepEqual(uploaded, [3_000_000]);
  assert.equal((await upload('second', 'a.txt', edge, 'twice')).status, 201, 'the connection and other keys are as before');
});

test('a key whose upload may have had its effect stays bound to that upload', async (t) => {
  const node = await startNode(t);
  const { token, work, uploaded, database } = node;
  const upload = async (content: string, edge = node.edge) => {
    const body = new FormData();
    body.set('file', new Blob([content]), 'a.txt');
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'once' };
    const answer = await fetch(`${edge.url}/upload`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  };
  work.run = async () => {
    throw new AppError('outcome_unknown', 'Nobody knows');
  };
  assert.equal(await upload('first'), 504);
  work.run = async () => {};
  for (const content of ['other', 'longer than the first']) assert.equal(await upload(content), 422);
  assert.equal((await database.read({ text: 'select 1 from idempotency_key' })).rows.length, 1, 'it is not freed');
  assert.equal(await upload('first'), 201);
  assert.deepEqual(uploaded, [5, 5]);
});

test('an upload that another try has completed meanwhile is asked to try again, and is then replayed', async (t) => {
  const { token, work, uploaded, anotherEdge, database, clock } = await startNode(t);
  const keysOf = (incarnation: string) => new IdempotencyKeys(database, clock, { incarnation, isAlive: (other) => other !== 'slow/1' });
  const here = keysOf('here/1');
  const [slow, other] = [await anotherEdge(keysOf('slow/1')), await anotherEdge(here)];
  const upload = async (at: { url: string }) => {
    const body = new FormData();
    body.set('file', new Blob(['same']), 'a.txt');
    return fetch(`${at.url}/upload`, { method: 'POST', headers: { authorization: `Bearer ${token}`, ...once }, body });
  };
  const { begun, end } = gate(work);
  const first = upload(slow);
  await begun;
  const bind = here.bind.bind(here);
  here.bind = async (...arguments_) => {
    end();
    assert.equal((await first).status, 201);
    return bind(...arguments_);
  };
  const second = await upload(other);
  assert.deepEqual([second.status, second.headers.get('retry-after')], [409, '1']);
  assert.equal((await upload(other)).headers.get('idempotency-replayed'), 'true');
  assert.equal(uploaded.length, 1, 'it had its effect once');
});

test('accounts do not share keys', async (t) => {
  const { request, token, register } = await startNode(t);
  const bob = await register('bob@example.com');
  const first = (await (await request('POST', '/v1/work', token, { n: 1 }, once)).json()) as { id: string };
  const second = await request('POST', '/v1/work', bob.access_token, { n: 2 }, once);
  assert.equal(second.status, 201);
  assert.notEqual(((await second.json()) as { id: string }).id, first.id);
});

test('while the first request runs, a duplicate is 409 in this and another process; afterwards it is replayed in both', async (t) => {
  const { request, token, ran, work, anotherEdge } = await startNode(t);
  const elsewhere = await anotherEdge();
  const { begun, end } = gate(work);
  const first = request('POST', '/v1/work', token, { n: 1, m: 2 }, once);
  await begun;
  for (const at of [undefined, elsewhere]) {
    const sameKey = await request('POST', '/v1/work', token, { m: 2, n: 1 }, once, at);
    assert.equal(sameKey.status, 409);
    assert.equal(sameKey.headers.get('retry-after'), '1');
    assert.equal((await request('POST', '/v1/work', token, { n: 2 }, once, at)).status, 422);
  }
  end();
  const answer: unknown = await (await first).json();
  for (const at of [undefined, elsewhere]) {
    const replay = await request('POST', '/v1/work', token, { n: 1, m: 2 }, once, at);
    assert.deepEqual([replay.status, replay.headers.get('x-work'), await replay.json()], [201, 'done', answer]);
  }
  assert.equal(ran.length, 1);
});

test('of many concurrent duplicates exactly one has its effect', async (t) => {
  const { request, token, keysMade, anotherEdge } = await startNode(t);
  const elsewhere = await anotherEdge();
  const twins = await Promise.all(
    Array.from({ length: 16 }, (_, i) => request('POST', '/v1/api-keys', token, minted, once, i % 2 === 0 ? undefined : elsewhere)),
  );
  for (const { status } of twins) assert.ok(status === 201 || status === 409, String(status));
  assert.equal(await keysMade(), 1);
});

test('a crash between commit and answer: the retry elsewhere gives the same key and the same secret', async (t) => {
  const { request, token, keysMade, database, clock, anotherEdge } = await startNode(t);
  const dying = new IdempotencyKeys(database, clock);
  dying.keep = () => Promise.reject(new Error('killed'));
  const first = (await (await request('POST', '/v1/api-keys', token, minted, once, await anotherEdge(dying))).json()) as NewApiKey;

  const survivor = await anotherEdge();
  assert.equal((await request('POST', '/v1/api-keys', token, minted, once, survivor)).status, 409, 'it may still run');
  clock.advance(15_000);
  const retried = await request('POST', '/v1/api-keys', token, minted, once, survivor);
  assert.equal(retried.headers.get('idempotency-replayed'), null);
  const second = (await retried.json()) as NewApiKey;
  assert.deepEqual(second, first);
  assert.equal(await keysMade(), 1);
  assert.equal((await request('GET', '/v1/auth/me', second.key)).status, 200);
});

test('a request that runs for longer than a key is reserved keeps its key while its process lives', async (t) => {
  const { request, token, ran, work, database, clock, anotherEdge } = await startNode(t);
  const { begun, end } = gate(work);
  const renewing = new IdempotencyKeys(database, clock, { incarnation: 'here/1', isAlive: () => true, reservedForMs: 30 });
  const first = request('POST', '/v1/work', token, {}, once, await anotherEdge(renewing));
  await begun;
  clock.advance(20_000);
  const reservedAtMs = async () => (await database.read({ text: 'select reserved_at from idempotency_key' })).rows[0].reserved_at;
  await until(async () => (await reservedAtMs()) === clock.nowMs(), 'the renewal');
  const other = await anotherEdge();
  assert.equal((await request('POST', '/v1/work', token, {}, once, other)).status, 409, 'it still runs');
  end();
  assert.equal((await first).status, 201);
  assert.equal((await request('POST', '/v1/work', token, {}, once, other)).headers.get('idempotency-replayed'), 'true');
  assert.equal(ran.length, 1);
});

test('a key is no longer renewed when its request has failed', async (t) => {
  const { request, token, work, database, clock, anotherEdge } = await startNode(t);
  work.run = () => Promise.reject(new Error('lost'));
  const renewing = new IdempotencyKeys(database, clock, { incarnation: 'here/1', isAlive: () => true, reservedForMs: 30 });
  assert.equal((await request('POST', '/v1/work', token, {}, once, await anotherEdge(renewing))).status, 500);
  clock.advance(15_000);
  work.run = async () => {};
  assert.equal((await request('POST', '/v1/work', token, {}, once, await anotherEdge())).status, 201);
});

/** Two nodes of a cluster, one of which is known to be dead from the moment a test says so. */
async function startTwoNodes(t: TestContext) {
  const node = await startNode(t);
  const dead = new Set<string>();
  const keysOf = (incarnation: string) =>
    new IdempotencyKeys(node.database, node.clock, { incarnation, isAlive: (other) => !dead.has(other) });
  const dying = keysOf('dying/1');
  return { ...node, dying, dies: () => void dead.add('dying/1'), here: await node.anotherEdge(keysOf('here/1')) };
}

test('a node killed between reserving and committing: the retry at another node runs at once, with the ids of the first', async (t) => {
  const { request, token, ran, work, anotherEdge, dying, dies, here } = await startTwoNodes(t);
  const { begun, end } = gate(work);
  const first = request('POST', '/v1/work', token, {}, once, await anotherEdge(dying));
  await begun;
  assert.equal((await request('POST', '/v1/work', token, {}, once, here)).status, 409, 'while it lives');
  dies();
  work.run = async () => {};
  const retried = await request('POST', '/v1/work', token, {}, once, here);
  assert.deepEqual([retried.status, retried.headers.get('idempotency-replayed')], [201, null]);
  assert.deepEqual(ran[1], ran[0]);
  // Not dead but very slow: it gives the same answer.
  end();
  assert.deepEqual(await (await first).json(), await retried.json());
});

test('a node killed between commit and answer: the retry at another node gives the same key and secret at once', async (t) => {
  const { request, token, keysMade, anotherEdge, dying, dies, here } = await startTwoNodes(t);
  dying.keep = () => Promise.reject(new Error('killed'));
  const first = (await (await request('POST', '/v1/api-keys', token, minted, once, await anotherEdge(dying))).json()) as NewApiKey;
  dies();
  const retried = await request('POST', '/v1/api-keys', token, minted, once, here);
  assert.deepEqual([retried.status, await retried.json()], [201, first]);
  assert.equal(await keysMade(), 1);
  const again = await request('POST', '/v1/api-keys', token, minted, once, here);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
});

test('a refusal of a retry is final: the first request under the same key is refused too when it arrives later', async (t) => {
  const { request, token, ran, work, actors, anotherEdge, dying, dies, here } = await startTwoNodes(t);
  const revoke = async () => void (await actors.ask(apiKey, 'key_1', 'revoke', { accountId: 'acct_1' }, { commandId: ran[0]!.commandId }));
  const { begun, end } = gate(work);
  const held = work.run;
  work.run = () => held().then(revoke);
  const first = request('POST', '/v1/work', token, {}, once, await anotherEdge(dying));
  await begun;
  // Out of the cluster, but it still runs.
  dies();
  work.run = revoke;
  assert.equal((await request('POST', '/v1/work', token, {}, once, here)).status, 404);
  const facts = { accountId: 'acct_1', userId: 'user_1', name: 'ci', secretHash: 'a'.repeat(64), lastFour: 'aaaa', scopes: [] };
  await actors.ask(apiKey, 'key_1', 'create', { ...facts, mode: 'live' });
  end();
  assert.equal((await first).status, 404);
  assert.notEqual(await actors.query(apiKey, 'key_1', 'facts', null), null);
});

test('a refused request releases its key for other requests', async (t) => {
  const { request, token, work } = await startNode(t);
  work.run = () => Promise.reject(new AppError('conflict', 'no'));
  assert.equal((await request('POST', '/v1/work', token, { n: 1 }, once)).status, 409);
  work.run = async () => {};
  const other = await request('POST', '/v1/work', token, { n: 2 }, once);
  assert.deepEqual([other.status, other.headers.get('idempotency-replayed')], [201, null]);
});

test('a key that was reserved before is not released by a later refusal: the first request may still have its effect', async (t) => {
  const { request, token, ran, work, database } = await startNode(t);
  for (const [code, status] of [
    ['outcome_unknown', 504],
    ['rate_limited', 429],
    ['conflict', 409],
  ] as const) {
    work.run = () => Promise.reject(new AppError(code, 'no'));
    assert.equal((await request('POST', '/v1/work', token, {}, once)).status, status);
  }
  work.run = async () => {};
  assert.equal((await request('POST', '/v1/work', token, { n: 2 }, once)).status, 422, 'it still means the first request');
  assert.equal((await request('POST', '/v1/work', token, {}, once)).status, 201);
  assert.equal(ran.length, 4);
  for (const ids of ran) assert.deepEqual(ids, ran[0]);
  assert.equal((await database.read({ text: 'select 1 from idempotency_key' })).rows.length, 1);
});

test('a refusal after the effect releases no key: a reply that was too large to return, a committed command', async (t) => {
  const { request, token, ran, work, actors } = await startNode(t);
  work.run = () => Promise.reject(new AppError('reply_too_large', 'It was done, but its reply is too large'));
  assert.equal((await request('POST', '/v1/work', token, {}, once)).status, 413);
  work.run = async () => {};
  assert.equal((await request('POST', '/v1/work', token, {}, once)).status, 201);
  assert.deepEqual(ran[1], ran[0]);

  for (const word of ['', earlierCommand]) {
    const key = { 'idempotency-key': `twice${word}` };
    work.run = async () => {
      const { id, commandId } = ran.at(-1)!;
      const change = { autoApproveThresholdMinor: ran.length };
      await actors.ask(accountSettings, 'acct_1', 'change', change, { commandId: `${commandId}${word}` });
      throw new AppError('not_found', `${id} is gone`);
    };
    for (let n = 0; n < 2; n++) assert.equal((await request('POST', '/v1/work', token, {}, key)).status, 404);
    assert.deepEqual(ran.at(-1), ran.at(-2));
  }
});

test('after an unknown outcome the retry runs again at once, with the ids of the first', async (t) => {
  const { request, token, ran, work } = await startNode(t);
  for (const failure of [new AppError('outcome_unknown', 'who knows'), new AppError('unavailable', 'not now'), new TypeError('a defect')]) {
    work.run = () => Promise.reject(failure);
    assert.ok((await request('POST', '/v1/work', token, {}, once)).status >= 500);
  }
  work.run = async () => {};
  assert.equal((await request('POST', '/v1/work', token, {}, once)).status, 201);
  assert.equal(ran.length, 4);
  for (const ids of ran) assert.deepEqual(ids, ran[0]);
});

test('a key is forgotten after 24 hours', async (t) => {
  const { request, token, ran, clock, tokens } = await startNode(t);
  await request('POST', '/v1/work', token, {}, once);
  clock.advance(24 * 3_600_000);
  const { userId, accountId, sessionId } = JSON.parse(
    Buffer.from(token.split('.')[2]!, 'base64url').subarray(0, -64).toString(),
    (key, value) => {
      return key === '' ? { userId: value.sub, accountId: value.account, sessionId: value.session } : value;
    },
  );
  const fresh = await tokens.accessToken({ userId, accountId, sessionId });
  assert.equal((await request('POST', '/v1/work', fresh, { n: 2 }, once)).headers.get('idempotency-replayed'), null);
  assert.equal(ran.length, 2);
  assert.notEqual(ran[1]!.commandId, ran[0]!.commandId);
});

test('a key of commerce is kept for 30 days, the secrets of its answer for one; after that a replay has null in their place', async (t) => {
  const { request, key, made, clock, keys, database } = await startCommerce(t);
  const dayMs = 24 * 3_600_000;
  const first: any = await (await request('POST', '/v1/commerce/cards', key, undefined, once)).json();
  const stored = async () =>
    JSON.stringify((await database.read({ text: 'select * from idempotency_key where secret_response is not null' })).rows);
  assert.ok(!(await stored()).includes('4111'), 'what is kept is encrypted');
  clock.advance(dayMs - 1);
  assert.deepEqual(await (await request('POST', '/v1/commerce/cards', key, undefined, once)).json(), first);
  clock.advance(1);
  const late = await request('POST', '/v1/commerce/cards', key, undefined, once);
  assert.deepEqual([late.status, late.headers.get('idempotency-replayed')], [201, 'true']);
  assert.deepEqual(await late.json(), { ...first, shown: { number: null, cvv: null, last4: '1111' } });
  assert.equal(await keys.deleteSecrets(), 1);
  assert.equal(await stored(), '[]');
  clock.advance(29 * dayMs - 1);
  assert.equal((await request('POST', '/v1/commerce/cards', key, undefined, once)).headers.get('idempotency-replayed'), 'true');
  assert.equal(made.cards, 1);
  clock.advance(1);
  assert.equal((await request('POST', '/v1/commerce/cards', key, undefined, once)).headers.get('idempotency-replayed'), null);
  assert.equal(made.cards, 2);
  assert.ok(first.command.startsWith(monthlyCommands));
});

test('an invalid key is 422 and reserves nothing', async (t) => {
  const { request, token, database } = await startNode(t);
  for (const key of ['x'.repeat(256), '""', 'caf\u00e9s', 'a\tb']) {
    const refused = await request('POST', '/v1/work', token, {}, { 'idempotency-key': key });
    assert.equal(refused.status, 422, key);
    assert.deepEqual(((await refused.json()) as Invalid).detail[0].loc, ['header', 'Idempotency-Key']);
  }
  assert.equal((await request('POST', '/v1/work', token, {}, { 'idempotency-key': 'x'.repeat(255) })).status, 201);
  assert.equal((await database.read({ text: 'select 1 from idempotency_key' })).rows.length, 1);
});

test('a request that is not valid or not allowed reserves nothing', async (t) => {
  const { request, token, database } = await startNode(t);
  assert.equal((await request('POST', '/v1/work', token, { n: 'x' }, once)).status, 422);
  assert.equal((await request('POST', '/v1/work', null, {}, once)).status, 401);
  assert.equal((await database.read({ text: 'select 1 from idempotency_key' })).rows.length, 0);
});

test('registration and login ignore idempotency keys', async (t) => {
  const { request, database } = await startNode(t);
  const body = { email: 'bob@example.com', password: 'correct horse battery' };
  assert.equal((await request('POST', '/v1/auth/register', null, body, once)).status, 201);
  assert.equal((await request('POST', '/v1/auth/register', null, body, once)).status, 409);
  assert.equal((await database.read({ text: 'select 1 from idempotency_key' })).rows.length, 0);
});
