/** The invariants of a trading account, checked in the database and in its actor (T1 to T3, D1, D2). */
import assert from 'node:assert/strict';
import { nanoOfText } from '../../src/domains/trading/decimal.ts';
import { isFinal } from '../../src/domains/trading/orders/order-state.ts';
import type { Json } from './json.ts';
import type { PaperAccount } from './paper-account.ts';
import type { TestRuntime } from './runtime.ts';

const nano = (text: string) => nanoOfText(text)!;
const endings = new Set(['trade.cancelled', 'trade.rejected', 'trade.expired']);

/**
 * @param ended statuses of orders that had ended before; those that have ended now are added
 * @param of.hasSplits quantities of orders are no more those that were traded
 * @param of.hasLateFills a broker may fill an order after its end
 */
export async function verifyAccount(
  world: Pick<TestRuntime, 'sql'>,
  account: PaperAccount,
  ended: Map<string, string>,
  brokerKey: string,
  of: { hasSplits?: boolean; hasLateFills?: boolean } = {},
): Promise<void> {
  const row = await account.state();
  if (row === null) return;
  const [orders, fills, { book, seqs, paidIn }] = [await account.orders(), await account.fills(), await account.refolded(brokerKey)];
  assert.deepEqual(row.books[brokerKey]!.book, book, 'the book is the fold of its journal');
  const numbers = Array.from({ length: row.entries }, (_, n) => n + 1);
  assert.deepEqual(seqs, numbers, 'the journal has no gap');
  const paid = fills.reduce((all, { side, quantity, price }) => all + (side === 'buy' ? -1n : 1n) * nano(quantity) * nano(price), 0n);
  assert.equal(BigInt(book.cash), paidIn + paid, 'cash is exact');
  const open = orders.filter((order) => !isFinal(order)).map(({ id }) => id);
  assert.deepEqual(Object.keys(row.open).sort(), open.sort(), 'open is what has not ended');
  const clientIds = orders.flatMap(({ client_order_id }) => client_order_id ?? []);
  assert.equal(new Set(clientIds).size, clientIds.length, 'a client id is used once');
  const stored = await world.sql('select type, data from event where account_id = $1 order by seq', [account.accountId]);
  for (const order of orders) {
    const own = fills.filter(({ order_id }) => order_id === order.id);
    if (ended.has(order.id)) assert.equal(order.status, ended.get(order.id), 'a final state is not left');
    if (isFinal(order)) ended.set(order.id, order.status);
    const emitted = stored.filter(({ data }: Json) => data.order_id === order.id && data.reason === undefined);
    assert.equal(emitted.filter(({ type }) => /filled$/.test(type)).length, own.length, 'one event a fill');
    const states = emitted.map(({ type }) => type).filter((type) => !/filled$/.test(type));
    assert.equal(new Set(states).size, states.length, 'one event a state');
    if (!of.hasLateFills && endings.has(`trade.${order.status}`)) assert.equal(emitted.at(-1)!.type, `trade.${order.status}`);
    if (Object.hasOwn(row.open, order.id)) assert.equal(row.open[order.id]!.filled, order.state.fills.quantity);
    assert.ok(nano(order.state.fills.quantity) <= nano(order.quantity), 'no more is filled than was ordered');
    const filled = own.reduce((all, { quantity }) => all + nano(quantity), 0n);
    if (!of.hasSplits) assert.equal(nano(order.state.fills.quantity), filled, 'an order counts its fills');
  }
}
