/** Streams to clients that offer permessage-deflate, on a node that compresses and on one that does not. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Database } from '../../../src/storage/database.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { EdgeCluster, type EdgeNode } from '../../support/edge-node.ts';
import { StreamClient } from '../../support/stream-client.ts';

let kept: TestDatabase;
let database: Database;
let plain: { cluster: EdgeCluster; node: EdgeNode };
let compressing: { cluster: EdgeCluster; node: EdgeNode };

before(async () => {
  kept = await testDatabase();
  database = new Database(kept.url);
  const start = async (compression: boolean) => {
    const cluster = new EdgeCluster({ database, compression });
    return { cluster, node: await cluster.add() };
  };
  plain = await start(false);
  compressing = await start(true);
});
after(async () => {
  await plain.cluster.close();
  await compressing.cluster.close();
  await database.close();
  await kept.close();
});

const offer = 'permessage-deflate; client_max_window_bits';
const words = 'the same words again and again, '.repeat(20);
const eventCount = 400;

/** Replays the account's events and then gets them live. */
async function connectStream(node: EdgeNode, account: string, extensions: string): Promise<StreamClient> {
  await node.commit(account, eventCount / 2, { words });
  const client = await StreamClient.open(node.port, '/ws', extensions);
  client.send({ type: 'auth', token: account, resume_from: 0 });
  await client.untilMessage('replayed');
  for (let i = 0; i < eventCount / 4; i++) node.publish(await node.commit(account, 2, { words }));
  await client.until(() => client.events.length === eventCount);
  client.events.forEach(({ prev, event }, n) => {
    assert.deepEqual([prev, event.seq, event.data.words], [n, n + 1, words]);
  });
  return client;
}

test('clients that offer compression get it if it is on, except for short messages, and every event intact', async () => {
  const client = await connectStream(compressing.node, 'acct_offers', offer);
  assert.match(client.extensions, /^permessage-deflate/);
  assert.match(client.extensions, /server_no_context_takeover/, 'nothing of a message is kept for the next');
  assert.equal(client.compressedMessages, eventCount);
  assert.ok(client.receivedBytes < (eventCount * words.length) / 2, `${client.receivedBytes} bytes`);
  client.vanish();
});

test('clients that do not offer compression, and all clients of a node without it, get plain text', async () => {
  const [silent, refused] = await Promise.all([
    connectStream(compressing.node, 'acct_silent', ''),
    connectStream(plain.node, 'acct_refused', offer),
  ]);
  for (const client of [silent, refused]) {
    assert.equal(client.extensions, '');
    assert.equal(client.compressedMessages, 0);
    client.vanish();
  }
});

test('compressed messages of clients are accepted; one that inflates beyond the longest message closes only its own connection', async () => {
  const other = await compressing.node.subscribe('acct_other');
  const client = await StreamClient.open(compressing.node.port, '/ws', offer);
  client.sendCompressed(JSON.stringify({ type: 'auth', token: 'acct_packs' }));
  await client.untilMessage('auth_ok');
  client.sendCompressed(`{"type":"ping","x":"${'x'.repeat(10_000)}"}`);
  await client.untilMessage('pong');
  client.sendCompressed(`{"type":"ping","x":"${'x'.repeat(40_000_000)}"}`);
  assert.notEqual(await client.ended(), 1000);
  other.send({ type: 'ping' });
  await other.untilMessage('pong');
  other.vanish();
});
