/**
 * Orders at a broker with lost answers, late, duplicate and reordered fills, and ends before their fills, on a node that is killed at
 * any time: after all reports, book and orders match the broker's.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import fc from 'fast-check';
import { tradingActors } from '../../../../src/domains/trading/actors.ts';
import type { VenueFill, VenueOrder } from '../../../../src/domains/trading/brokers/port.ts';
import { nanoOfText } from '../../../../src/domains/trading/decimal.ts';
import { tradingAccount } from '../../../../src/domains/trading/trading-account/messages.ts';
import { tradingOrder, type VenueCalls } from '../../../../src/domains/trading/trading-order/messages.ts';
import { AppError } from '../../../../src/errors.ts';
import { PaperAccount } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';
import { until } from '../../../support/until.ts';
import { verifyAccount } from '../../../support/verify-account.ts';

type There = { order: VenueOrder; quantity: number; fills: VenueFill[] };
/** The broker's truth, by our id. */
const there = new Map<string, There>();
/** What the next posts come to: taken and answered, taken without an answer, or not taken without an answer. */
let next: 'answered' | 'lost' | 'never' = 'answered';

const venue: VenueCalls = {
  async place(_brokerId, body) {
    const { client_order_id: ourId, qty, symbol, side } = JSON.parse(body);
    if (there.has(ourId)) return { kind: 'exists' };
    if (next === 'never') return { kind: 'unknown', reason: 'cut' };
    const brokerOrderId = `at broker ${there.size}`;
    const about = { terms: null, averagePrice: null, reason: null, createdAtMs: 0, updatedAtMs: 0 } as const;
    const order: VenueOrder = { brokerOrderId, ourId, symbol, assetClass: 'equity', side, state: 'working', filledQuantity: '0', ...about };
    there.set(ourId, { order, quantity: Number(qty), fills: [] });
    return next === 'answered' ? { kind: 'accepted', brokerOrderId, order: null } : { kind: 'unknown', reason: 'cut' };
  },
  async lookUp(_brokerId, { ourId }) {
    const found = there.get(ourId);
    return { kind: 'known', value: found === undefined ? { kind: 'absent' } : { kind: 'found', order: found.order } };
  },
  async cancel(_brokerId, brokerOrderId) {
    const found = [...there.values()].find(({ order }) => order.brokerOrderId === brokerOrderId)!;
    if (found.order.state === 'working') found.order = { ...found.order, state: 'cancelled' };
    return { kind: 'requested' };
  },
};
const market = new ScriptedMarket('2026-11-18T15:00:00Z');
market.content({ AAPL: 100 });
const timing = { lookUpMs: 60_000, reconcileMs: 60_000 };
const world = await testRuntime(tradingActors({ market, venue, timing, timeoutMs: 10_000 }));
after(() => world.close());

