/** An order with late, duplicate and reordered fills and reports. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { noFills, type OrderFills, takeCumulative, takeTrade } from '../../../../src/domains/trading/orders/order-fills.ts';
import {
  averagePrice,
  isFinal,
  moveOrder,
  newOrder,
  type OrderChange,
  type OrderEvent,
  type OrderState,
  remainingQuantity,
} from '../../../../src/domains/trading/orders/order-state.ts';
import { quantityAfterOld, replacementTerms } from '../../../../src/domains/trading/orders/replace.ts';

const trade = (id: number, quantity: string, price = '10'): OrderEvent => ({
  kind: 'trade',
  trade: { venueTradeId: `t${id}`, quantity, price, commission: '0', atMs: id },
});
const ended = (status: 'cancelled' | 'expired' | 'rejected', filledQuantity = '0'): OrderEvent => ({
  kind: 'ended',
  status,
  reason: 'no',
  filledQuantity,
});
const so = (quantity: string, average = '10'): OrderEvent => ({
  kind: 'filled_so_far',
  cumulative: { quantity, averagePrice: average, atMs: 0 },
});

function play(quantity: string, ...events: OrderEvent[]): { order: OrderState; changes: OrderChange[] } {
  let order = newOrder(quantity);
  const changes: OrderChange[] = [];
  for (const event of events) {
    const move = moveOrder(order, event);
    if (move.kind === 'refused') continue;
    order = move.order;
    if (move.kind === 'moved') changes.push(...move.changes);
  }
  return { order, changes };
}

const statusesOf = (changes: OrderChange[]) =>
  changes.map((change) => (change.kind === 'fill' ? `fill ${change.fill.quantity}: ${change.status}` : change.status));

test('each fill causes one change, and the last fill makes the order filled (O4)', () => {
  const { order, changes } = play('3', { kind: 'accepted', brokerOrderId: 'b' }, trade(1, '1'), trade(1, '1'), trade(2, '2'));
  assert.deepEqual(statusesOf(changes), ['accepted', 'fill 1: partially_filled', 'fill 2: filled']);
  assert.equal(remainingQuantity(order), '0');
});

test('a fill that arrives before the answer to the post accepts the order', () => {
  assert.deepEqual(statusesOf(play('3', trade(1, '1')).changes), ['accepted', 'fill 1: partially_filled']);
});

test('a fill after the cancel is booked, and the order stays cancelled (O1)', () => {
  const { order, changes } = play('3', { kind: 'accepted', brokerOrderId: 'b' }, ended('cancelled'), trade(1, '1'));
  assert.deepEqual(statusesOf(changes), ['accepted', 'cancelled', 'fill 1: cancelled']);
  assert.equal(order.fills.quantity, '1');
  assert.equal(remainingQuantity(order), '2');
});

test('an end waits for the fills that the venue counts, and includes them (O3)', () => {
  const { order, changes } = play(
    '3',
    { kind: 'accepted', brokerOrderId: 'b' },
    ended('cancelled', '1'),
    ended('cancelled', '1'),
    trade(1, '1'),
  );
  assert.deepEqual(statusesOf(changes), ['accepted', 'fill 1: partially_filled', 'cancelled']);
  assert.equal(order.end, null);
  assert.deepEqual(statusesOf(play('3', ended('expired', '1'), { kind: 'end_without_fills' }).changes), ['expired']);
});

test('a cancel is a request: the state stays, a second one changes nothing, and a final order refuses it (O2)', () => {
  const { order } = play('3', { kind: 'accepted', brokerOrderId: 'b' }, { kind: 'cancel_requested', atMs: 5 });
  assert.deepEqual([order.status, order.cancelRequestedAtMs], ['accepted', 5]);
  assert.equal(moveOrder(order, { kind: 'cancel_requested', atMs: 9 }).kind, 'same');
  assert.deepEqual(moveOrder(order, { kind: 'replace_requested', by: 'ord_2', atMs: 9 }), { kind: 'refused', because: 'cancel_requested' });
  assert.deepEqual(moveOrder(play('1', trade(1, '1')).order, { kind: 'cancel_requested', atMs: 9 }), { kind: 'refused', because: 'final' });
});

test('a rejected order has its reason, and an unknown outcome ends with the first answer of the venue', () => {
  const unknown = play('3', { kind: 'outcome_unknown' });
  assert.deepEqual([unknown.order.status, unknown.order.unknownOutcome, unknown.changes.length], ['submitted', true, 0]);
  assert.equal(play('3', { kind: 'outcome_unknown' }, { kind: 'accepted', brokerOrderId: 'b' }).order.unknownOutcome, false);
  assert.deepEqual([play('3', ended('rejected')).order.status, play('3', ended('rejected')).order.rejectReason], ['rejected', 'no']);
});

const step = fc.oneof(
  fc.integer({ min: 0, max: 5 }).map((id) => trade(id, String(id + 1), String(10 + id))),
  fc.integer({ min: 1, max: 21 }).map((quantity) => so(String(quantity), '12')),
  fc.constantFrom(
    ended('cancelled', '3'),
    ended('expired'),
    ended('rejected'),
    { kind: 'accepted', brokerOrderId: 'b' } as const,
    { kind: 'end_without_fills' } as const,
  ),
);

test('for any order of reports, final states never change, no trade is booked twice, and never more than the venue reported (O1, F1, F2)', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (events) => {
      let order = newOrder('15');
      let booked = 0;
      const trades = new Map<string, number>();
      let highest = 0;
      for (const event of events) {
        const before = order;
        if (event.kind === 'trade') trades.set(event.trade.venueTradeId, Number(event.trade.quantity));
        if (event.kind === 'filled_so_far') highest = Math.max(highest, Number(event.cumulative.quantity));
        const move = moveOrder(order, event);
        assert.notEqual(move.kind, 'refused');
        if (move.kind !== 'moved') continue;
        order = move.order;
        for (const change of move.changes) if (change.kind === 'fill') booked += Number(change.fill.quantity);
        if (isFinal(before)) assert.equal(order.status, before.status);
        const traded = [...trades.values()].reduce((sum, quantity) => sum + quantity, 0);
        assert.ok(booked <= Math.max(traded, highest) && booked >= highest && booked >= traded - 0);
        assert.equal(Number(order.fills.quantity), booked);
      }
    }),
  );
});

test('after a cumulative quantity was booked, its trades add only the rest, and the average is the venue’s (F3)', () => {
  const first = takeCumulative(noFills(), { quantity: '3', averagePrice: '11', atMs: 0 });
  assert.deepEqual([first.fill!.quantity, first.fill!.price, first.fill!.venueTradeId], ['3', '11', null]);
  const trades = ['1', '2', '4'].map((quantity, i) => ({ venueTradeId: `t${i}`, quantity, price: '12', commission: '0', atMs: 0 }));
  let fills: OrderFills = first.fills;
  const booked = trades.map((one) => {
    const taken = takeTrade(fills, one);
    fills = taken.fills;
    return taken.fill?.quantity ?? null;
  });
  assert.deepEqual(booked, [null, null, '4']);
  assert.equal(averagePrice(fills), '11.571428571');
  const second = takeCumulative(fills, { quantity: '8', averagePrice: '12', atMs: 0 });
  assert.equal(averagePrice(second.fills), '12');
});

test('a replacement is for the remaining quantity, less fills of the old order until it ends', () => {
  const old = {
    symbol: 'AAPL',
    assetClass: 'equity',
    side: 'buy',
    quantity: '10',
    orderType: 'limit',
    limitPrice: '5',
    stopPrice: null,
    timeInForce: 'day',
  } as const;
  assert.deepEqual(replacementTerms(old, '7', { limitPrice: '6' }), { ...old, quantity: '7', limitPrice: '6' });
  assert.deepEqual(replacementTerms(old, '7', { stopPrice: '6' }), { field: 'stop_price' });
  assert.equal(quantityAfterOld('7', '3', '5'), '5');
  assert.equal(quantityAfterOld('7', '3', '10'), null);
});
