/** Streams of sessions: expiry of tokens and end of sessions while a stream is open. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { accessTokenLifeMs } from '../../../src/edge/auth/tokens.ts';
import { createServer } from '../../../src/edge/http/server.ts';
import { Stream } from '../../../src/edge/stream/stream.ts';
import { StreamHub } from '../../../src/edge/stream/stream-hub.ts';
import { noLog } from '../../../src/log.ts';
import { startIdentityNode } from '../../support/identity-node.ts';
import { eventCatalogue } from '../../support/product-events.ts';
import { StreamClient } from '../../support/stream-client.ts';

test('a stream lives as long as its session: it survives the expiry of its token and ends with the sign-out', async (t) => {
  const node = await startIdentityNode(t);
  const { authenticator, database } = node;
  let refusals = 0;
  const stream = new Stream({
    admitRefusedToken: async (clientAddress) => clientAddress === '127.0.0.1' && ++refusals <= 2,
    hub: new StreamHub(database, noLog),
    eventCatalogue,
    database,
    authenticate: (token) => authenticator.authenticate(`Bearer ${token}`),
    isStillValid: (principal) => authenticator.isStillValid(principal),
    retentionDays: 7,
    log: noLog,
  });
  const server = await createServer({
    handler: () => ({ status: 404, headers: null, body: null }),
    log: noLog,
    maxHeaderBytes: 16_384,
    accessLog: false,
  });
  server.webSocket('/ws', stream, { maxMessageBytes: 65_536, maxBufferedBytes: 1_048_576, idleTimeoutS: 120 });
  const { port } = await server.listen('127.0.0.1', 0);
  t.after(async () => {
    stream.disconnectAll(0);
    await server.close(0);
  });
  const open = async (token: string) => {
    const client = await StreamClient.open(port);
    client.send({ type: 'auth', token });
    return client;
  };
  const { access_token: token, refresh_token } = await node.register('ann@example.com');
  const client = await open(token);
  const { account_id, ...welcome } = await client.untilMessage('auth_ok');
  assert.match(account_id, /^acct_/);
  assert.deepEqual(welcome, { type: 'auth_ok', seq: 0, resumed: false });

  node.clock.advance(accessTokenLifeMs + 1);
  assert.equal(await (await open(token)).ended(), 4401, 'it opens no other');
  const refreshed = await node.request('POST', '/v1/auth/refresh', null, { refresh_token });
  const next = (await refreshed.json()) as { access_token: string; refresh_token: string };
  const other = await open(next.access_token);
  await other.untilMessage('auth_ok');
  client.send({ type: 'ping' });
  await client.untilMessage('pong');

  const signedOut = await node.request('POST', '/v1/auth/logout', next.access_token, { refresh_token: next.refresh_token });
  assert.ok(signedOut.ok);
  assert.deepEqual([await client.ended(), await other.ended()], [4401, 4401]);
  assert.equal(await (await open('nonsense')).ended(), 4401);
  assert.equal(await (await open('nonsense')).ended(), 4429, 'refused tokens count against the address');
});
