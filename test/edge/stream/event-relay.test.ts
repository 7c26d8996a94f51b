/** Events between nodes: three edges with real sockets on one PostgreSQL, notifications over links that are slow, cut or lossy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CounterPoller } from '../../../src/edge/stream/counter-poller.ts';
import { StreamHub } from '../../../src/edge/stream/stream-hub.ts';
import { noLog } from '../../../src/log.ts';
import { Database } from '../../../src/storage/database.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type Committed, EdgeCluster, type EdgeNode } from '../../support/edge-node.ts';
import type { StreamClient } from '../../support/stream-client.ts';
import { until } from '../../support/until.ts';

/** Polling is off if a test is about notifications, and missing events are not read if a test is about their arrival. */
const neverMs = 3_600_000;

let kept: TestDatabase;
let database: Database;

before(async () => {
  kept = await testDatabase();
  database = new Database(kept.url);
});
after(async () => {
  await database.close();
  await kept.close();
});

async function withNodes(
  pollEveryMs: number,
  work: (nodes: [EdgeNode, EdgeNode, EdgeNode], cluster: EdgeCluster) => Promise<void>,
  missingForMs?: number,
): Promise<void> {
  const cluster = new EdgeCluster({ database, pollEveryMs, missingForMs });
  try {
    await work([await cluster.add(), await cluster.add(), await cluster.add()], cluster);
  } finally {
    await cluster.close();
  }
}

const seqsOf = (client: StreamClient): number[] => client.events.map(({ event }) => event.seq);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
/** A client who is live. */
async function listen(node: EdgeNode, accountId: string): Promise<StreamClient> {
  const client = await node.subscribe(accountId, 0);
  await client.untilMessage('replayed');
  return client;
}
const knows = (publisher: EdgeNode, accounts: number) =>
  until(() => publisher.relay.subscribedAccounts === accounts, 'the notification of subscribed accounts');

test('events reach the subscribers on every node directly from the node that committed them', async () => {
  await withNodes(
    neverMs,
    async ([a, b, c]) => {
      const clients = [await listen(a, 'acct_all'), await listen(b, 'acct_all'), await listen(c, 'acct_all')];
      for (const node of [a, b, c]) await knows(node, 1);
      const pagesBefore = b.hub.counts.pagesRead;
      for (const node of [a, b, c, a]) node.publish(await node.commit('acct_all', 3));
      for (const client of clients) {
        await client.until(() => client.events.length === 12);
        assert.deepEqual(seqsOf(client), range(1, 12));
        assert.deepEqual(client.events[3].event.data, { by: 'node-1', n: 1 });
      }
      assert.equal(b.hub.counts.pagesRead, pagesBefore);
    },
    neverMs,
  );
});

test('a node gets only the events of accounts with subscribers on it', async () => {
  await withNodes(neverMs, async ([a, b], { network }) => {
    const client = await listen(a, 'acct_watched');
    await knows(b, 1);
    b.publish(await b.commit('acct_unwatched', 5));
    b.publish(await b.commit('acct_watched', 1));
    await client.until(() => client.events.length === 1);
    const relayed = network.sent.filter(({ kind }) => kind === 'events');
    assert.deepEqual(
      relayed.map(({ from, to }) => [from, to]),
      [[b.incarnation, a.incarnation]],
    );
    assert.equal(b.relay.counts.sent, 1);
    client.vanish();
    await knows(b, 0);
    b.publish(await b.commit('acct_watched', 1));
    assert.equal(b.relay.counts.sent, 1);
  });
});

