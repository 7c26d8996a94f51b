/**
 * Reconciliation with a venue whose answers are late, duplicate, reordered, partial or missing, while this side crashes between any two
 * steps. In the end both sides are equal, each fill is booked once, and late data alone causes no halt.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type Book, emptyBook, enter } from '../../../../src/domains/trading/book.ts';
import { queryBroker, type RoundBroker, type RoundResult } from '../../../../src/domains/trading/brokers/connection/round.ts';
import type { Answer, VenueFill, VenueOrder, VenuePosition } from '../../../../src/domains/trading/brokers/port.ts';
import {
  comparePositions,
  type Difference,
  eventsOf,
  foreignAtConnecting,
  type HeldOrder,
  orderUpdates,
  quantityOf,
} from '../../../../src/domains/trading/brokers/reconciliation.ts';
import { isFinal, moveOrder, newOrder, type OrderEvent, type OrderState } from '../../../../src/domains/trading/orders/order-state.ts';
import type { OrderTerms, Side } from '../../../../src/domains/trading/orders/terms.ts';

const symbols = ['AAA', 'BBB'] as const;
type Action =
  | { kind: 'place'; foreign: boolean; symbol: (typeof symbols)[number]; side: Side; quantity: number; answered: boolean; lagMs: number }
  | { kind: 'fill'; order: number; quantity: number; lagMs: number }
  | { kind: 'end'; order: number; as: 'cancelled' | 'expired' | 'rejected' }
  | { kind: 'round'; extent: 'orders' | 'all'; fault: Fault; shuffle: number }
  | { kind: 'wait'; ms: number };
/** `die`: after this number of orders was reported, and before the cursor is stored. `late`: reported after the next round. */
type Fault = { kind: 'none' } | { kind: 'lost'; call: number } | { kind: 'die'; applied: number } | { kind: 'twice' } | { kind: 'late' };

type VOrder = VenueOrder & { listedAtMs: number };

class ModelVenue implements RoundBroker {
  nowMs = 1_000_000;
  readonly fillSource: 'trades' | 'orders';
  orders: VOrder[] = [];
  listed: (VenueFill & { listedAtMs: number })[] = [];
  byHand: Record<string, number> = {};
  /** Calls until one is lost; null: none is. */
  lostAfter: number | null = null;
  shuffle = 0;

  constructor(fillSource: 'trades' | 'orders') {
    this.fillSource = fillSource;
  }

  place(ourId: string | null, { symbol, side, quantity }: { symbol: string; side: Side; quantity: number }, lagMs: number): VOrder {
    const base = { symbol, assetClass: 'equity', side } as const;
    const terms: OrderTerms = {
      ...base,
      quantity: String(quantity),
      orderType: 'market',
      limitPrice: null,
      stopPrice: null,
      timeInForce: 'gtc',
    };
    const times = { createdAtMs: this.nowMs, updatedAtMs: this.nowMs, listedAtMs: this.nowMs + lagMs };
    const order = { brokerOrderId: `v${this.orders.length}`, ourId, ...base, terms, reason: null, ...times };
    this.orders.push({ ...order, state: 'working', filledQuantity: '0', averagePrice: null });
    return this.orders.at(-1)!;
  }

  fill(order: VOrder, wanted: number, lagMs: number): void {
    const quantity = Math.min(wanted, Number(order.terms!.quantity) - Number(order.filledQuantity));
    if (order.state !== 'working' || quantity <= 0) return;
    order.filledQuantity = String(Number(order.filledQuantity) + quantity);
    order.averagePrice = '10';
    order.updatedAtMs = this.nowMs;
    if (order.filledQuantity === order.terms!.quantity) order.state = 'filled';
    const { brokerOrderId, symbol, side } = order;
    this.listed.push({
      venueTradeId: `t${this.listed.length}`,
      brokerOrderId,
      symbol,
      side,
      quantity: String(quantity),
      price: '10',
      commission: '0',
      atMs: this.nowMs,
      listedAtMs: this.nowMs + lagMs,
    });
  }

  held(): Record<string, number> {
    const held: Record<string, number> = { ...this.byHand };
    for (const { symbol, side, filledQuantity } of this.orders)
      held[symbol] = (held[symbol] ?? 0) + (side === 'buy' ? 1 : -1) * Number(filledQuantity);
    return held;
  }

