/** The adapters of the three brokers with their test servers: real HTTP and WebSockets on 127.0.0.1. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test, { after, afterEach, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../../src/clock.ts';
import { postAnswerOf } from '../../../../src/domains/trading/brokers/answers.ts';
import { type BrokerParts, openBroker, type VenueCredentials } from '../../../../src/domains/trading/brokers/open-broker.ts';
import type { BrokerConnection } from '../../../../src/domains/trading/brokers/port.ts';
import { beginOutbound, moveOutbound, type OutboundEvent, type OutboundTiming } from '../../../../src/domains/trading/orders/outbound.ts';
import type { OrderTerms } from '../../../../src/domains/trading/orders/terms.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { AlpacaServer, alpacaKeys } from '../../../support/alpaca-server.ts';
import type { BrokerStandIn, StandInOrder } from '../../../support/broker-stand-in.ts';
import { CoinbaseServer, coinbaseKeys } from '../../../support/coinbase-server.ts';
import { TradierServer, tradierKeys } from '../../../support/tradier-server.ts';

const outbound = createOutbound({ allow: [] });
const ourId = 'ord_01j0000000000000000000000a';
const shares: OrderTerms = {
  symbol: 'AAPL',
  assetClass: 'equity',
  side: 'buy',
  quantity: '3',
  orderType: 'limit',
  limitPrice: '101.5',
  stopPrice: null,
  timeInForce: 'gtc',
};
const coins: OrderTerms = { ...shares, symbol: 'BTC-USD', assetClass: 'crypto', quantity: '0.5', limitPrice: '60000' };
/** Of calls that are not answered in time; others have so much time that a busy machine answers them. */
const timeoutMs = 400;
const patientMs = 10_000;

type Venue = {
  server: BrokerStandIn;
  open: (credentials?: Partial<Record<string, string>>, timeoutMs?: number) => BrokerConnection;
  terms: OrderTerms;
};
const alpaca = new AlpacaServer();
const tradier = new TradierServer();
const coinbase = new CoinbaseServer();
let venues: Record<'alpaca' | 'tradier' | 'coinbase', Venue>;

before(async () => {
  await Promise.all([alpaca.start(), tradier.start(), coinbase.start()]);
  const parts: Omit<BrokerParts, 'timeoutMs'> = {
    outbound,
    clock: systemClock,
    addresses: { alpacaApiUrl: alpaca.url, tradierApiUrl: `${tradier.url}/`, coinbaseApiUrl: coinbase.url },
  };
  const opener =
    (credentials: VenueCredentials) =>
    (other: Partial<Record<string, string>> = {}, timeoutMs = patientMs) => {
      const orderMode = credentials.venue === 'coinbase' ? 'live' : 'paper';
      return openBroker({ ...credentials, ...other } as VenueCredentials, orderMode, 'acc_1', { ...parts, timeoutMs });
    };
  venues = {
    alpaca: { server: alpaca, open: opener({ venue: 'alpaca', ...alpacaKeys }), terms: shares },
    tradier: { server: tradier, open: opener({ venue: 'tradier', ...tradierKeys }), terms: shares },
    coinbase: { server: coinbase, open: opener({ venue: 'coinbase', ...coinbaseKeys }), terms: coins },
  };
});
after(async () => {
  await Promise.all([alpaca.stop(), tradier.stop(), coinbase.stop()]);
  await outbound.close();
});
afterEach(() => {
  for (const server of [alpaca, tradier, coinbase]) server.forget();
});

const names = ['alpaca', 'tradier', 'coinbase'] as const;
/** As the test servers name their account. */
const accountIds = {
  alpaca: '904837e3-3b76-47ec-b432-046db621571b',
  tradier: tradierKeys.accountId,
  coinbase: 'b1a5d3f0-0000-4000-8000-000000000001',
};
const lookUp = (terms: OrderTerms) => ({ ourId, brokerOrderId: null, symbol: terms.symbol, sinceMs: Date.now() - 60_000 });

