import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { commerceIds } from '../../../../src/domains/commerce/ids.ts';
import { purchaseOrder } from '../../../../src/domains/commerce/purchase-order/messages.ts';
import { purchaseOrderActor } from '../../../../src/domains/commerce/purchase-order/purchase-order.ts';
import { wallet } from '../../../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../../../src/domains/commerce/wallet/wallet.ts';
import type { AppError } from '../../../../src/errors.ts';
import { idPrefixes, newId } from '../../../../src/ids.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { until } from '../../../support/until.ts';

const accountId = 'acct_1';
const noonMs = new Date().setUTCHours(12, 0, 0, 0);
/** Goes on from noon: no day of spending ends during a test. */
const clock = { nowMs: () => Math.trunc(noonMs + performance.now()) };

async function shop(t: TestContext) {
  const node = await testRuntime([walletActor, purchaseOrderActor], { clock });
  t.after(() => node.close());
  const ask = (id: string, command: 'approve' | 'reject', input: any, commandId?: string) =>
    node.actors.ask(purchaseOrder, id, command, input, { commandId });
  return {
    node,
    async place(amountMinor: number, autoApproveThresholdMinor = 0) {
      const asked = { accountId, mode: 'live' as const, description: 'Paper', amountMinor, vendor: 'Acme', autoApproveThresholdMinor };
      return node.actors.ask(purchaseOrder, newId(commerceIds.purchaseOrder, null), 'create', asked);
    },
    approve: (id: string, approvalId = newId(idPrefixes.request, null), commandId?: string) =>
      ask(id, 'approve', { approvalId }, commandId),
    reject: (id: string, reason: string | null = null) => ask(id, 'reject', { reason }),
    deposit: (amountMinor: number) =>
      node.actors.ask(wallet, accountId, 'deposit', { transferId: newId(commerceIds.transaction, null), amountMinor, source: 'card' }),
    order: async (id: string) => (await node.actors.query(purchaseOrder, id, 'get', null))!,
    statuses: async () => (await node.sql('select status from purchase_order order by created_at, id')).map(({ status }) => status),
    async books() {
      const [{ balance }] = await node.sql('select balance_minor::float8 as balance from wallet');
      const paid = await node.sql(`select reference, amount_minor::float8 as amount from ledger_entry where book = 'orders'`);
      return { balance, paid };
    },
  };
}

test('an approved order is paid from the wallet at once, and events report each step', async (t) => {
  const { node, place, approve, deposit, order, books } = await shop(t);
  await deposit(10_000);
  const { id, status } = await place(2_500);
  assert.equal(status, 'pending');
  const approved = await approve(id);
  assert.ok(approved.approvedAt !== null);
  assert.equal((await order(id)).status, 'complete');
  assert.deepEqual(await books(), { balance: 7_500, paid: [{ reference: id, amount: 2_500 }] });
  const types = node.events.filter(({ type }) => type.startsWith('order.')).map(({ type }) => type);
  assert.deepEqual(types, ['order.created', 'order.approved', 'order.complete']);
});

test('without money an order stays approved with the reason; waiting orders are paid in order when money arrives', async (t) => {
  const { place, approve, deposit, order, statuses, books } = await shop(t);
  const ids: string[] = [];
  for (const amountMinor of [300, 500, 400]) ids.push((await place(amountMinor)).id);
  for (const id of ids) assert.equal((await approve(id)).paymentError, 'insufficient_funds');
  await deposit(850);
  await until(async () => (await statuses()).filter((status) => status === 'complete').length === 2, 'two are paid');
  assert.deepEqual(await statuses(), ['complete', 'complete', 'approved']);
  await deposit(400);
  await until(async () => (await order(ids[2]!)).status === 'complete', 'the third is paid');
  assert.equal((await order(ids[2]!)).paymentError, null);
  assert.equal((await books()).balance, 50);
});

test('of many concurrent approvals and rejections one decision holds, and the order is paid at most once', async (t) => {
  const { place, approve, reject, deposit, order, books } = await shop(t);
  await deposit(100_000);
  for (let round = 0; round < 10; round++) {
    const { id } = await place(100);
    const asked = Array.from({ length: 6 }, (_, i) => (i % 2 === round % 2 ? approve(id) : reject(id)));
    const settled = await Promise.allSettled(asked);
    assert.equal(settled.filter((one) => one.status === 'fulfilled').length, 1);
    for (const one of settled) if (one.status === 'rejected') assert.equal(one.reason.code, 'conflict');
    const { status } = await order(id);
    const { paid } = await books();
    assert.equal(paid.filter(({ reference }) => reference === id).length, status === 'complete' ? 1 : 0);
    assert.ok(['complete', 'rejected'].includes(status));
  }
});

test('a spending limit refuses approvals, also concurrent ones; the order stays pending', async (t) => {
  const { node, place, approve, deposit, statuses, books } = await shop(t);
  await deposit(100_000);
  await node.actors.ask(wallet, accountId, 'changeLimits', { perTransactionMinor: 1_000, dailyMinor: 2_500 });
  const orders = await Promise.all(Array.from({ length: 8 }, () => place(1_000)));
  const settled = await Promise.allSettled(orders.map(({ id }) => approve(id)));
  const refused = settled.filter((one) => one.status === 'rejected');
  assert.equal(refused.length, 6);
  for (const { reason } of refused) assert.deepEqual([reason.code, reason.issues[0].type], ['invalid', 'daily_limit']);
  assert.deepEqual((await statuses()).toSorted(), [...Array(2).fill('complete'), ...Array(6).fill('pending')]);
  assert.equal((await books()).balance, 98_000);
  const dear = await place(1_001);
  await assert.rejects(approve(dear.id), (error: AppError) => error.issues?.[0]?.type === 'per_transaction_limit');
});

test('an order at or under the threshold approves itself, unless a limit forbids it', async (t) => {
  const { node, place, approve, deposit, order, books } = await shop(t);
  await deposit(1_000);
  const small = await place(500, 500);
  assert.ok(small.approvedAt !== null);
  assert.equal((await order(small.id)).status, 'complete');
  assert.equal((await place(501, 500)).status, 'pending');
  await node.actors.ask(wallet, accountId, 'changeLimits', { dailyMinor: 500 });
  const over = await place(400, 500);
  assert.deepEqual([over.status, over.paymentError], ['pending', 'daily_limit']);
  await node.actors.ask(wallet, accountId, 'changeLimits', { dailyMinor: 5_000 });
  assert.equal((await approve(over.id)).paymentError, null);
  assert.equal((await books()).balance, 100);
});

test('after a kill between approval and payment, the order is paid once after the restart, and a repeat gets the answer', async (t) => {
  const { node, place, approve, deposit, order, books } = await shop(t);
  await deposit(10_000);
  for (let round = 0; round < 5; round++) {
    const { id } = await place(1_000);
    const asked = approve(id, 'req_1', `command ${round}`).catch(() => null);
    if (round % 2 === 1) await new Promise((resolve) => setImmediate(resolve));
    await node.crashAndRestart();
    await asked;
    const again = await approve(id, 'req_1', `command ${round}`);
    assert.ok(again.approvedAt !== null);
    await until(async () => (await order(id)).status === 'complete', 'it is paid');
  }
  const { balance, paid } = await books();
  assert.deepEqual([balance, paid.length], [5_000, 5]);
});