test('events from two nodes that overtake each other are ordered without a query of the database', async () => {
  await withNodes(
    neverMs,
    async ([a, b, c]) => {
      const client = await listen(a, 'acct_order');
      for (const node of [b, c]) await knows(node, 1);
      const pagesBefore = a.hub.counts.pagesRead;
      const early = await b.commit('acct_order', 2);
      const late = await c.commit('acct_order', 2);
      c.publish(late);
      await until(() => a.hub.waitingEvents === 2, 'the later events to wait');
      b.publish(early);
      await client.until(() => client.events.length === 4);
      assert.deepEqual(seqsOf(client), range(1, 4));
      assert.equal(a.hub.counts.pagesRead, pagesBefore);
      assert.equal(a.hub.waitingEvents, 0);
    },
    neverMs,
  );
});

test('an event whose notification was lost is read from the database when the next one arrives, once for all subscribers of the account', async () => {
  await withNodes(neverMs, async ([a, b], { network }) => {
    const clients = await Promise.all(range(1, 50).map(() => listen(a, 'acct_lost')));
    await knows(b, 1);
    const pagesBefore = a.hub.counts.pagesRead;
    network.fate = ({ kind }) => (kind === 'events' ? 'lost' : 0);
    b.publish(await b.commit('acct_lost', 3));
    await until(() => b.relay.counts.sent === 3);
    network.fate = () => 0;
    b.publish(await b.commit('acct_lost', 1));
    for (const client of clients) {
      await client.until(() => client.events.length === 4);
      assert.deepEqual(seqsOf(client), range(1, 4));
    }
    assert.equal(a.hub.counts.pagesRead, pagesBefore + 1);
    assert.equal(a.hub.counts.gapsFilled, 1);
  });
});

test('beyond the limit of waiting events the missing event is no longer waited for', async () => {
  await withNodes(
    neverMs,
    async ([a, b]) => {
      const client = await listen(a, 'acct_burst');
      await knows(b, 1);
      await b.commit('acct_burst', 1);
      b.publish(await b.commit('acct_burst', 300));
      await until(() => a.hub.counts.gapsFilled > 0, 'the gap to be filled');
      await client.until(() => client.events.length === 301);
      assert.deepEqual(seqsOf(client), range(1, 301));
    },
    neverMs,
  );
});

test('an event committed without a notification is found by polling the counters, also if no event follows', async () => {
  await withNodes(50, async ([a, b], cluster) => {
    const client = await listen(a, 'acct_killed');
    await knows(b, 1);
    await b.commit('acct_killed', 2);
    await client.until(() => client.events.length === 2);
    assert.deepEqual(seqsOf(client), [1, 2]);
    assert.ok(a.relay.counters.counts.behind > 0);
    await cluster.kill(b);
  });
});

test('an event without a notification that one replay finds also reaches live subscribers', async () => {
  await withNodes(neverMs, async ([a, b]) => {
    const live = await listen(a, 'acct_found');
    await b.commit('acct_found', 2);
    const finder = await a.subscribe('acct_found', 0);
    for (const client of [finder, live]) await client.until(() => client.events.length === 2);
    assert.deepEqual(seqsOf(live), [1, 2]);
  });
});

test('when a node dies the edges poll at once for its last commits', async () => {
  await withNodes(neverMs, async ([a, b], cluster) => {
    const client = await listen(a, 'acct_died');
    await knows(b, 1);
    await b.commit('acct_died', 2);
    await cluster.kill(b);
    await client.until(() => client.events.length === 2);
    assert.deepEqual(seqsOf(client), [1, 2]);
  });
});

test('events committed before a publisher knew of a subscriber are found as soon as it knows', async () => {
  await withNodes(neverMs, async ([a, b], { network }) => {
    network.fate = ({ to, kind }) => (to === b.incarnation && kind === 'events.listening' ? 'held' : 0);
    const client = await listen(a, 'acct_early');
    b.publish(await b.commit('acct_early', 2));
    assert.equal(b.relay.counts.sent, 0);
    await until(() => network.sent.some(({ to, kind }) => to === b.incarnation && kind === 'events.listening'));
    network.release();
    await client.until(() => client.events.length === 2);
    assert.deepEqual(seqsOf(client), [1, 2]);
  });
});

