/** Cards and a wallet under a thousand concurrent authorizations at both nodes, while the node that owns them is killed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from '../../src/backoff.ts';
import { shardOf } from '../../src/cluster/address.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { onBusiness } from '../support/on-business.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';

const options = { skip: withoutRedis, timeout: 600_000 };
const authorizations = 1_000;
const deposits = 50;
/** The largest amount of an authorization. */
const largestMinor = 56;
/** The pause grows, since a thousand callers with a short pause would occupy a slow machine with refusals alone: every two seconds was too often. */
const retryMs = (tries: number, n: number) => backoffMs(tries, 50, 20_000) * (0.5 + (n % 10) / 10);

test(
  'of a thousand concurrent authorizations at two nodes, one of which is killed, each acknowledged one is booked once, to the cent',
  options,
  async (t) => {
    const cluster = await ClusterProcesses.start({ nodes: 2, redis: true });
    t.after(() => cluster.close());
    await onBusiness(cluster.databaseUrl());
    const caller = await Caller.register(cluster.nodes[0]!);
    while ((await caller.fetch('GET', '/v1/commerce/cards')).status === 402) await new Promise((resolve) => setTimeout(resolve, 20));
    await caller.json('POST', '/v1/commerce/wallet/deposit', { amount: 260, source: 'card' });
    const made: { id: string; spend_limit: number }[] = [];
    // Together they request twice the deposits of the wallet: depending on the order, a card limit or the balance of the wallet refuses.
    for (const spend_limit of [60, 5_000])
      made.push(await caller.json('POST', '/v1/commerce/cards', { name: 'c', spend_limit, currency: 'USD' }));
    const owner = (await cluster.ownerOfShards())[shardOf('card', made[0]!.id)];
    const victim = cluster.nodes.find(({ name }) => name === owner)!;
    const survivor = caller.at(cluster.nodes.find((node) => node !== victim)!);

    let answered = 0;
    const send = async (n: number, path: string, body: object): Promise<any> => {
      for (let tries = 0; ; tries++) {
        // Without this check the loops would continue after a time-out of the test, in the process of other tests.
        t.signal.throwIfAborted();
        const by = tries === 0 && n % 2 === 0 ? caller.at(victim) : survivor;
        const response = await by.fetch('POST', path, body, { 'idempotency-key': `k${n}` }).catch(() => null);
        if (response?.ok) return response.json().finally(() => answered++);
        assert.ok(response === null || response.status >= 500 || response.status === 409 || response.status === 429, `${response?.status}`);
        await pause(retryMs(tries, n));
      }
    };
    const asked = Array.from({ length: authorizations }, (_, n) =>
      send(n, `/v1/commerce/cards/${made[n % 2]!.id}/authorizations`, { amount: 0.5 + (n % 7) / 100, merchant: 'm' }),
    );
    for (let n = 0; n < deposits; n++)
      asked.push(send(authorizations + n, '/v1/commerce/wallet/deposit', { amount: 1.01, source: 'card' }));
    while (answered < authorizations / 4) await pause(2, null, { signal: t.signal });
    await victim.kill();
    const answers = await Promise.all(asked);

    const minor = (amount: number) => Math.round(amount * 100);
    const approved = answers.filter(({ status }) => status === 'approved');
    const spentMinor = (id: string) => approved.filter(({ card_id }) => card_id === id).reduce((sum, { amount }) => sum + minor(amount), 0);
    for (const { id, spend_limit } of made) {
      const now = await survivor.json('GET', `/v1/commerce/cards/${id}`);
      assert.equal(minor(now.spent), spentMinor(id), 'the card has spent what was acknowledged');
      assert.ok(minor(now.spent) <= minor(spend_limit));
    }
    const { balance, held } = await survivor.json('GET', '/v1/commerce/wallet/balance');
    assert.deepEqual([minor(balance), held], [26_000 + deposits * 101 - spentMinor(made[0]!.id) - spentMinor(made[1]!.id), 0]);
    for (const { card_id, decline_reason: reason } of answers.filter(({ status }) => status === 'declined')) {
      const { spend_limit } = made.find(({ id }) => id === card_id)!;
      if (reason !== 'insufficient_funds')
        assert.ok(spentMinor(card_id) > minor(spend_limit) - largestMinor, `${reason}, and the card is not used up`);
    }
    assert.ok(approved.length < authorizations);
    assert.equal(new Set(answers.map(({ id }) => id)).size, answers.length);

    const { findings, approvedIds } = await books(cluster.databaseUrl());
    assert.deepEqual(findings, []);
    const answeredIds = approved.map(({ id }) => id).sort();
    assert.deepEqual(approvedIds, answeredIds, 'each approval in the database was answered, and none is lost');
  },
);

async function books(databaseUrl: string): Promise<{ findings: unknown[]; approvedIds: string[] }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { findings } = await checkLedger(client, null);
    const { rows } = await client.query(`select id from card_authorization where status = 'approved'`);
    return { findings, approvedIds: rows.map(({ id }) => id).sort() };
  } finally {
    await client.end();
  }
}