/** Places an order; returns its ids at the test server and at the venue. */
async function placed({ server, open, terms }: Venue): Promise<{ broker: BrokerConnection; order: StandInOrder; body: string }> {
  const broker = open();
  const body = broker.bodyOf(ourId, terms, false);
  assert.equal((await broker.place(body)).kind, 'accepted');
  return { broker, order: server.orders[0]!, body };
}

for (const name of names) {
  test(`${name}: an order is placed once, found by our id, filled, listed with its fills, and cancelled`, async () => {
    const venue = venues[name];
    const { broker, order } = await placed(venue);
    assert.equal(venue.server.posts.length, 1);
    const found = await broker.lookUp(lookUp(venue.terms));
    assert.ok(found.kind === 'known' && found.value.kind === 'found');
    const { brokerOrderId, ourId: id, terms, state, filledQuantity, averagePrice } = found.value.order;
    assert.deepEqual(
      { brokerOrderId, id, terms, state, filledQuantity, averagePrice },
      { brokerOrderId: order.id, id: ourId, terms: venue.terms, state: 'working', filledQuantity: '0', averagePrice: null },
    );
    venue.server.fill(order, Number(venue.terms.quantity) / 2, 100);
    const after = await broker.order(order.id);
    assert.ok(after.kind === 'known' && after.value.kind === 'found');
    assert.deepEqual(
      [after.value.order.filledQuantity, after.value.order.averagePrice, after.value.order.state],
      [String(order.quantity / 2), '100', 'working'],
    );
    const fills = await broker.fills({ cursor: null, sinceMs: Date.now() - 60_000 });
    assert.ok(fills.kind === 'known');
    const listed = fills.value.fills.map(({ venueTradeId, brokerOrderId: of, symbol, side, quantity, price }) => ({
      venueTradeId: venueTradeId.split('::').at(-1),
      of,
      symbol,
      side,
      quantity,
      price,
    }));
    const expected = {
      venueTradeId: 'trade-1',
      of: order.id,
      symbol: venue.terms.symbol,
      side: 'buy',
      quantity: String(order.quantity / 2),
      price: '100',
    };
    assert.deepEqual(listed, broker.fillSource === 'trades' ? [expected] : []);
    assert.equal((await broker.fills({ cursor: fills.value.cursor, sinceMs: 0 })).kind, 'known');
    const open = async () => {
      const current = await broker.currentOrders();
      return current.kind === 'known' && current.value.filter((one) => one.state === 'working').map((one) => one.brokerOrderId);
    };
    assert.deepEqual(await open(), [order.id]);
    assert.deepEqual(await broker.cancel(order.id), { kind: 'requested' });
    assert.equal((await broker.cancel(order.id)).kind, 'refused');
    assert.deepEqual(await open(), []);
  });

  test(`${name}: a post is sent once, and its outcome is unknown if the answer is cut, lost, late, 5xx or not JSON`, async () => {
    const { server, open, terms } = venues[name];
    const broker = open({}, timeoutMs);
    for (const fault of [
      'cut',
      'lost',
      'hang',
      { lateMs: timeoutMs * 2 },
      { status: 502, text: 'Bad Gateway' },
      { status: 200, text: '<html>' },
    ] as const) {
      server.faults = [fault];
      const before = server.posts.length;
      const answer = await broker.place(broker.bodyOf(`${ourId}${before}`, terms, false));
      assert.equal(answer.kind, 'unknown', JSON.stringify(fault));
      assert.equal(server.posts.length, before + 1);
    }
  });

  test(`${name}: a "later" answer has a time, and other refusals have the venue's text`, async () => {
    const { server, open, terms } = venues[name];
    const broker = open();
    const body = broker.bodyOf(ourId, terms, false);
    server.faults = [
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 400, json: { message: 'market is\nhalted' } },
    ];
    assert.deepEqual(await broker.place(body), { kind: 'retry_after', waitMs: 7_000 });
    assert.deepEqual(await broker.place(body), { kind: 'refused', reason: 'market is halted' });
  });

  test(`${name}: an order that is in no list is absent; an unreachable venue is unknown`, async () => {
    const venue = venues[name];
    const { broker, order } = await placed(venue);
    order.hidden = true;
    assert.deepEqual(await broker.lookUp(lookUp(venue.terms)), { kind: 'known', value: { kind: 'absent' } });
    venue.server.dark = true;
    assert.equal((await broker.lookUp(lookUp(venue.terms))).kind, 'unknown');
    assert.equal((await broker.account()).kind, 'unknown');
    assert.equal((await broker.cancel(order.id)).kind, 'unknown');
  });

  test(`${name}: wrong credentials are reported as such, without their values`, async () => {
    const other = { apiKey: 'another-key', accessToken: 'another-token' };
    const answer = await venues[name].open(other).account();
    assert.equal(answer.kind, 'credentials');
    assert.doesNotMatch(JSON.stringify(answer), /another/);
  });

  test(`${name}: account and positions are read as decimals`, async () => {
    const venue = venues[name];
    const { broker, order } = await placed(venue);
    venue.server.fill(order, order.quantity / 2, 100);
    const account = await broker.account();
    assert.ok(account.kind === 'known');
    assert.deepEqual([account.value.cash, account.value.id], ['100000', accountIds[name]]);
    const positions = await broker.positions();
    assert.ok(positions.kind === 'known');
    const expected = {
      symbol: venue.terms.symbol,
      assetClass: venue.terms.assetClass,
      quantity: String(order.quantity / 2),
      averagePrice: name === 'coinbase' ? null : '100',
    };
    assert.deepEqual(positions.value, [expected]);
  });

  test(`${name}: the stream reports changed orders, and reconnects after it was cut`, async () => {
    const venue = venues[name];
    const { broker, order } = await placed(venue);
    const notifications: string[] = [];
    let wake = () => {};
    const notify = (what: string) => {
      notifications.push(what);
      wake();
    };
    const until = async (what: string) => {
      while (!notifications.includes(what)) await new Promise<void>((resolve) => (wake = resolve));
      notifications.length = 0;
    };
    const stream = broker.updates({
      connected: () => notify('connected'),
      lost: () => notify('lost'),
      changed: () => notify('changed'),
    });
    try {
      await until('connected');
      // A venue that answers no subscription may not have read it yet.
      const updating = setInterval(() => venue.server.sendUpdate(order), 20);
      await until('changed');
      clearInterval(updating);
      for (const socket of venue.server.sockets) socket.cut();
      await until('lost');
      await until('connected');
    } finally {
      stream.close();
    }
  });
}

