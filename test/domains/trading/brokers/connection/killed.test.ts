/**
 * The runtime dies between any two steps of an order at its broker: after it was stored, when the broker has the request, while it is
 * looked up, when it is accepted, while it fills and while it is cancelled. The broker has each order once, and positions are the fold
 * of its fills.
 */
import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import type { Fault } from '../../../../support/broker-stand-in.ts';
import { BrokerWorld } from '../../../../support/broker-world.ts';
import { until } from '../../../../support/until.ts';

let world: BrokerWorld;
before(async () => {
  world = await BrokerWorld.start({ timeoutMs: 1_500, lookUpMs: 10_000 });
});
after(() => world.stop());
afterEach(() => world.forget());

/** `requests`: what the broker has had since the post, this one included, when the runtime dies. null: nothing is known of the post. */
type Death = { fault: Fault | null; requests: number | null };
const onTheWay: Death[] = [
  { fault: null, requests: 1 },
  { fault: null, requests: 3 },
  { fault: 'lost', requests: 1 },
  { fault: 'lost', requests: 2 },
  { fault: { lateMs: 60 }, requests: 1 },
];
const beforeIt: Death = { fault: null, requests: null };

for (const name of ['alpaca', 'tradier', 'coinbase'] as const) {
  test(`${name}: an order whose runtime dies at any step is at the broker once, and its fills are booked once`, async () => {
    const broker = await world.connect(name);
    const { server } = broker;
    const half = Number(broker.terms.quantity) / 2;
    let placed = 0;
    // Tradier's order may never have left then: nothing is sent again there, and a person is asked.
    for (const { fault, requests } of name === 'tradier' ? onTheWay : [...onTheWay, beforeIt]) {
      server.faults = [fault];
      const before = server.posts.length;
      const { id } = await world.place(broker);
      placed++;
      const sincePost = () => server.requests.length - server.requests.indexOf(server.posts[before]!);
      if (requests !== null) await until(() => server.posts.length > before && sincePost() >= requests, `request ${requests}`);
      await world.crash();
      const order = await world.orderBecomes(id, ({ state }) => state.brokerOrderId !== null, `after ${requests} requests`);
      assert.equal(order.state.unknownOutcome, false);
      server.fill(world.at(broker, id)!, half, 100);
      if (requests === 3) await world.crash();
      server.fill(world.at(broker, id)!, half, 100);
      await world.status(id, 'filled');
    }
    const ids = server.orders.map(({ ourId }) => ourId);
    assert.equal(new Set(ids).size, ids.length, 'an order is at the broker twice');
    assert.equal(ids.length, placed);
    assert.equal(Number(await world.held(broker)), Number((placed * 2 * half).toFixed(9)));
    const fills = await world.test.sql('select order_id, quantity from trading_fill where broker_key = $1', [broker.row.id]);
    assert.equal(fills.reduce((sum, { quantity }) => sum + Number(quantity), 0).toFixed(9), (placed * 2 * half).toFixed(9));
    assert.equal((await world.connection(broker)).halt, null);
  });
}
