/** Locks, lost connections and lost shards in any order: each command takes effect once, in order, and no event is missing. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { shardOf } from '../../src/cluster/address.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const commits = /^troupe commit/;
const actors = ['a', 'b', 'c', 'd'];
const accounts = ['one', 'two'];
const actor = fc.constantFrom(...actors);

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      actor,
      account: fc.constantFrom(...accounts),
      n: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send' as const), actor, to: actor }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lock actor' as const), actor }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lock counter' as const), account: fc.constantFrom(...accounts) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('unlock' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose shard' as const), actor }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 60 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

class World {
  private readonly sums = new Map(actors.map((id): [string, number] => [id, 0]));
  private readonly sent = new Map<string, string[]>();
  private readonly asked: { id: string; commandId: string; ask: () => Promise<unknown>; outcome: Promise<unknown> }[] = [];
  private readonly node: TestRuntime;
  private readonly proxy: TcpProxy;
  private readonly otherClient: pg.Client;
  private adds = 0;

  constructor(node: TestRuntime, proxy: TcpProxy, otherClient: pg.Client) {
    this.node = node;
    this.proxy = proxy;
    this.otherClient = otherClient;
  }

  async take(s: Step): Promise<void> {
    const { node, otherClient } = this;
    if (s.kind === 'add') {
      this.adds++;
      this.sums.set(s.actor, this.sums.get(s.actor)! + s.n);
      this.ask(s.actor, (commandId) => node.actors.ask(probe, s.actor, 'add', { n: s.n, account: s.account }, { commandId }));
    } else if (s.kind === 'send') {
      const input = `${s.actor} ${this.asked.length}`;
      this.sent.set(s.to, [...(this.sent.get(s.to) ?? []), input]);
      this.ask(s.actor, (commandId) => node.actors.ask(probe, s.actor, 'send', { to: s.to, inputs: [input] }, { commandId }));
    } else if (s.kind === 'lock actor') await otherClient.query('select from probe where id = $1 for update skip locked', [s.actor]);
    else if (s.kind === 'lock counter')
      await otherClient.query('select from event_counter where account_id = $1 for update skip locked', [s.account]);
    else if (s.kind === 'unlock') await otherClient.query('commit; begin');
    else if (s.kind === 'cut') this.proxy.cut(commits);
    else if (s.kind === 'lose shard')
      await node.sql(`update shard set epoch = epoch + 1, owner = 'other' where shard = $1`, [shardOf('probe', s.actor)]);
    else await new Promise((resolve) => setTimeout(resolve, s.ms));
  }

  private ask(id: string, how: (commandId: string) => Promise<unknown>): void {
    const commandId = `c${this.asked.length}`;
    const ask = () => how(commandId);
    this.asked.push({ id, commandId, ask, outcome: outcomeOf(ask()) });
  }

  async check(): Promise<void> {
    const { node } = this;
    await this.otherClient.query('commit');
    for (const { ask, outcome } of this.asked) {
      for (let answer = await outcome; typeof answer === 'object' && answer !== null; ) answer = await outcomeOf(ask());
    }
    for (const id of actors) {
      const sent = this.sent.get(id) ?? [];
      await until(
        async () => ((await node.actors.query(probe, id, 'state', null))?.received.length ?? 0) >= sent.length,
        `the messages to ${id}`,
      );
      const state = await node.actors.query(probe, id, 'state', null);
      assert.equal(state?.value ?? 0, this.sums.get(id), id);
      assert.deepEqual([...(state?.received ?? [])].sort(), [...sent].sort(), `each message to ${id} once`);
      const [row] = await node.sql('select value, received from probe where id = $1', [id]);
      assert.deepEqual(row ?? null, state === null ? null : { value: state.value, received: state.received });
    }
    const rows = await node.sql('select account_id, seq::int, id from event order by account_id, seq');
    assert.equal(rows.length, this.adds);
    const last = new Map<string, number>();
    for (const { account_id, seq } of rows) {
      assert.equal(seq, (last.get(account_id) ?? 0) + 1, 'no gap');
      last.set(account_id, seq);
    }
    assert.deepEqual(node.events.map(({ id, seq }) => `${id} ${seq}`).sort(), rows.map(({ id, seq }) => `${id} ${seq}`).sort());
    assert.deepEqual(await node.sql('select from message'), []);
    assert.deepEqual(await node.sql('select from dead_letter'), []);
    assert.equal(node.runtime.commit.blockedUnits, 0);
  }
}

test('locks, cuts and lost shards at random: every command takes effect once, and every event is published with its number', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      let proxy!: TcpProxy;
      const via = async (url: string) => {
        proxy = await TcpProxy.before(url);
        return proxy.url;
      };
      const node = await testRuntime([probeActor], { ...probeOptions, lockTimeoutMs: 10, outbox: { sweepIntervalMs: 20 }, via });
      const otherClient = new pg.Client({ connectionString: node.url });
      otherClient.on('error', () => {});
      try {
        await otherClient.connect();
        for (const id of actors) await node.actors.ask(probe, id, 'put', {});
        for (const account of accounts) await node.sql('insert into event_counter values ($1, 0)', [account]);
        await node.sql('delete from event');
        await node.sql(`delete from event_counter where account_id = 'acct'`);
        node.events.length = 0;
        await otherClient.query('begin');
        const world = new World(node, proxy, otherClient);
        for (const s of steps) await world.take(s);
        await world.check();
      } finally {
        await otherClient.end();
        await node.close();
        await proxy.close();
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 6), endOnFailure: true },
  );
});