const route = { brokerKey: 'brk_1', brokerName: 'alpaca', orderMode: 'paper', filledBy: 'broker' } as const;
const pick = fc.nat({ max: 20 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('place' as const),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      quantity: fc.integer({ min: 1, max: 9 }),
      as: fc.constantFrom('answered' as const, 'lost' as const, 'never' as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('fill' as const), pick, price: fc.integer({ min: 95, max: 105 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('see' as const),
      pick,
      which: fc.array(fc.nat({ max: 8 }), { maxLength: 4 }),
      isOrder: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace' as const), pick, price: fc.integer({ min: 95, max: 105 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('halt' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function see(ourId: string, fills: VenueFill[], isOrder: boolean) {
  const order = isOrder ? there.get(ourId)!.order : null;
  return world.actors.ask(tradingOrder, ourId, 'seen', { order, fills, filledSoFar: false });
}

async function take(account: PaperAccount, what: Step): Promise<unknown> {
  const known = [...there.keys()];
  const [ourId, found] = 'pick' in what && known.length > 0 ? [...there][what.pick % known.length]! : [null, null];
  switch (what.do) {
    case 'place':
      next = what.as;
      return account.place(
        { symbol: 'AAPL', side: what.side, quantity: String(what.quantity), limitPrice: what.side === 'buy' ? '99' : '101' },
        route,
      );
    case 'fill': {
      if (found === null || found.order.state !== 'working') return null;
      const at = { brokerOrderId: found.order.brokerOrderId, symbol: 'AAPL', side: found.order.side, commission: '0', atMs: 1 };
      found.fills.push({
        venueTradeId: `${found.order.brokerOrderId} trade ${found.fills.length}`,
        quantity: '1',
        price: String(what.price),
        ...at,
      });
      const state = found.fills.length >= found.quantity ? 'filled' : 'working';
      found.order = { ...found.order, state, filledQuantity: String(found.fills.length) };
      return null;
    }
    case 'see':
      return found === null
        ? null
        : see(
            ourId!,
            what.which.flatMap((n) => found.fills[n] ?? []),
            what.isOrder,
          );
    case 'cancel':
      return ourId === null ? null : account.cancel(ourId);
    case 'replace':
      return ourId === null ? null : account.replace(ourId, { limitPrice: String(what.price) });
    case 'halt':
      await world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: null });
      return world.actors.ask(tradingAccount, account.id, 'resume', { by: 'usr_1' });
    case 'crash':
      return world.crashAndRestart();
  }
}

/** Shows the account all that the broker has, until nothing of it is new and nothing waits for an answer. */
async function seeAll(account: PaperAccount): Promise<void> {
  await until(async () => {
    for (const [ourId, { fills }] of there) await see(ourId, [...fills].reverse(), true);
    for (const order of await account.orders())
      if (
        order.outbound !== null &&
        order.outbound.step !== 'known' &&
        order.outbound.step !== 'posting' &&
        !there.has(order.id) &&
        next === 'never'
      )
        await world.actors.ask(tradingOrder, order.id, 'settledAbsent', { reason: 'never arrived' });
    const { open } = (await account.state())!;
    return Object.keys(open).length === 0;
  });
}

test("despite lost, late and repeated reports and kills of the node, the book matches the broker's in the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), fc.nat({ max: 24 }), async (steps, killAt) => {
      there.clear();
      const account = new PaperAccount(world, market);
      const ended = new Map<string, string>();
      const figures = { brokerKey: 'brk_1', brokerName: 'alpaca', orderMode: 'paper' } as const;
      await world.actors.ask(tradingAccount, account.id, 'adopt', { ...figures, cash: '100000', positions: [] });
      for (const [n, what] of steps.entries()) {
        let defect: unknown = null;
        const taken = take(account, what).catch((error) => {
          if (!(error instanceof AppError) || error.code === 'internal') defect = error;
        });
        if (n === killAt && what.do !== 'crash') await world.crashAndRestart();
        await taken;
        if (defect !== null) throw defect;
        if (n % 8 === 7) await verifyAccount(world, account, ended, 'brk_1', { hasLateFills: true });
      }
      // From now on the broker takes nothing more, cancels what it is asked to, and all of it is seen.
      next = 'never';
      await world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: null });
      await seeAll(account);
      await verifyAccount(world, account, ended, 'brk_1', { hasLateFills: true });
      const all = [...there.values()].flatMap(({ fills }) => fills);
      const sum = (of: (fill: VenueFill) => bigint) => all.reduce((total, fill) => total + (fill.side === 'buy' ? 1n : -1n) * of(fill), 0n);
      const { book } = (await account.state())!.books.brk_1!;
      assert.equal(
        nanoOfText(book.positions.AAPL?.quantity ?? '0'),
        sum(({ quantity }) => nanoOfText(quantity)!),
      );
      const spent = sum(({ quantity, price }) => nanoOfText(quantity)! * nanoOfText(price)!);
      assert.equal(BigInt(book.cash), 100_000n * 10n ** 18n - spent);
      assert.deepEqual(world.errors, []);
    }),
    { numRuns: 10 },
  );
});
