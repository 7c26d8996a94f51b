import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { accountsIds } from '../src/domains/accounts/ids.ts';
import { commerceIds } from '../src/domains/commerce/ids.ts';
import { tasksIds } from '../src/domains/tasks/ids.ts';
import { workspacesIds } from '../src/domains/workspaces/ids.ts';
import { derivedId, idPrefixes, newId, slotOf, steppedId, ulidSource } from '../src/ids.ts';

const noAccount = [null, '', 'acct_ann', 'ann@example.com', `ws/${'a'.repeat(40)}`, `acct_${'u'.repeat(26)}`];
const owner = fc.option(fc.nat({ max: 1023 }), { nil: null });
const word = fc.string({ maxLength: 20 });
const isId = /^[a-z]+[_-][0-7][0-9a-hjkmnp-tv-z]{25}$/;

test('ids of one process grow for any slots and clock steps, and each ends with the slot of its account', () => {
  const accounts = Array.from({ length: 8 }, () => newId(accountsIds.account, null));
  let last = '';
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: -2, max: 2 }), fc.constantFrom(...accounts, ...noAccount)), { maxLength: 200 }),
      (made) => {
        let nowMs = 1_900_000_000_000;
        for (const [stepMs, accountId] of made) {
          nowMs += stepMs;
          const id = newId(idPrefixes.event, accountId, nowMs);
          assert.match(id, isId);
          assert.ok(id > last, `${id} after ${last}`);
          last = id;
          if (accountId === null || !accounts.includes(accountId as `acct_${string}`)) continue;
          assert.equal(id.slice(-2), accountId.slice(-2));
          assert.equal(slotOf(id), slotOf(accountId));
        }
      },
    ),
  );
});

test('many ids of one account in one millisecond differ and grow, for any initial random bytes', () => {
  const fills = [
    (bytes: Uint8Array) => void bytes.fill(255),
    (bytes: Uint8Array) => void bytes.fill(0),
    (bytes: Uint8Array) => void randomFillSync(bytes),
  ];
  for (const fill of fills) {
    fc.assert(
      fc.property(owner, fc.nat({ max: 2 ** 47 }), (slot, nowMs) => {
        const next = ulidSource(fill);
        const ids = Array.from({ length: 2_000 }, () => next(nowMs, slot ?? -1));
        for (const [n, id] of ids.entries()) {
          assert.match(`x_${id}`, isId);
          assert.ok(n === 0 || id.slice(0, -2) > ids[n - 1]!.slice(0, -2), 'it is counted above the slot');
          if (slot !== null) assert.equal(slotOf(`x_${id}`), slot);
        }
      }),
      { numRuns: 5 },
    );
  }
});

test('ids without an account have a random slot, each with the same probability', () => {
  const slots = new Set(Array.from({ length: 20_000 }, () => slotOf(newId(accountsIds.account, null))));
  assert.equal(slots.size, 1024);
  for (const other of noAccount) assert.equal(other === null ? null : slotOf(other), null);
});

test('a derived id depends only on its words and the slot, and a step keeps the slot', () => {
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 3 }),
      fc.array(word, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      (words, other, steps) => {
        const accountId = newId(accountsIds.account, null);
        const id = derivedId(workspacesIds.file, accountId, ...words);
        assert.match(id, isId);
        assert.equal(slotOf(id), slotOf(accountId));
        assert.equal(derivedId(workspacesIds.file, newId(tasksIds.task, accountId), ...words), id, 'any id of the account names its slot');
        const same = JSON.stringify(words) === JSON.stringify(other);
        assert.equal(derivedId(workspacesIds.file, accountId, ...other) === id, same);
        assert.equal(slotOf(steppedId(id, steps)), slotOf(accountId));
      },
    ),
  );
});

test('without an account a derived id is the same as in versions without slots', () => {
  assert.equal(derivedId(workspacesIds.file, null, 'ws_01k0000000000000000000000a', 'a.md'), 'wsf_6gj47j7b8jtvazn47hj1cez6m9');
  assert.equal(derivedId(commerceIds.purchaseOrder, null, 'eff_01k0000000000000000000000a'), 'po_5vjhepz5ypaqbgf4kdthq5qwy8');
});
