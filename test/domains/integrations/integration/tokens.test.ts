/** The tokens of connections, with a stand-in that reports the state of its tokens. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { integration } from '../../../../src/domains/integrations/integration/messages.ts';
import { type IntegrationWorld, integrationWorld } from '../../../support/integration-world.ts';
import { OAuthStandIn } from '../../../support/oauth-stand-in.ts';
import { until } from '../../../support/until.ts';

type World = IntegrationWorld & { service: OAuthStandIn };

async function connected(t: TestContext, prepare: (service: OAuthStandIn) => void = () => {}): Promise<World> {
  const service = await OAuthStandIn.start(t);
  prepare(service);
  const { url } = service;
  const world = await integrationWorld(t, 'github', {
    ...{ clientId: 'id', clientSecret: 'secret', apiUrl: `${url}/api`, tokenUrl: `${url}/token` },
  });
  await world.connect();
  service.tokenRequests.length = 0;
  return { ...world, service };
}

const failureOf = (work: Promise<unknown>): Promise<{ type: string; message: string; retryAt?: string }> =>
  work.then(
    () => assert.fail('it succeeded'),
    (error) => error.failure ?? assert.fail(String(error.stack)),
  );

test("a hundred calls that find less than a fifth of a token's life left renew it once", async (t) => {
  const { clock, request, service, row } = await connected(t, (standIn) => (standIn.expiresIn = 100));
  clock.move(81_000);
  await Promise.all(Array.from({ length: 100 }, () => request()));
  assert.equal(service.tokenRequests.length, 1);
  assert.deepEqual(service.tokenRequests[0]!.form, {
    ...{ grant_type: 'refresh_token', refresh_token: 'refresh-1', client_id: 'id', client_secret: 'secret' },
  });
  assert.equal(new Set(service.apiRequests.map(({ headers }) => headers.authorization)).size, 1);
  assert.match(String(service.apiRequests[0]!.headers.authorization), /^Bearer access-2-/);
  assert.equal((await row()).generation, 2);
});

test('a token is not renewed while more than five minutes, or a fifth of its life, are left', async (t) => {
  const { clock, request, service } = await connected(t);
  clock.move(3_250_000);
  await request();
  assert.equal(service.tokenRequests.length, 0);
  clock.move(60_000);
  await request();
  assert.equal(service.tokenRequests.length, 1);
});

test('a token without expiry is never renewed, and a renewal without a new refresh token keeps the old one', async (t) => {
  const { clock, request, service } = await connected(t, (standIn) => (standIn.rotates = false));
  clock.move(3_500_000);
  await request();
  clock.move(3_500_000);
  service.expiresIn = undefined;
  await request();
  assert.deepEqual(
    service.tokenRequests.map(({ form }) => form.refresh_token),
    ['refresh-1', 'refresh-1'],
  );
  clock.move(1_000 * 86_400_000);
  await request();
  assert.equal(service.tokenRequests.length, 2);
});

test('a token that is refused before its expiry is renewed once and the call is retried once', async (t) => {
  const { request, service, row } = await connected(t);
  service.taken.clear();
  assert.equal((await request()).status, 200);
  assert.deepEqual([service.tokenRequests.length, service.apiRequests.length], [1, 2]);
  service.apiFaults = [
    { status: 401, json: {} },
    { status: 401, json: {} },
  ];
  assert.equal((await failureOf(request())).type, 'forbidden');
  assert.equal(service.tokenRequests.length, 2);
  assert.equal((await row()).status, 'connected');
});

test('a refused token that cannot be renewed ends the connection as revoked, one that has expired as expired, without a request', async (t) => {
  const world = await connected(t, (standIn) => (standIn.withRefresh = false));
  const { request, service, row, clock, events, connect } = world;
  service.taken.clear();
  assert.equal((await failureOf(request())).type, 'forbidden');
  assert.deepEqual([(await row()).status, (await row()).reason], ['error', 'revoked']);
  await connect();
  clock.move(3_601_000);
  service.apiRequests.length = 0;
  await failureOf(request());
  assert.deepEqual([(await row()).status, (await row()).reason], ['error', 'expired']);
  assert.equal(service.apiRequests.length, 0);
  assert.deepEqual(events(), ['integration.connected', 'integration.error', 'integration.recovered', 'integration.error']);
});

test('a refresh token that is refused twice ends the connection once, however many calls wait, and later calls fail at once', async (t) => {
  const { request, service, row, clock, events, runtime } = await connected(t);
  service.refreshTokens.clear();
  clock.move(3_601_000);
  const failures = await Promise.all(Array.from({ length: 20 }, () => failureOf(request())));
  assert.deepEqual(new Set(failures.map(({ type }) => type)), new Set(['forbidden']));
  assert.equal(service.tokenRequests.length, 2);
  assert.deepEqual([(await row()).status, (await row()).reason], ['error', 'revoked']);
  await failureOf(request());
  assert.deepEqual([service.tokenRequests.length, service.apiRequests.length], [2, 0]);
  assert.deepEqual(events(), ['integration.connected', 'integration.error']);
  const { data } = runtime.events.find(({ type }) => type === 'integration.error')!;
  const shown = JSON.parse(data.text).integration;
  assert.deepEqual([shown.status, shown.reason], ['error', 'revoked']);
  assert.equal(shown.reconnect_url, 'https://troupe.test/integrations/connect?service=github');
  assert.doesNotMatch(data.text, /access-|refresh-/);
});

test('a client that the service does not know ends the connection as misconfigured, and a later check recovers it', async (t) => {
  const { request, service, row, clock, events, runtime, id } = await connected(t);
  clock.move(3_601_000);
  service.tokenFaults = [{ status: 401, json: { error: 'invalid_client' } }];
  await failureOf(request());
  assert.deepEqual([(await row()).reason, service.tokenRequests.length], ['client_misconfigured', 1]);
  await runtime.actors.ask(integration, id, 'check', {});
  await until(async () => (await row()).status === 'connected');
  assert.deepEqual(events(), ['integration.connected', 'integration.error', 'integration.recovered']);
  assert.equal((await request()).status, 200);
});

test('an outage of the token endpoint is three tries, then unavailable; the connection stays, and the next call tries again', async (t) => {
  const { request, service, row, clock, events } = await connected(t);
  clock.move(3_601_000);
  service.tokenFaults = [{ status: 503, text: 'busy' }, 'cut', { status: 200, text: '<html>' }];
  const begunAtMs = performance.now();
  assert.equal((await failureOf(request())).type, 'unavailable');
  assert.ok(performance.now() - begunAtMs < 30_000);
  assert.equal(service.tokenRequests.length, 3);
  assert.deepEqual([(await row()).status, events()], ['connected', ['integration.connected']]);
  assert.equal((await request()).status, 200);
  assert.equal(service.tokenRequests.length, 4);
});

test('after a crash in a renewal the stored token is tried once more, and a lost rotation ends the connection with three requests in all', async (t) => {
  const { request, service, row, clock, events, runtime } = await connected(t);
  clock.move(3_601_000);
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: isGone, resolve: gone } = Promise.withResolvers<void>();
  service.beforeTokenAnswer = async () => {
    asked();
    await isGone;
  };
  const lost = request().catch(() => {});
  await isAsked;
  await runtime.crashAndRestart();
  service.beforeTokenAnswer = () => {};
  gone();
  await until(async () => (await row()).status === 'error');
  assert.equal(service.tokenRequests.length, 3);
  assert.deepEqual(events(), ['integration.connected', 'integration.error']);
  await lost;
});

test('after a crash before the service has renewed the token the connection continues', async (t) => {
  const { request, service, row, clock, runtime } = await connected(t);
  clock.move(3_601_000);
  service.tokenFaults = ['hang'];
  const lost = request().catch(() => {});
  await until(() => service.tokenRequests.length === 1);
  await runtime.crashAndRestart();
  await until(async () => (await row()).generation === 2);
  assert.equal((await request()).status, 200);
  assert.equal(service.tokenRequests.length, 2);
  await lost;
});

test('the new refresh token is stored before the first request that has the new access token', async (t) => {
  const { request, service, clock, runtime, id } = await connected(t);
  clock.move(3_601_000);
  await request();
  const [{ generation }] = (await runtime.sql('select generation from integration where id = $1', [id])) as [{ generation: number }];
  assert.equal(generation, 2);
  await runtime.crashAndRestart();
  clock.move(3_601_000);
  await request();
  assert.deepEqual(
    service.tokenRequests.map(({ form }) => form.refresh_token),
    ['refresh-1', 'refresh-2'],
  );
});

test('disconnecting revokes access at the service, with three retries, ends agents, and is final', async (t) => {
  const { service, runtime, id, notifications, row, request, events } = await connected(t);
  service.apiFaults = [{ status: 500 }, { status: 503 }];
  await runtime.actors.ask(integration, id, 'disconnect', null);
  await runtime.actors.ask(integration, id, 'disconnect', null);
  await until(() => service.apiRequests.length === 3);
  const [first] = service.apiRequests;
  assert.deepEqual([first!.method, first!.path], ['DELETE', '/api/applications/id/grant']);
  assert.equal(first!.headers.authorization, `Basic ${Buffer.from('id:secret').toString('base64')}`);
  assert.match(first!.text, /^\{"access_token":"access-1-/);
  const { status, tokens } = await row();
  assert.deepEqual([status, tokens], ['disconnected', '']);
  assert.deepEqual(notifications.at(-1), { accountId: (await row()).accountId, connection: id, message: 'GitHub was disconnected' });
  assert.equal((await failureOf(request())).type, 'forbidden');
  assert.deepEqual(events(), ['integration.connected', 'integration.disconnected']);
});

test('disconnecting during a renewal also ends access by the tokens that the renewal obtains', async (t) => {
  const { service, runtime, id, row, request, events, clock } = await connected(t);
  clock.move(3_601_000);
  const answered = Promise.withResolvers<void>();
  service.beforeTokenAnswer = () => answered.promise;
  const failure = failureOf(request());
  await until(() => service.tokenRequests.length === 1);
  await runtime.actors.ask(integration, id, 'disconnect', null);
  assert.equal((await failure).type, 'forbidden');
  answered.resolve();
  await until(() => service.apiRequests.some(({ text }) => text.includes('"access-2-')));
  assert.equal(service.tokenRequests.length, 1);
  const { status, tokens, refreshEffectId } = await row();
  assert.deepEqual([status, tokens, refreshEffectId], ['disconnected', '', null]);
  assert.deepEqual(events(), ['integration.connected', 'integration.disconnected']);
});

test('connecting again during a revocation keeps the id and the new tokens', async (t) => {
  const { service, runtime, id, connect, row, request } = await connected(t);
  service.apiFaults = [{ status: 500 }];
  await runtime.actors.ask(integration, id, 'disconnect', null);
  await until(() => service.apiRequests.length === 1);
  assert.equal((await connect()).id, id);
  assert.equal((await request()).status, 200);
  assert.deepEqual([(await row()).revokeEffectId, (await row()).status], [null, 'connected']);
});

test('a rate limit of up to two minutes is waited for, without requests to the same method meanwhile; a longer one is reported at once', async (t) => {
  const { service, request, calls } = await connected(t);
  service.apiFaults = [{ status: 429, headers: { 'retry-after': '3' }, json: {} }];
  const begunAtMs = performance.now();
  const first = request();
  await until(() => calls.limits === 1);
  const others = Array.from({ length: 5 }, () => request());
  assert.equal((await request({ path: '/repos/a/b' })).status, 200);
  assert.equal(service.apiRequests.filter(({ path }) => path === '/api/user').length, 1);
  for (const { status } of await Promise.all([first, ...others])) assert.equal(status, 200);
  assert.ok(performance.now() - begunAtMs >= 2_990);
  service.apiFaults = [{ status: 429, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, json: {} }];
  const failure = await failureOf(request());
  assert.equal(failure.type, 'rate_limited');
  const inMs = Date.parse(failure.retryAt!) - Date.now();
  assert.ok(inMs > 3_500_000 && inMs <= 3_601_000, String(inMs));
  const before = service.apiRequests.length;
  assert.equal((await failureOf(request())).type, 'rate_limited');
  assert.equal(service.apiRequests.length, before);
});

test('reads are retried while the service is unavailable, writes are not, and no failure contains a token', async (t) => {
  const { service, request } = await connected(t);
  service.apiFaults = [{ status: 502 }, 'cut'];
  assert.equal((await request()).status, 200);
  assert.equal(service.apiRequests.length, 3);
  service.apiFaults = ['cut'];
  const unclear = await failureOf(request({ method: 'POST', json: {} }));
  assert.equal(unclear.type, 'unavailable');
  assert.match(unclear.message, /not known/);
  assert.equal(service.apiRequests.length, 4);
  const token = /Bearer (.*)/.exec(String(service.apiRequests[0]!.headers.authorization))![1]!;
  service.apiFaults = [{ status: 422, json: { message: `What is ${token}?`, errors: [{ field: 'title' }] } }];
  const refused = await failureOf(request({ method: 'POST', json: {} }));
  assert.equal(refused.type, 'invalid');
  assert.ok(!refused.message.includes(token), refused.message);
  service.apiFaults = [{ json: 'x'.repeat(3 * 2 ** 20) }];
  assert.match((await failureOf(request({ method: 'POST', json: {} }))).message, /2 MiB/);
  service.apiFaults = [{ text: '<html>' }];
  assert.match((await failureOf(request({ method: 'POST', json: {} }))).message, /no JSON/);
});

test('the daily check renews expiring tokens and finds revoked ones', async (t) => {
  const { service, runtime, id, row, clock, events } = await connected(t);
  clock.move(86_400_000);
  await runtime.actors.ask(integration, id, 'check', {});
  await until(async () => (await row()).generation === 2);
  await until(() => service.apiRequests.some(({ path }) => path === '/api/user'));
  service.taken.clear();
  service.refreshTokens.clear();
  await runtime.actors.ask(integration, id, 'check', {});
  await until(async () => (await row()).status === 'error');
  assert.deepEqual(events(), ['integration.connected', 'integration.error']);
});

test('a second token is renewed by its own refresh token and keeps its scopes; a refused one is removed with its scopes', async (t) => {
  const service = await OAuthStandIn.start(t);
  const { url } = service;
  service.takes = async () => true;
  const settings = { clientId: 'id', clientSecret: 'secret', apiUrl: `${url}/api`, tokenUrl: `${url}/token` };
  const { connect, request, clock, row, runtime, id } = await integrationWorld(t, 'slack', settings);
  const bot = (n: number) => ({ ok: true, access_token: `bot-${n}`, refresh_token: `bot-r${n}`, expires_in: 43_200, scope: 'chat:write' });
  const person = (n: number) => ({ scope: 'search:read', access_token: `user-${n}`, refresh_token: `user-r${n}`, expires_in: 43_200 });
  service.tokenFaults = [{ json: { ...bot(1), authed_user: { id: 'U1', ...person(1) } } }];
  await connect();
  const search = () => request({ method: 'POST', path: '/search.messages', as: 'user' });
  const renewedBy = () => service.tokenRequests.map(({ form }) => form.refresh_token).filter((token) => token !== undefined);
  const bearer = () => service.apiRequests.at(-1)!.headers.authorization;

  clock.move(43_000_000);
  service.tokenFaults = [{ json: bot(2) }, { json: { ok: true, token_type: 'user', ...person(2) } }];
  await Promise.all([search(), search()]);
  assert.deepEqual([renewedBy(), bearer()], [['bot-r1', 'user-r1'], 'Bearer user-2']);
  assert.deepEqual((await row()).grantedScopes, ['chat:write', 'search:read']);

  // An outage for the second token only: it is retried soon, with the stored refresh token.
  clock.move(43_000_000);
  service.tokenFaults = [{ json: bot(3) }, { status: 503 }, { json: bot(4) }, { json: { ok: true, ...person(4) } }];
  await request({ method: 'POST', path: '/auth.test' });
  assert.equal(bearer(), 'Bearer bot-3');
  clock.move(60_000);
  await search();
  assert.deepEqual([renewedBy().slice(2), bearer()], [['bot-r2', 'user-r2', 'bot-r3', 'user-r2'], 'Bearer user-4']);

  clock.move(43_000_000);
  service.tokenFaults = [{ json: bot(5) }, { json: { ok: false, error: 'invalid_refresh_token' } }];
  await request({ method: 'POST', path: '/auth.test' });
  assert.deepEqual([(await row()).status, (await row()).grantedScopes], ['connected', ['chat:write']]);

  service.tokenFaults = [{ json: { ...bot(6), authed_user: { id: 'U1', ...person(6) } } }];
  await connect();
  await runtime.actors.ask(integration, id, 'disconnect', null);
  const ended = () => service.apiRequests.filter(({ path }) => path === '/api/auth.revoke').map(({ headers }) => headers.authorization);
  await until(() => ended().length === 2);
  assert.deepEqual(ended().sort(), ['Bearer bot-6', 'Bearer user-6']);
});

test('scopes that allow no tool are reported as an error, when connecting and when a renewal reduces them', async (t) => {
  const service = await OAuthStandIn.start(t);
  const { url } = service;
  const settings = { clientId: 'id', clientSecret: 'secret', apiUrl: `${url}/api`, tokenUrl: `${url}/token` };
  const { connect, request, clock, row, events, runtime, notifications } = await integrationWorld(t, 'gmail', settings);
  const readonly = 'https://www.googleapis.com/auth/gmail.readonly';
  service.scope = 'openid email';
  const poor = await connect();
  assert.deepEqual([poor.status, poor.reason], ['error', 'scope_missing']);
  assert.deepEqual([events(), notifications], [['integration.error'], []]);
  const shown = JSON.parse(runtime.events.find(({ type }) => type === 'integration.error')!.data.text).integration;
  assert.deepEqual([shown.available_tools, shown.granted_scopes, shown.reason], [[], ['openid', 'email'], 'scope_missing']);
  assert.equal(shown.reconnect_url, 'https://troupe.test/integrations/connect?service=gmail');
  const failure = await failureOf(request());
  assert.equal(failure.type, 'forbidden');
  assert.match(failure.message, /lacks the permissions.*connect it again/);
  assert.equal(service.apiRequests.length, 0);

  service.scope = `openid ${readonly}`;
  assert.equal((await connect()).status, 'connected');
  service.apiFaults = [
    {
      status: 403,
      json: {
        error: {
          code: 403,
          message: 'Request had insufficient authentication scopes.',
          status: 'PERMISSION_DENIED',
          details: [{ reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' }],
        },
      },
    },
  ];
  const refused = await failureOf(request({ path: '/gmail/v1/users/me/messages' }));
  assert.equal(refused.type, 'forbidden');
  service.scope = 'openid';
  clock.move(3_601_000);
  await failureOf(request());
  assert.deepEqual([(await row()).status, (await row()).reason], ['error', 'scope_missing']);
  assert.deepEqual(events(), ['integration.error', 'integration.recovered', 'integration.error']);
});

test('a refusal for a missing scope names the address where a person grants it', async (t) => {
  const service = await OAuthStandIn.start(t);
  const { url } = service;
  service.takes = async () => true;
  const settings = { clientId: 'id', clientSecret: 'secret', apiUrl: `${url}/api`, tokenUrl: `${url}/token` };
  const { connect, request } = await integrationWorld(t, 'slack', settings);
  service.scope = 'chat:write';
  await connect();
  service.apiFaults = [{ json: { ok: false, error: 'missing_scope', needed: 'channels:history', provided: 'chat:write' } }];
  const refused = await failureOf(request({ method: 'POST', path: '/conversations.history' }));
  assert.match(
    refused.message,
    /allow channels:history by connecting again: https:\/\/troupe\.test\/integrations\/connect\?service=slack$/,
  );
});

test('a consent is good for ten minutes; after that its state is refused without a request', async (t) => {
  const { service, begin, connect, clock } = await connected(t);
  const [early, late] = [await begin(), await begin()].map((url) => url.searchParams.get('state')!);
  // The clock also goes on by itself.
  clock.move(590_000);
  await connect('good', { state: early! });
  clock.move(11_000);
  const before = service.tokenRequests.length;
  await assert.rejects(connect('good', { state: late! }), { code: 'invalid' });
  assert.equal(service.tokenRequests.length, before);
});