/** Takes an order to the venue as an actor does: each action is an effect, each outcome a turn. @returns the kinds of its actions and the last step */
async function deliver({ open, terms }: Venue, rules: OutboundTiming): Promise<string[]> {
  const broker = open();
  const body = broker.bodyOf(ourId, terms, false);
  let { state, actions } = beginOutbound();
  const actionKinds: string[] = [];
  for (let queue = actions; state.step !== 'known' && queue.length > 0 && actionKinds.length < 40; queue = actions) {
    const events: OutboundEvent[] = [];
    for (const action of queue) {
      actionKinds.push(action.kind);
      if (action.kind === 'post') events.push({ kind: 'posted', post: action.post, answer: postAnswerOf(await broker.place(body)) });
      if (action.kind === 'look_up') {
        const found = await broker.lookUp(lookUp(terms));
        events.push({ kind: 'looked_up', lookUp: action.lookUp, answer: found.kind === 'known' ? found.value.kind : 'unknown' });
      }
      if (action.kind === 'wake') {
        await delay(Math.max(0, action.atMs - Date.now()));
        events.push({ kind: 'due' });
      }
    }
    actions = [];
    for (const event of events) {
      const move = moveOutbound(state, event, { ...rules, afterUnknown: broker.afterUnknown }, Date.now());
      state = move.state;
      actions.push(...move.actions);
    }
  }
  actionKinds.push(...actions.map(({ kind }) => kind), state.step);
  return actionKinds;
}

