/** Which actors are in memory: found by shard after any sequence of additions and removals. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Activations } from '../../src/actors/activations.ts';
import type { Kind } from '../../src/actors/kind.ts';
import { noLog } from '../../src/log.ts';

test('the activations of a set of shards are those of every kind that were added and not dropped since (A3)', () => {
  const id = fc.nat({ max: 40 });
  const step = fc.record({ op: fc.constantFrom('get', 'drop'), kind: fc.nat({ max: 1 }), id });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.uniqueArray(fc.nat({ max: 7 })), (steps, shards) => {
      const kinds = ['one', 'two'].map((name) => ({ name, activations: new Map() }) as unknown as Kind);
      // No row is ever read: the event loop does not turn meanwhile.
      const activations = new Activations({ database: null as never, log: noLog, freezeStates: false, onReady() {}, onFailed() {} });
      for (const { op, kind, id } of steps) {
        const known = kinds[kind]!.activations.get(`${id}`);
        if (op === 'get') activations.get(kinds[kind]!, `${id}`, id % 8);
        else if (known !== undefined) activations.drop(known);
      }
      const wanted = new Set(shards);
      const expected = kinds.flatMap((kind) => [...kind.activations.values()]).filter(({ shard }) => wanted.has(shard));
      assert.deepEqual(new Set(activations.ofShards(wanted)), new Set(expected));
      for (const kind of kinds) for (const activation of [...kind.activations.values()]) activations.drop(activation);
      assert.deepEqual(activations.ofShards(new Set([0, 1, 2, 3, 4, 5, 6, 7])), []);
    }),
  );
});
