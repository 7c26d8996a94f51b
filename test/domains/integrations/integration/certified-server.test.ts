/** Connections at a certified authorization server, whose refresh tokens rotate and may be presented once. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { tokenBox } from '../../../../src/domains/integrations/integration/tokens.ts';
import { certifiedServer } from '../../../support/certified-authorization-server.ts';
import { integrationSecretKey, integrationWorld } from '../../../support/integration-world.ts';
import { OAuthStandIn } from '../../../support/oauth-stand-in.ts';
import { until } from '../../../support/until.ts';

const callback = 'https://troupe.test/integrations/callback';

async function consented(t: TestContext) {
  const server = await certifiedServer(t, callback, ['repo']);
  const api = await OAuthStandIn.start(t);
  const world = await integrationWorld(t, 'github', {
    ...{ clientId: server.clientId, clientSecret: server.clientSecret, apiUrl: `${api.url}/api` },
    ...{ authorizeUrl: `${server.url}/auth`, tokenUrl: `${server.url}/token`, revokeUrl: `${server.url}/token/revocation` },
  });
  const back = (await server.consent(await world.begin())).searchParams;
  assert.equal(back.get('error'), null, String(back));
  return { server, api, ...world, code: back.get('code')!, state: back.get('state')! };
}

const box = tokenBox(integrationSecretKey);

test('a consent with PKCE connects, and a hundred calls renew a token once at a server that accepts a refresh token once', async (t) => {
  const { server, api, connect, code, state, row, request, clock } = await consented(t);
  const { grantedScopes } = await connect(code, { state });
  assert.deepEqual(grantedScopes, ['repo']);
  // The stand-in of the API accepts the tokens that the authorization server reports as valid.
  const tokens = async () => box.open((await row()).tokens, (await row()).id);
  api.taken.add((await tokens()).access);
  await request();
  for (let round = 1; round <= 3; round++) {
    clock.move(3_590_000);
    const before = server.tokenRequests.length;
    api.takes = (token) => server.isGood(token);
    await Promise.all(Array.from({ length: 100 }, () => request()));
    assert.equal(server.tokenRequests.length - before, 1);
  }
  assert.equal((await row()).status, 'connected');
});

test('a code without its verifier, and a used code, are refused', async (t) => {
  const { connect, code, state } = await consented(t);
  await assert.rejects(connect(code), { code: 'invalid' });
  await connect(code, { state });
  await assert.rejects(connect(code), { code: 'invalid' });
});

test('a rotation that is lost with its node ends the connection, and the server revokes all tokens of the consent', async (t) => {
  const { server, api, connect, code, state, row, request, clock, runtime, events } = await consented(t);
  await connect(code, { state });
  api.takes = (token) => server.isGood(token);
  clock.move(3_590_000);
  const lost = request().catch(() => {});
  await until(() => server.tokenRequests.length === 2);
  // The answer may be under way: what counts is that the turn was not committed.
  await runtime.crashAndRestart();
  await until(async () => (await row()).refreshEffectId === null);
  const { status, reason, generation } = await row();
  if (status === 'error') assert.equal(reason, 'revoked');
  else assert.equal(generation, 2);
  assert.ok(server.tokenRequests.length <= 4, String(server.tokenRequests.length));
  assert.equal(events().filter((type) => type === 'integration.error').length, status === 'error' ? 1 : 0);
  await lost;
});