  currentOrders = () =>
    this.answer(
      this.orders.filter(({ listedAtMs, state }) => listedAtMs <= this.nowMs && (this.fillSource === 'orders' || state === 'working')),
    );
  order = (id: string) => {
    const order = this.orders.find(({ brokerOrderId, listedAtMs }) => brokerOrderId === id && listedAtMs <= this.nowMs);
    return this.answer(order === undefined ? ({ kind: 'absent' } as const) : ({ kind: 'found', order } as const));
  };
  fills = ({ cursor, sinceMs }: { cursor: string | null; sinceMs: number }) => {
    const fromMs = cursor === null ? sinceMs : Number(cursor) - 300_000;
    const fills = this.listed.filter(({ atMs, listedAtMs }) => atMs >= fromMs && listedAtMs <= this.nowMs && this.fillSource === 'trades');
    const newest = Math.max(Number(cursor ?? sinceMs), ...fills.map(({ atMs }) => atMs));
    const turned = [...fills.slice(this.shuffle % (fills.length + 1)), ...fills.slice(0, this.shuffle % (fills.length + 1))];
    return this.answer({ fills: [...turned, ...fills.slice(0, 1)], cursor: String(newest), more: false });
  };
  positions = () => {
    const positions = Object.entries(this.held()).map(([symbol, quantity]): VenuePosition => {
      return { symbol, assetClass: 'equity', quantity: String(quantity), averagePrice: null };
    });
    return this.answer(positions);
  };

  private async answer<T>(value: T): Promise<Answer<T>> {
    if (this.lostAfter !== null && this.lostAfter-- === 0) return { kind: 'unknown', reason: 'lost' };
    return { kind: 'known', value: structuredClone(value) };
  }
}

type Own = { state: OrderState; external: boolean; symbol: string; side: Side };

/** The stored state of this side. Orders and book change together; each reported order, and the cursor, is a separate commit. */
class Holder {
  readonly venue: ModelVenue;
  readonly sinceMs: number;
  orders = new Map<string, Own>();
  book: Book = emptyBook();
  cursor: string | null = null;
  differences: Difference[] = [];
  halted = false;
  fills: string[] = [];
  /** Trades, and orders that were over, when connecting. */
  readonly adopted: Set<string>;
  private booked = new Set<string>();
  private late: { result: RoundResult; before: Record<string, string> } | null = null;
  private compared: RoundResult | null = null;

  constructor(venue: ModelVenue) {
    this.venue = venue;
    this.sinceMs = venue.nowMs - 60_000;
    const over = venue.orders.filter(({ state }) => state !== 'working');
    this.adopted = new Set([...venue.listed.map(({ venueTradeId }) => venueTradeId), ...over.map(({ brokerOrderId }) => brokerOrderId)]);
    this.cursor = String(venue.nowMs);
    for (const [symbol, quantity] of Object.entries(venue.held()))
      this.book = enter(this.book, { kind: 'adopted_position', symbol, quantity: String(quantity), averagePrice: '10' });
    for (const order of venue.orders)
      if (order.state === 'working')
        this.orders.set(`f-${order.brokerOrderId}`, { ...order, state: foreignAtConnecting(order), external: true });
  }

  private heldOf([id, { state, external }]: [string, Own]): HeldOrder {
    const { brokerOrderId, status, unknownOutcome, fills } = state;
    return { id, brokerOrderId, status, unknownOutcome, external, filledQuantity: fills.quantity };
  }