for (const name of names) {
  test(`${name}: an order whose answer is lost is placed once and found in the end`, async () => {
    const { server } = venues[name];
    server.faults = ['lost'];
    const actionKinds = await deliver(venues[name], { lookUpMs: 5_000, reconcileMs: 1_000 });
    assert.equal(actionKinds.at(-1), 'known');
    assert.equal(server.orders.length, 1);
  });
}

test('an order that never arrived is sent again where a repeat is safe, and at Tradier waits for a person', async () => {
  const rules = { lookUpMs: 600, reconcileMs: 50 };
  for (const name of ['alpaca', 'coinbase'] as const) {
    venues[name].server.faults = ['cut', 'cut'];
    assert.equal((await deliver(venues[name], { ...rules, lookUpMs: 5_000 })).at(-1), 'known');
    assert.equal(venues[name].server.orders.length, 1);
  }
  tradier.faults = ['cut'];
  const actionKinds = await deliver(venues.tradier, rules);
  assert.deepEqual(
    [actionKinds.filter((kind) => kind === 'post').length, actionKinds.includes('ask_for_attention'), actionKinds.at(-1) === 'known'],
    [1, true, false],
  );
  assert.equal(tradier.orders.length, 0);
});

test('a failed connection is distinguished from a lost answer', async () => {
  const addresses = { alpacaApiUrl: 'http://127.0.0.1:1', tradierApiUrl: null, coinbaseApiUrl: null };
  const broker = openBroker({ venue: 'alpaca', ...alpacaKeys }, 'paper', 'acc_1', { outbound, clock: systemClock, addresses, timeoutMs });
  assert.equal((await broker.place(broker.bodyOf(ourId, shares, false))).kind, 'not_sent');
});

test('a stream to a private address is refused unless the operator named it', () => {
  const listener = { opened() {}, message() {}, closed() {} };
  for (const url of ['ws://127.0.0.1:1/', 'wss://169.254.169.254/', 'ftp://example.com/'])
    assert.throws(() => outbound.webSocket(url, listener));
  outbound.webSocket('ws://127.0.0.1:1/', listener, { configured: true }).close();
});

test('alpaca: a used client order id means that the order exists; another 422 with that code is a refusal', async () => {
  const { broker, body } = await placed(venues.alpaca);
  assert.deepEqual(await broker.place(body), { kind: 'exists' });
  const { qty: _, ...without } = JSON.parse(broker.bodyOf(`${ourId}b`, shares, false));
  assert.deepEqual(await broker.place(JSON.stringify(without)), { kind: 'refused', reason: 'qty is required' });
  assert.equal(alpaca.orders.length, 1);
});

for (const name of names)
  test(`${name}: no answer shows the credentials, whatever the venue repeats of them`, async () => {
    const { server, open, terms } = venues[name];
    const { apiKey, apiSecret, accessToken } = { ...alpacaKeys, ...tradierKeys, ...coinbaseKeys } as Record<string, string>;
    const secrets = { alpaca: [alpacaKeys.apiKey, alpacaKeys.apiSecret], tradier: [accessToken!], coinbase: [apiKey!, apiSecret!] }[name];
    const repeated = { message: `not for ${secrets.join(' and ')}` };
    for (const status of [400, 403, 401]) {
      server.faults = [{ status, json: repeated }];
      const broker = open();
      const answer = JSON.stringify(await broker.place(broker.bodyOf(ourId, terms, false)));
      assert.match(answer, /not for \[masked\]/);
      for (const secret of secrets) assert.ok(!answer.includes(secret) && !answer.includes(JSON.stringify(secret).slice(1, -1)));
    }
  });

test('alpaca: 403 to an order is a refusal of the order, not of the credentials', async () => {
  const broker = venues.alpaca.open();
  const body = broker.bodyOf(ourId, { ...shares, quantity: '100000' }, false);
  assert.deepEqual(await broker.place(body), { kind: 'refused', reason: 'insufficient buying power' });
});

