/** A leaving node: its clients are notified, closed in time, and continue at other nodes without loss. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Database } from '../../../src/storage/database.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { EdgeCluster, type EdgeNode } from '../../support/edge-node.ts';
import { StreamClient } from '../../support/stream-client.ts';

let kept: TestDatabase;
let database: Database;
let cluster: EdgeCluster;

before(async () => {
  kept = await testDatabase();
  database = new Database(kept.url);
  cluster = new EdgeCluster({ database });
});
after(async () => {
  await cluster.close();
  await database.close();
  await kept.close();
});

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const pauses = (clients: StreamClient[]): number[] => clients.map((client) => client.messages.at(-1).reconnect_after_ms);

test('clients of a leaving node get different reconnect times, and are closed with 1012 even if the server closes at once', async () => {
  const leaving = await cluster.add();
  const clients = await Promise.all(range(1, 300).map((n) => leaving.subscribe(`acct_leaving_${n}`)));
  const silent = await StreamClient.open(leaving.port);
  // Messages in transit to the server must not prevent its last messages from arriving.
  for (const client of clients) client.send({ type: 'ping' });
  leaving.stream.disconnectAll(1_000);
  await leaving.server.close(0);
  for (const client of [...clients, silent]) assert.equal(await client.ended(), 1012);
  const sorted = pauses(clients).sort((a, b) => a - b);
  assert.ok(sorted[0]! >= 0 && sorted.at(-1)! <= 1_000);
  for (const part of range(0, 9))
    assert.ok(
      sorted.some((ms) => ms >= part * 100 && ms < (part + 1) * 100),
      `nobody in part ${part}`,
    );
  assert.equal(leaving.stream.connections, 0);
  assert.equal(leaving.hub.subscribers, 0);
});

test('a client that connects while the node leaves is closed like the others', async () => {
  const leaving = await cluster.add();
  leaving.stream.disconnectAll(1_000);
  const late = await StreamClient.open(leaving.port);
  assert.equal(await late.ended(), 1012);
  assert.equal(late.messages[0].type, 'goaway');
});

test('a client that is closed while events are sent resumes on another node, without a missed or repeated event', async () => {
  const [leaving, other] = [await cluster.add(), await cluster.add()] as [EdgeNode, EdgeNode];
  let isWriting = true;
  const writing = Promise.all(
    [leaving, other].map(async (node) => {
      while (isWriting) node.publish(await node.commit('acct_flow', 2));
    }),
  );
  const clients = await Promise.all(range(1, 20).map(() => leaving.subscribe('acct_flow', 0)));
  for (const client of clients) await client.until(() => client.events.length > 20);
  leaving.stream.disconnectAll(0);
  for (const client of clients) {
    assert.equal(await client.ended(), 1012);
    const seen = client.events.map(({ event }) => event.seq);
    const again = await other.subscribe('acct_flow', seen.at(-1));
    assert.equal(again.messages[0].resumed, true);
    await again.until(() => again.events.length > 20);
    seen.push(...again.events.map(({ event }) => event.seq));
    assert.deepEqual(seen, range(1, seen.length));
    again.vanish();
  }
  isWriting = false;
  await writing;
});
