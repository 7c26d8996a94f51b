/**
 * Cards and wallets of both modes under concurrent operations and crashes: acknowledged operations are booked once, and the books of
 * each mode are correct to the cent.
 */

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { cardActor } from '../../../../src/domains/commerce/card/card.ts';
import type { CardAuthorizationRow } from '../../../../src/domains/commerce/card/entity.ts';
import { card, cardIdOf } from '../../../../src/domains/commerce/card/messages.ts';
import { commerceIds } from '../../../../src/domains/commerce/ids.ts';
import { wallet, walletIdOf } from '../../../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../../../src/domains/commerce/wallet/wallet.ts';
import { newId } from '../../../../src/ids.ts';
import { type Mode, modes } from '../../../../src/mode.ts';
import { checkLedger } from '../../../../src/storage/ledger-check.ts';
import { type TestRuntime, testRuntime } from '../../../support/runtime.ts';
import { until } from '../../../support/until.ts';

const amount = fc.integer({ min: 1, max: 3_000 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('authorize' as const), card: fc.nat(1), amount, again: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deposit' as const), amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('freeze' as const, 'unfreeze' as const), card: fc.nat(1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('hold' as const), amount, end: fc.constantFrom('capture', 'release', 'expire') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('limits' as const), dailyMinor: fc.integer({ min: 0, max: 100_000 }) }) },
);
const one = fc.tuple(fc.constantFrom(...modes), step);
/** The concurrent requests, and whether the node dies meanwhile. */
const rounds = fc.array(fc.record({ asked: fc.array(one, { minLength: 1, maxLength: 25 }), dies: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

test('for any concurrent payments, holds, freezes and crashes, every answer is in the books of its mode once, and no limit is exceeded', async () => {
  const service = await testRuntime([walletActor, cardActor]);
  try {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(rounds, fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 2, maxLength: 2 }), (all, limits) =>
        play(service, `acct_${++run}`, all, limits),
      ),
      { numRuns: 15, verbose: 1 },
    );
    assert.deepEqual(service.errors, []);
  } finally {
    await service.close();
  }
});

async function play(
  service: TestRuntime,
  accountId: string,
  all: { asked: [Mode, Step][]; dies: boolean }[],
  limits: number[],
): Promise<void> {
  const walletIds = { live: accountId, test: walletIdOf({ accountId, mode: 'test' }) };
  const cards: Record<Mode, string[]> = { live: [], test: [] };
  for (const mode of modes)
    for (const spendLimitMinor of limits) {
      const id = cardIdOf(walletIds[mode], newId(commerceIds.card, null));
      cards[mode].push(id);
      const about = { accountId, mode, name: 'c', last4: '0000', numberHash: id, spendLimitMinor, currency: 'USD' };
      await service.actors.ask(card, id, 'create', about);
    }
  const answered = new Map<string, CardAuthorizationRow>();
  const deposited = { live: 0, test: 0 };
  const unsure = { live: 0, test: 0 };

  const perform = async ([mode, step]: [Mode, Step]): Promise<void> => {
    const { actors } = service;
    const walletId = walletIds[mode];
    if (step.kind === 'deposit') {
      unsure[mode] += step.amount;
      const transferId = newId(commerceIds.transaction, null);
      await actors.ask(wallet, walletId, 'deposit', { transferId, amountMinor: step.amount, source: 'card' });
      unsure[mode] -= step.amount;
      deposited[mode] += step.amount;
    } else if (step.kind === 'authorize') {
      const authorizationId = newId(commerceIds.authorization, null);
      const input = { authorizationId, amountMinor: step.amount, merchant: 'm' };
      const ask = () => service.actors.ask(card, cards[mode][step.card]!, 'authorize', input, { commandId: `idem30_${authorizationId}` });
      // Asked again after a failure, and at random without one: it is the same authorization.
      const first = await ask().catch(() => until(() => service.actors !== actors, 'the next node').then(ask));
      assert.equal(first.mode, mode);
      answered.set(authorizationId, first);
      if (step.again) assert.deepEqual(await ask(), first);
    } else if (step.kind === 'hold') {
      const id = newId(commerceIds.transaction, null);
      const expiresAtMs = Date.now() + (step.end === 'expire' ? 1 : 60_000);
      const placed = await actors.ask(wallet, walletId, 'hold', { id, amountMinor: step.amount, expiresAtMs });
      if (placed.kind === 'declined') return;
      const to = { transferId: newId(commerceIds.transaction, null), to: 'orders', reference: id, description: 'held' } as const;
      if (step.end === 'capture') assert.equal(await actors.ask(wallet, walletId, 'capture', { holdId: id, ...to }), true);
      if (step.end === 'release') assert.equal(await actors.ask(wallet, walletId, 'release', { holdId: id }), true);
      if (step.end === 'expire') await until(async () => (await actors.query(wallet, walletId, 'get', null))!.holds[id] === undefined);
    } else if (step.kind === 'limits') await actors.ask(wallet, walletId, 'changeLimits', { dailyMinor: step.dailyMinor });
    else await actors.ask(card, cards[mode][step.card]!, step.kind, null);
  };

  for (const { asked, dies } of all) {
    const outcomes = asked.map((step) => perform(step).catch((error) => assert.notEqual(error.code, 'ERR_ASSERTION', error.message)));
    if (dies) await service.crashAndRestart();
    await Promise.all(outcomes);
  }
  await until(async () => (await service.sql('select count(*)::int as n from message'))[0].n === 0, 'all messages');

  const reading = await check(service.url, accountId);
  assert.deepEqual(reading.findings, []);
  const rows = await service.sql('select * from card_authorization where account_id = $1', [accountId]);
  const known = new Map(rows.map((row) => [row.id, row]));
  for (const [id, { status, amountMinor, mode }] of answered) {
    assert.deepEqual([known.get(id)?.status, known.get(id)?.mode], [status, mode], id);
    assert.equal(Number(known.get(id).amount_minor), amountMinor);
  }
  for (const mode of modes) {
    const [{ booked }] = await service.sql(
      `select coalesce(-sum(amount_minor), 0)::int as booked from ledger_entry where account_id = $1 and mode = $2 and book = 'deposits'`,
      [accountId, mode],
    );
    const [sure, most] = [deposited[mode], deposited[mode] + unsure[mode]];
    assert.ok(booked >= sure && booked <= most, `${booked} of ${sure} to ${most} were paid into the ${mode} wallet`);
  }
  const authorizations = service.events.filter((event) => event.accountId === accountId && event.type === 'card.authorized');
  const approved = rows.filter(({ status }) => status === 'approved').map(({ id }) => id);
  for (const { data } of authorizations) {
    const { authorization_id: id, mode } = JSON.parse(data.text);
    assert.ok(approved.includes(id));
    assert.equal(mode, known.get(id).mode);
  }
  for (const row of await service.sql('select * from card where account_id = $1', [accountId])) {
    if (row.spent_minor === row.spend_limit_minor) assert.notEqual(row.status, 'active');
  }
}

async function check(url: string, accountId: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await checkLedger(client, accountId);
  } finally {
    await client.end();
  }
}