test('a reopened stream sends the whole set of subscriptions, and events missed meanwhile are found', async () => {
  await withNodes(neverMs, async ([a, b], { network }) => {
    const gone = await a.subscribe('acct_gone');
    await knows(b, 1);
    network.cut(a.incarnation, b.incarnation);
    gone.vanish();
    const client = await a.subscribe('acct_cut');
    b.publish(await b.commit('acct_cut', 1));
    network.heal(a.incarnation, b.incarnation);
    await client.until(() => client.events.length === 1);
    await knows(b, 1);
    b.publish(await b.commit('acct_cut', 1));
    await client.until(() => client.events.length === 2);
    assert.deepEqual(seqsOf(client), [1, 2]);
  });
});

test('subscriptions whose notification a full stream refused are sent again', async () => {
  await withNodes(50, async ([a, b], { network }) => {
    const refused = Promise.withResolvers<void>();
    network.fate = ({ kind }) => {
      if (kind !== 'events.listening') return 0;
      refused.resolve();
      return 'refused';
    };
    await a.subscribe('acct_refused');
    await refused.promise;
    network.fate = () => 0;
    await knows(b, 1);
  });
});

test('a node that has left gets no events; a node that is not a member yet gets them once it is', async () => {
  await withNodes(neverMs, async ([a, b, c], cluster) => {
    await a.subscribe('acct_leaver');
    await knows(b, 1);
    await cluster.kill(a);
    await knows(b, 0);
    const newcomer = await cluster.add();
    b.relay.setMembers([c.member]);
    const client = await newcomer.subscribe('acct_newcomer');
    await knows(b, 1);
    b.relay.setMembers([c.member, newcomer.member]);
    b.publish(await b.commit('acct_newcomer', 1));
    await client.until(() => client.events.length === 1);
  });
});

test('events of one tick are sent together, in pieces of bounded size', async () => {
  await withNodes(neverMs, async ([a, b], { network }) => {
    const client = await listen(a, 'acct_large');
    await knows(b, 1);
    const { events, seqs }: Committed = await b.commit('acct_large', 400);
    const padding = 'x'.repeat(5_000);
    b.publish({ events: events.map((event) => ({ ...event, data: { text: `{"padding":"${padding}"}` } })), seqs });
    await client.until(() => client.events.length === 400);
    assert.deepEqual(seqsOf(client), range(1, 400));
    const sizes = network.sent.filter(({ kind }) => kind === 'events').map(({ payload }) => JSON.stringify(payload).length);
    assert.ok(Math.max(...sizes) <= 256 * 1024, `${sizes}`);
    assert.ok(sizes.length <= 20, `${sizes.length} pieces`);
  });
});

test('a poll queries a thousand accounts at a time, and only those with subscribers', async () => {
  const hub = new StreamHub(database, noLog);
  const sizes: number[] = [];
  const read: Database['read'] = (query) => {
    sizes.push((query.values![0] as string[]).length);
    return database.read(query);
  };
  const watch = new CounterPoller({ hub, database: { read }, log: noLog, everyMs: neverMs });
  const reader = {
    send: () => 'sent' as const,
    bufferedBytes: () => 0,
    cork: (work: () => void) => work(),
    tooSlow: () => {},
    mustRestart: () => {},
  };
  const subscribers = range(1, 2_500).map((n) => hub.subscribe(reader, `acct_counted_${n}`));
  await withNodes(neverMs, async ([node]) => {
    for (const account of ['acct_counted_7', 'acct_counted_2400', 'acct_uncounted']) await node.commit(account, 3);
  });
  watch.pollSoon([...hub.listening.keys(), 'acct_uncounted']);
  await until(() => watch.counts.behind === 2, 'the counters to be seen');
  assert.deepEqual(sizes, [1_000, 1_000, 500]);
  assert.equal(hub.listening.get('acct_counted_7')!.newest, 3);
  watch.stop();
  for (const one of subscribers) hub.unsubscribe(one);
});
