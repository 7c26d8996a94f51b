/** The event relay over real streams between nodes: notifications arrive, and those lost with a broken stream are recovered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database } from '../../../src/storage/database.ts';
import { testDatabase } from '../../support/database.ts';
import { EdgeNode } from '../../support/edge-node.ts';
import { testCluster } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

test('events committed on three nodes reach subscribers on each in order, at full speed and after one of them is gone', async (t) => {
  const kept = await testDatabase();
  const database = new Database(kept.url);
  const transports = await testCluster(t, ['a', 'b', 'c']);
  const nodes = await Promise.all(
    transports.map(({ member, transport }) => EdgeNode.start(member, transport.peers, { database, pollEveryMs: 200 })),
  );
  try {
    const [a, b, c] = nodes as [EdgeNode, EdgeNode, EdgeNode];
    for (const node of nodes) node.setMembers(nodes.filter((other) => other !== node).map(({ member }) => member));
    const clients = await Promise.all(nodes.flatMap((node) => ['acct_1', 'acct_2'].map((account) => node.subscribe(account, 0))));
    for (const node of nodes) await until(() => node.relay.subscribedAccounts === 2, 'the notification of subscribed accounts');
    const write = async (node: EdgeNode, times: number) => {
      for (let n = 0; n < times; n++) node.publish(await node.commit(`acct_${1 + (n % 2)}`, 2));
    };
    await Promise.all(nodes.map((node) => write(node, 100)));
    for (const client of clients) await client.until(() => client.events.length === 300);
    // No node is notified of its last commits.
    await Promise.all([c.commit('acct_1', 1), c.commit('acct_2', 1)]);
    await transports[2]!.transport.close(0);
    for (const node of [a, b]) node.setMembers([a, b].filter((other) => other !== node).map(({ member }) => member));
    await Promise.all([write(a, 10), write(b, 10)]);
    for (const client of clients.slice(0, 4)) {
      await client.until(() => client.events.length === 321);
      client.events.forEach(({ prev, event }, n) => assert.deepEqual([prev, event.seq], [n, n + 1]));
    }
    await until(() => a.relay.subscribedAccounts === 2 && b.relay.subscribedAccounts === 2);
    t.diagnostic(`read pages ${nodes.map(({ hub }) => hub.counts.pagesRead)}, received ${nodes.map(({ relay }) => relay.counts.received)}`);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
    await database.close();
    await kept.close();
  }
});
