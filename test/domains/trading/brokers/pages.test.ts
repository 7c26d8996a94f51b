/** Lists that come in pages: a list of which a part is missing is no answer, and no entry stops later ones from being read. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type BrokerParts, openBroker } from '../../../../src/domains/trading/brokers/open-broker.ts';
import type { BrokerConnection } from '../../../../src/domains/trading/brokers/port.ts';
import type { Outbound } from '../../../../src/providers/outbound/port.ts';
import { coinbaseKeys } from '../../../support/coinbase-server.ts';

const nowMs = Date.parse('2026-09-14T15:00:00Z');
const iso = (ms: number) => new Date(ms).toISOString();
type Answered = { status?: number; json: unknown };

function brokerOf(venue: 'alpaca' | 'coinbase', answer: (path: string, query: URLSearchParams) => Answered): BrokerConnection {
  const outbound = {
    async fetch(address: string) {
      const { pathname, searchParams } = new URL(address);
      const { status = 200, json } = answer(pathname, searchParams);
      return { status, headers: {}, url: address, body: Buffer.from(JSON.stringify(json)), truncated: false };
    },
  } as unknown as Outbound;
  const addresses = { alpacaApiUrl: null, tradierApiUrl: null, coinbaseApiUrl: null };
  const parts: BrokerParts = { outbound, clock: { nowMs: () => nowMs }, addresses, timeoutMs: 1_000 };
  const credentials =
    venue === 'alpaca' ? ({ venue, apiKey: 'PKPAGES', apiSecret: 'secret-of-pages' } as const) : ({ venue, ...coinbaseKeys } as const);
  return openBroker(credentials, 'live', 'acct_pages', parts);
}

const alpacaOrder = (n: number, symbol = 'KO') => {
  const submitted_at = iso(nowMs - 86_400_000 + n * 1_000);
  return {
    id: `order-${n}`,
    client_order_id: `c-${n}`,
    symbol,
    side: 'sell',
    type: 'limit',
    time_in_force: 'gtc',
    qty: '7',
    status: 'new',
    submitted_at,
  };
};

test('alpaca: a page that is full of orders of other kinds does not end the list', async () => {
  const all = [...Array.from({ length: 500 }, (_, n) => alpacaOrder(n, 'KO261218C00070000')), alpacaOrder(500), alpacaOrder(501)];
  const broker = brokerOf('alpaca', (_path, query) => {
    const after = query.get('after');
    return { json: all.filter(({ submitted_at }) => after === null || submitted_at > after).slice(0, 500) };
  });
  const answer = await broker.currentOrders();
  assert.deepEqual(answer.kind === 'known' && answer.value.map(({ brokerOrderId }) => brokerOrderId), ['order-500', 'order-501']);
});

test('alpaca: full pages that repeat themselves, or name no time to go on from, are no list', async () => {
  const page = Array.from({ length: 500 }, (_, n) => alpacaOrder(n));
  assert.equal((await brokerOf('alpaca', () => ({ json: page })).currentOrders()).kind, 'unknown');
  const timeless = page.map((order) => ({ ...order, submitted_at: null }));
  assert.equal((await brokerOf('alpaca', () => ({ json: timeless })).currentOrders()).kind, 'unknown');
});

test('alpaca: all fills of one moment are read in one answer, also thousands', async () => {
  const fills = Array.from({ length: 3_050 }, (_, n) => {
    return {
      id: `fill-${n}`,
      order_id: 'order-1',
      symbol: 'KO',
      side: 'sell',
      qty: '1',
      price: '70.5',
      transaction_time: iso(nowMs - 1_000),
    };
  });
  const broker = brokerOf('alpaca', (_path, query) => {
    const from = fills.findIndex(({ id }) => id === query.get('page_token')) + 1;
    return { json: fills.slice(from, from + 100) };
  });
  const answer = await broker.fills({ cursor: String(nowMs - 2_000), sinceMs: 0 });
  assert.deepEqual(answer.kind === 'known' && [answer.value.fills.length, answer.value.more], [3_050, false]);
});

test('a fill with a time in the future does not move the cursor past now: later fills are listed', async () => {
  const future = iso(nowMs + 400 * 86_400_000);
  const alpaca = brokerOf('alpaca', () => {
    return { json: [{ id: 'f1', order_id: 'o1', symbol: 'KO', side: 'buy', qty: '1', price: '70', transaction_time: future }] };
  });
  const coinbase = brokerOf('coinbase', () => {
    const fill = { trade_id: 'f1', order_id: 'o1', product_id: 'ETH-USD', side: 'BUY', price: '70', size: '1', trade_time: future };
    return { json: { fills: [fill], cursor: '' } };
  });
  for (const broker of [alpaca, coinbase]) {
    const answer = await broker.fills({ cursor: String(nowMs - 60_000), sinceMs: 0 });
    assert.deepEqual(answer.kind === 'known' && [answer.value.fills.length, answer.value.cursor], [1, String(nowMs)]);
  }
});

const balance = (currency: string, retail_portfolio_id?: string) => {
  return { currency, available_balance: { value: '3' }, ...(retail_portfolio_id !== undefined && { retail_portfolio_id }) };
};

test('coinbase: a list that announces a further page and does not name it, or never ends, is no list', async () => {
  const lists = [
    { orders: [], accounts: [balance('ETH')], has_next: true },
    { orders: [], accounts: [balance('ETH')], has_next: true, cursor: '' },
    { orders: [], accounts: [balance('ETH')], has_next: true, cursor: 'the same' },
  ];
  for (const json of lists) {
    const broker = brokerOf('coinbase', () => ({ json }));
    assert.deepEqual([(await broker.currentOrders()).kind, (await broker.positions()).kind], ['unknown', 'unknown']);
  }
  let page = 0;
  const endless = brokerOf('coinbase', () => ({ json: { accounts: [balance(`C${++page}`)], has_next: true, cursor: `page ${page}` } }));
  assert.equal((await endless.positions()).kind, 'unknown');
  assert.ok(page <= 20, `${page} pages`);
});

test('coinbase: an account is known by the portfolio of its balances, or else of its key', async () => {
  const cases: [object[], Answered, unknown][] = [
    [[balance('USD', 'p-1'), balance('ETH', 'p-1')], { status: 500, json: {} }, 'p-1'],
    [[balance('USD')], { json: { can_view: true, portfolio_uuid: 'p-2' } }, 'p-2'],
    [[balance('USD', 'p-1'), balance('ETH', 'p-3')], { json: { portfolio_uuid: 'p-3' } }, 'p-3'],
    [[balance('USD')], { status: 404, json: {} }, null],
    [[balance('USD')], { json: { portfolio_uuid: '' } }, null],
    // Without an answer a second connection to the same account could be made.
    [[balance('USD')], { status: 503, json: {} }, 'unknown'],
  ];
  for (const [accounts, permissions, expected] of cases) {
    const broker = brokerOf('coinbase', (path) =>
      path.endsWith('/key_permissions') ? permissions : { json: { accounts, has_next: false } },
    );
    const answer = await broker.account();
    assert.equal(answer.kind === 'known' ? answer.value.id : answer.kind, expected);
  }
});