test('alpaca: a pair is sent with a slash and read in both forms', async () => {
  const broker = venues.alpaca.open();
  await broker.place(broker.bodyOf(ourId, { ...coins, limitPrice: '100' }, false));
  assert.equal(alpaca.orders[0]!.symbol, 'BTC/USD');
  alpaca.fill(alpaca.orders[0]!, 0.5, 100);
  const positions = await broker.positions();
  assert.deepEqual(positions.kind === 'known' && positions.value.map(({ symbol, quantity }) => [symbol, quantity]), [['BTC-USD', '0.5']]);
});

test('alpaca: fills are listed page by page, and a repeated request returns the same', async () => {
  const { broker, order } = await placed(venues.alpaca);
  order.quantity = 1_000;
  for (let i = 0; i < 250; i++) alpaca.fill(order, 1, 100);
  const first = await broker.fills({ cursor: null, sinceMs: Date.now() - 60_000 });
  assert.ok(first.kind === 'known');
  assert.equal(new Set(first.value.fills.map(({ venueTradeId }) => venueTradeId)).size, 250);
  const again = await broker.fills({ cursor: first.value.cursor, sinceMs: 0 });
  assert.deepEqual(again, first);
});

test('tradier: 200 is not an acceptance: the order is queried, and may be rejected', async () => {
  tradier.rejectsWith = 'Buying power is too low';
  const broker = venues.tradier.open();
  assert.deepEqual(await broker.place(broker.bodyOf(ourId, shares, false)), { kind: 'refused', reason: 'Buying power is too low' });
});

test('tradier: requests are forms, the tag has no underscore, and short orders have separate sides', async () => {
  const { broker } = await placed(venues.tradier);
  assert.match(tradier.posts[0]!.headers['content-type']!, /^application\/x-www-form-urlencoded/);
  assert.equal(new URLSearchParams(tradier.posts[0]!.body).get('tag'), ourId.replace('_', '-'));
  const sideOf = (side: 'buy' | 'sell', onShort: boolean) =>
    new URLSearchParams(broker.bodyOf(ourId, { ...shares, side }, onShort)).get('side');
  assert.deepEqual(
    [sideOf('buy', false), sideOf('buy', true), sideOf('sell', false), sideOf('sell', true)],
    ['buy', 'buy_to_cover', 'sell', 'sell_short'],
  );
});

test('tradier: two posts of one body would be two orders, so a lost answer is only looked up', async () => {
  const { broker, body } = await placed(venues.tradier);
  await broker.place(body);
  assert.equal(tradier.orders.length, 2);
  assert.equal(broker.afterUnknown, 'look_up');
});

test('coinbase: a repeated body is answered with its order; success false is a refusal, a used id is not', async () => {
  const { broker, body } = await placed(venues.coinbase);
  const again = await broker.place(body);
  assert.equal(again.kind === 'accepted' && again.brokerOrderId, coinbase.orders[0]!.id);
  assert.equal(coinbase.orders.length, 1);
  coinbase.refusesWith = 'INSUFFICIENT_FUND';
  assert.deepEqual(await broker.place(body), { kind: 'refused', reason: 'the order was refused' });
  coinbase.refusesWith = 'DUPLICATE_CLIENT_ORDER_ID';
  assert.deepEqual(await broker.place(body), { kind: 'exists' });
});

test('coinbase: a key that is not on P-256 is reported without a request to the venue', async () => {
  const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  for (const apiSecret of [ed25519, 'no key']) assert.equal((await venues.coinbase.open({ apiSecret }).account()).kind, 'credentials');
  assert.equal(coinbase.requests.length, 0);
  const escaped = coinbaseKeys.apiSecret.replaceAll('\n', '\\n');
  assert.equal((await venues.coinbase.open({ apiSecret: escaped }).account()).kind, 'known');
});