  ours(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.book.positions).map(([symbol, { quantity }]) => [symbol, quantity]));
  }

  async round(extent: 'orders' | 'all', fault: Fault): Promise<void> {
    this.venue.lostAfter = fault.kind === 'lost' ? fault.call : null;
    const before = this.ours();
    const all = () => [...this.orders].map((entry) => this.heldOf(entry));
    const result = await queryBroker(
      this.venue,
      {
        open: async () => all().filter((order) => !isFinal(order)),
        named: async (brokerIds, ourIds) =>
          all().filter(({ id, brokerOrderId }) => ourIds.includes(id) || brokerIds.includes(brokerOrderId ?? '')),
      },
      {
        cursor: this.cursor,
        sinceMs: this.sinceMs,
        extent,
        isBooked: (id) => this.booked.has(id),
        isEarlier: (id) => this.adopted.has(id),
      },
    );
    this.venue.lostAfter = null;
    if (result.kind !== 'answered') return;
    const earlier = this.late;
    this.late = fault.kind === 'late' ? { result, before } : null;
    if (fault.kind !== 'late') this.take(result, fault, before);
    if (fault.kind === 'twice') this.take(result, fault, before);
    if (earlier !== null) this.take(earlier.result, { kind: 'none' }, earlier.before);
  }

  /** What orders with an unknown outcome do by themselves. */
  lookUp(): void {
    for (const [id, { state }] of this.orders) {
      const order = state.unknownOutcome ? this.venue.orders.find(({ ourId }) => ourId === id) : undefined;
      if (order !== undefined) this.apply(id, [{ kind: 'accepted', brokerOrderId: order.brokerOrderId }]);
    }
  }

  private take(result: RoundResult, fault: Fault, before: Record<string, string>): void {
    const steps = [
      ...result.updates.map((seen) => () => this.apply(seen.orderId, eventsOf(seen))),
      ...result.foreign.map((seen) => () => {
        const id = `f-${seen.order.brokerOrderId}`;
        if (!this.orders.has(id)) this.orders.set(id, { ...seen.order, state: newOrder(quantityOf(seen.order)), external: true });
        this.apply(id, eventsOf(seen));
      }),
    ];
    const dies = fault.kind === 'die';
    for (const step of dies ? steps.slice(0, fault.applied) : steps) step();
    // State that is only in memory is lost.
    if (dies) return this.booked.clear();
    for (const { fills } of result.updates) for (const { venueTradeId } of fills) this.booked.add(venueTradeId);
    // A late answer must not take the cursor back.
    if (result.cursor !== null && Number(result.cursor) > Number(this.cursor ?? 0)) this.cursor = result.cursor;
    if (result.positions === null || this.compared === result) return;
    this.compared = result;
    const ours = this.ours();
    const moved = symbols.filter((symbol) => before[symbol] !== ours[symbol]);
    const unknown = [...this.orders.values()].filter(({ state }) => state.unknownOutcome).map(({ symbol }) => symbol);
    const moving = new Set([...result.moving, ...moved, ...unknown]);
    const { differences, mismatches } = comparePositions({
      ...{ ours, theirs: result.positions, before: this.differences, moving },
      ...{ nowMs: this.venue.nowMs, roundMs: 15_000 },
    });
    this.differences = differences;
    this.halted ||= mismatches.length > 0;
  }

  private apply(id: string, events: OrderEvent[]): void {
    for (const event of events) {
      const own = this.orders.get(id)!;
      const move = moveOrder(own.state, event);
      if (move.kind !== 'moved') continue;
      this.orders.set(id, { ...own, state: move.order });
      for (const change of move.changes) {
        if (change.kind !== 'fill') continue;
        this.fills.push(`${id} ${change.fill.key}`);
        const { quantity, price, commission } = change.fill;
        this.book = enter(this.book, { kind: 'fill', symbol: own.symbol, side: own.side, quantity, price, commission });
      }
    }
  }
}

async function play(fillSource: 'trades' | 'orders', before: Action[], actions: Action[]): Promise<Holder> {
  const venue = new ModelVenue(fillSource);
  let made = 0;
  const perform = async (action: Action, holder: Holder | null) => {
    venue.nowMs += 100;
    switch (action.kind) {
      case 'place': {
        const ourId = action.foreign || holder === null ? null : `ord_${made++}`;
        const order = venue.place(ourId, action, action.lagMs);
        if (ourId === null || holder === null) return;
        const stored = newOrder(String(action.quantity));
        const state = action.answered ? moveOrder(stored, { kind: 'accepted', brokerOrderId: order.brokerOrderId }) : null;
        const unknown = moveOrder(stored, { kind: 'outcome_unknown' });
        const moved = state ?? unknown;
        assert.ok(moved.kind === 'moved');
        holder.orders.set(ourId, { state: moved.order, external: false, symbol: action.symbol, side: action.side });
        return;
      }
      case 'fill': {
        const order = venue.orders[action.order % Math.max(1, venue.orders.length)];
        if (order !== undefined) venue.fill(order, action.quantity, action.lagMs);
        return;
      }
      case 'end': {
        const order = venue.orders[action.order % Math.max(1, venue.orders.length)];
        if (order?.state !== 'working' || (action.as === 'rejected' && order.filledQuantity !== '0')) return;
        order.state = action.as;
        order.updatedAtMs = venue.nowMs;
        return;
      }
      case 'round':
        venue.shuffle = action.shuffle;
        return holder?.round(action.extent, action.fault);
      case 'wait':
        venue.nowMs += action.ms;
    }
  };
  for (const action of before) await perform(action, null);
  // Everything is listed by the time of the connection, which is when it begins to count.
  venue.nowMs += 30_000;
  const holder = new Holder(venue);
  for (const action of actions) await perform(action, holder);
  return holder;
}

/** Rounds without faults, until everything is listed and reported. */
async function settle(holder: Holder, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    holder.venue.nowMs += 20_000;
    holder.lookUp();
    await holder.round('all', { kind: 'none' });
  }
}

