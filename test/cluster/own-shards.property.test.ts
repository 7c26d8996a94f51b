/** Permitted actions of a node on a shard (O1–O4), and its map of all shards (M1), compared with simple models. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { OwnShards } from '../../src/cluster/own-shards.ts';
import { ShardMap } from '../../src/cluster/shard-map.ts';

const seed = Number(process.env.SEED ?? randomInt(2 ** 31));

test(`O1 to O4 hold for every sequence of steps (SEED=${seed})`, () => {
  const kinds = ['take', 'serve', 'seal', 'let go', 'raise', 'drop'] as const;
  const after: Record<string, [string, string]> = {
    serve: ['waiting', 'owned'],
    seal: ['owned', 'sealing'],
    'let go': ['sealing', 'releasing'],
  };
  fc.assert(
    fc.property(fc.array(fc.record({ kind: fc.constantFrom(...kinds), epoch: fc.nat(30) }), { maxLength: 60 }), (steps) => {
      const own = new OwnShards();
      let state = 'foreign';
      let epoch = -1;
      for (const step of steps) {
        if (step.kind === 'take') {
          const taken = state === 'foreign' && step.epoch > epoch;
          assert.equal(own.claim(5, step.epoch), taken);
          if (taken) [state, epoch] = ['waiting', step.epoch];
        } else if (step.kind === 'raise') {
          own.raise(5, step.epoch);
          if (state !== 'foreign') epoch = Math.max(epoch, step.epoch);
        } else if (step.kind === 'drop') {
          assert.equal(own.drop(5), state);
          state = 'foreign';
        } else {
          const [from, to] = after[step.kind]!;
          const done = step.kind === 'serve' ? own.serve(5) : step.kind === 'seal' ? own.seal(5) : own.release(5);
          assert.equal(done, state === from);
          if (done) state = to;
        }
        assert.equal(own.stateOf(5), state);
        assert.equal(own.epochOf(5), state === 'owned' ? epoch : null);
        assert.equal(own.fenceEpochOf(5), state === 'owned' || state === 'sealing' ? epoch : null);
        assert.deepEqual(own.held(), state === 'foreign' ? [] : [5]);
      }
    }),
    { seed },
  );
});

test(`M1 notifications in any order, late and repeated, lead to the same map (SEED=${seed})`, () => {
  const row = fc.record({ shard: fc.nat(3), epoch: fc.nat(20), owner: fc.option(fc.constantFrom('a', 'b', 'c')) });
  // An epoch has one owner.
  const rows = fc.uniqueArray(row, { selector: ({ shard, epoch }) => `${shard} ${epoch}`, maxLength: 40 });
  fc.assert(
    fc.property(
      rows.chain((entries) =>
        fc.tuple(fc.constant(entries), fc.shuffledSubarray([...entries, ...entries], { minLength: 2 * entries.length })),
      ),
      ([entries, shuffled]) => {
        const map = new ShardMap();
        for (const each of shuffled) map.merge([each]);
        const latest = new Map<number, (typeof entries)[number]>();
        for (const each of entries) if (each.epoch > (latest.get(each.shard)?.epoch ?? -1)) latest.set(each.shard, each);
        for (const [shard, { owner }] of latest) assert.equal(map.ownerOf(shard), owner);
        for (const name of ['a', 'b', 'c'])
          assert.equal(map.countOf(name), [...latest.values()].filter(({ owner }) => owner === name).length);
      },
    ),
    { seed },
  );
});
