import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { NumberSlots } from '../../../src/cluster/transport/number-slots.ts';

test('an item is found only under its own number, numbers only grow, and items may stay open for any time', () => {
  const step = fc.oneof({ weight: 3, arbitrary: fc.constant('open' as const) }, { weight: 2, arbitrary: fc.nat(100_000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_000 }), (steps) => {
      const slots = new NumberSlots<{ number: number }>();
      const open = new Map<number, { number: number }>();
      let last = 0;
      for (const current of steps) {
        if (current === 'open') {
          const item = { number: slots.nextNumber() };
          assert.ok(item.number > last);
          last = item.number;
          slots.add(item);
          open.set(item.number, item);
        } else {
          // Of those that were given out, and some that were not.
          const number = current % (last + 3);
          assert.equal(slots.get(number), open.get(number));
          assert.equal(slots.take(number), open.get(number));
          open.delete(number);
        }
        assert.equal(slots.size, open.size);
      }
      assert.deepEqual(new Set(slots.all()), new Set(open.values()));
    }),
  );
});

test('later numbers skip the slot of an item that stays open', () => {
  const slots = new NumberSlots<{ number: number }>();
  const stays = { number: slots.nextNumber() };
  slots.add(stays);
  for (let i = 0; i < 10_000; i++) {
    const item = { number: slots.nextNumber() };
    slots.add(item);
    assert.equal(slots.take(item.number), item);
  }
  assert.deepEqual(slots.all(), [stays]);
  assert.equal(slots.get(stays.number), stays);
});