const lagMs = fc.constantFrom(0, 0, 50, 500, 10_000);
const place = fc.record({
  kind: fc.constant('place' as const),
  foreign: fc.boolean(),
  symbol: fc.constantFrom(...symbols),
  side: fc.constantFrom('buy' as const, 'sell' as const),
  quantity: fc.integer({ min: 1, max: 5 }),
  answered: fc.boolean(),
  lagMs,
});
const fill = fc.record({
  kind: fc.constant('fill' as const),
  order: fc.nat(20),
  quantity: fc.integer({ min: 1, max: 3 }),
  lagMs,
});
const end = fc.record({
  kind: fc.constant('end' as const),
  order: fc.nat(20),
  as: fc.constantFrom('cancelled' as const, 'expired' as const, 'rejected' as const),
});
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: 'none' }),
  fc.record({ kind: fc.constant('lost' as const), call: fc.nat(5) }),
  fc.record({ kind: fc.constant('die' as const), applied: fc.nat(3) }),
  fc.constant<Fault>({ kind: 'twice' }),
  fc.constant<Fault>({ kind: 'late' }),
);
const round = fc.record({
  kind: fc.constant('round' as const),
  extent: fc.constantFrom('orders' as const, 'all' as const),
  fault,
  shuffle: fc.nat(5),
});
const wait = fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(100, 5_000, 70_000) });
const before = fc.array(fc.oneof(place, fill, end), { maxLength: 6 });
const actions = fc.array(
  fc.oneof({ arbitrary: place, weight: 2 }, { arbitrary: fill, weight: 3 }, end, { arbitrary: round, weight: 3 }, wait),
  {
    maxLength: 30,
  },
);
const source = fc.constantFrom('trades' as const, 'orders' as const);

test('both sides are equal in the end, despite lost, duplicate, late, reordered or interrupted answers (R1 to R3)', async () => {
  await fc.assert(
    fc.asyncProperty(source, before, actions, async (fillSource, first, rest) => {
      const holder = await play(fillSource, first, rest);
      await settle(holder, 4);
      const { venue, orders } = holder;
      for (const order of venue.orders) {
        const own = orders.get(order.ourId ?? `f-${order.brokerOrderId}`);
        if (own === undefined) {
          assert.ok(order.createdAtMs < holder.sinceMs + 60_000 || (order.filledQuantity === '0' && order.state !== 'working'));
          continue;
        }
        const statuses = [own.state.status === 'accepted' || own.state.status === 'partially_filled' ? 'working' : own.state.status];
        assert.deepEqual([...statuses, own.state.fills.quantity], [order.state, order.filledQuantity], order.brokerOrderId);
      }
      const theirs = Object.entries(venue.held()).filter(([, quantity]) => quantity !== 0);
      assert.deepEqual(Object.entries(holder.ours()).toSorted(), theirs.map(([symbol, quantity]) => [symbol, String(quantity)]).toSorted());
    }),
    { numRuns: 300 },
  );
});

test('no fill is booked twice, and positions are the fold of the fills that were booked', async () => {
  await fc.assert(
    fc.asyncProperty(source, before, actions, async (fillSource, first, rest) => {
      const holder = await play(fillSource, first, rest);
      await settle(holder, 4);
      assert.equal(new Set(holder.fills).size, holder.fills.length);
      for (const { state } of holder.orders.values()) assert.ok(Number(state.fills.quantity) <= Number(state.quantity));
    }),
    { numRuns: 300 },
  );
});

test('late data never halts a connection; a position that changed without a fill does, after the second round that finds it (R4)', async () => {
  await fc.assert(
    fc.asyncProperty(source, before, actions, fc.integer({ min: -3, max: 3 }), async (fillSource, first, rest, byHand) => {
      const holder = await play(fillSource, first, rest);
      await settle(holder, 4);
      assert.equal(holder.halted, false, JSON.stringify(holder.differences));
      holder.venue.byHand.AAA = byHand;
      await settle(holder, 1);
      assert.equal(holder.halted, false);
      await settle(holder, 1);
      assert.equal(holder.halted, byHand !== 0);
    }),
    { numRuns: 300 },
  );
});

test('an open order that was taken over with the positions is not adopted as a new one before it is known here', () => {
  const times = { createdAtMs: 5, updatedAtMs: 5 };
  const about = { ourId: null, symbol: 'AAA', assetClass: 'equity', side: 'buy', terms: null, averagePrice: '10', reason: null } as const;
  const order: VenueOrder = { ...about, ...times, brokerOrderId: 'v1', state: 'working', filledQuantity: '2' };
  const isEarlier = (id: string) => id === 'v1';
  const answer = { fillSource: 'trades', orders: [order], fills: [] } as const;
  assert.deepEqual(orderUpdates([], answer, { sinceMs: 10, isEarlier }).foreign, []);
  const known: HeldOrder = {
    ...{ id: 'ord_1', brokerOrderId: 'v1', status: 'partially_filled', filledQuantity: '2', unknownOutcome: false, external: true },
  };
  const later = { ...answer, orders: [{ ...order, state: 'cancelled' as const }] };
  assert.deepEqual(
    orderUpdates([known], later, { sinceMs: 10, isEarlier }).updates.map(({ orderId }) => orderId),
    ['ord_1'],
  );
});
