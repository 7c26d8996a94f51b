import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { createAlpacaData } from '../../../../src/domains/trading/market/alpaca-data.ts';
import { barRow, barRows, foldBars } from '../../../../src/domains/trading/market/bars.ts';
import { CredentialsRefused } from '../../../../src/domains/trading/market/port.ts';
import { quoteView } from '../../../../src/domains/trading/market/quote-view.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { AlpacaDataServer, type VendorBar } from '../../../support/alpaca-data-server.ts';

const at = (text: string) => Date.parse(text);
const credentials = { apiKey: 'PKTEST', apiSecret: 'secret' };

async function source(t: TestContext, { now = '2026-11-23T15:00:00Z', keys = credentials, timeoutMs = 5_000 } = {}) {
  const server = await AlpacaDataServer.start();
  t.after(() => server.close());
  const outbound = createOutbound({ allow: [] });
  t.after(() => outbound.close());
  const clock = { nowMs: () => at(now) };
  const data = createAlpacaData({
    outbound,
    url: `${server.url}/`,
    credentials: keys,
    account: 'acct_1',
    clock,
    hours: 'exchange',
    timeoutMs,
    maxPages: 20,
  });
  return { server, data };
}

const bar = (t: string, price: number, v = 100): VendorBar => ({
  t,
  o: price,
  h: price + 1,
  l: price - 1,
  c: price + 0.5,
  v,
  n: 7,
  vw: price,
});

test("a stock's latest quote is the vendor's bid, ask and time, with the middle as its price", async (t) => {
  const { server, data } = await source(t);
  // The example of the vendor's description.
  server.quotes.set('AAPL', {
    ap: 172.7,
    as: 1,
    ax: 'Q',
    bp: 172.6,
    bs: 2,
    bx: 'Q',
    c: ['R'],
    t: '2026-11-23T14:59:54.055031265Z',
    z: 'C',
  });
  assert.deepEqual(quoteView((await data.quote('AAPL'))!), {
    symbol: 'AAPL',
    asset_class: 'equity',
    bid: 172.6,
    ask: 172.7,
    last: 172.65,
    volume: 3,
    at: '2026-11-23T14:59:54.055Z',
    session: 'open',
    next_open: '2026-11-24T14:30:00.000Z',
    next_close: '2026-11-23T21:00:00.000Z',
    tick: 0.01,
    source: 'broker',
  });
  assert.deepEqual(server.requests, [{ path: '/v2/stocks/AAPL/quotes/latest', query: {}, keyId: 'PKTEST', secret: 'secret' }]);
  assert.equal(await data.quote('NOPE'), null);
  assert.equal(await data.quote('aapl'), null);
  assert.equal(server.requests.length, 2, 'what is no symbol is not asked for');
});

test("a pair's latest quote is requested by the vendor's name", async (t) => {
  const { server, data } = await source(t);
  server.quotes.set('BTC/USD', { ap: 29059, as: 3.252, bp: 29058, bs: 0.3544, t: '2026-11-23T14:59:59.44347136Z' });
  const quote = (await data.quote('BTC-USD'))!;
  assert.deepEqual([quote.symbol, quote.last, quote.volume, quote.session, quote.tick], ['BTC-USD', 29058.5, 3.6064, 'open', 0.01]);
  assert.deepEqual([server.requests[0]!.path, server.requests[0]!.query], ['/v1beta3/crypto/us/latest/quotes', { symbols: 'BTC/USD' }]);
  assert.equal(await data.quote('XYZ-USD'), null);
});

test('a side without offers has the price of the other side, and nothing can trade', async (t) => {
  const { server, data } = await source(t);
  server.quotes.set('AAPL', { ap: 0, as: 0, bp: 172.6, bs: 2, t: '2026-11-23T14:59:54Z' });
  const { bid, ask, last, volume } = (await data.quote('AAPL'))!;
  assert.deepEqual([bid, ask, last, volume], [172.6, 172.6, 172.6, 0]);
  server.quotes.set('AAPL', { ap: 0, as: 0, bp: 0, bs: 0, t: '2026-11-23T14:59:54Z' });
  await assert.rejects(data.quote('AAPL'), { code: 'unavailable' });
});

test('bars are read in pages, of regular sessions only, and only when they are complete', async (t) => {
  const { server, data } = await source(t, { now: '2026-11-23T14:32:30Z' });
  server.pageBars = 2;
  const times = [
    '2026-11-20T14:29',
    '2026-11-20T14:30',
    '2026-11-20T20:59',
    '2026-11-20T21:00',
    '2026-11-23T14:30',
    '2026-11-23T14:31',
    '2026-11-23T14:32',
  ];
  server.bars.set(
    'AAPL 1Min',
    times.map((time, n) => bar(`${time}:00Z`, 100 + n)),
  );
  const bars = (await data.bars({ symbol: 'AAPL', timeframe: '1m', start: '2026-11-20', end: '2026-11-23', adjusted: true }))!;
  assert.deepEqual(
    barRows(bars).map(({ date }) => date),
    ['2026-11-20T14:30:00Z', '2026-11-20T20:59:00Z', '2026-11-23T14:30:00Z', '2026-11-23T14:31:00Z'],
  );
  assert.deepEqual(barRow(bars, 0), { date: '2026-11-20T14:30:00Z', open: 101, high: 102, low: 100, close: 101.5, volume: 100 });
  assert.equal(server.requests.length, 4);
  const { page_token, ...query } = server.requests[1]!.query;
  assert.ok(page_token);
  assert.deepEqual(query, { symbols: 'AAPL', timeframe: '1Min', start: '2026-11-20', limit: '5000', adjustment: 'split' });
  await data.bars({ symbol: 'AAPL', timeframe: '1m', start: '2026-11-20', end: '2026-11-20', adjusted: false });
  assert.deepEqual([server.requests[4]!.query.end, server.requests[4]!.query.adjustment], ['2026-11-20T23:59:59Z', 'raw']);
});

test('a full page of bars is read, also if the vendor doubles the fields of a bar', async (t) => {
  const { server, data } = await source(t);
  const began = at('2026-01-01T00:00:00Z');
  const more = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`x${n}`, n]));
  server.bars.set(
    'BTC/USD 1Min',
    Array.from({ length: 10_001 }, (_, n) => ({ ...bar(new Date(began + n * 60_000).toISOString(), 100), ...more })),
  );
  const request = { symbol: 'BTC-USD', timeframe: '1m', start: '2026-01-01', end: '2026-01-31', adjusted: false } as const;
  assert.equal((await data.bars(request))!.bars.time.length, 10_001);
});

test("hourly bars begin at the session's opening and daily crypto bars at midnight UTC, independent of the vendor's bars", async (t) => {
  const { server, data } = await source(t);
  const minute = (n: number) => new Date(at('2026-11-20T14:30:00Z') + n * 60_000).toISOString().replace('.000', '');
  server.bars.set(
    'AAPL 5Min',
    Array.from({ length: 78 }, (_, n) => bar(minute(5 * n), 100 + n)),
  );
  const request = { start: '2026-11-20', end: '2026-11-20', adjusted: false };
  const hours = (await data.bars({ symbol: 'AAPL', timeframe: '1h', ...request }))!;
  const fives = (await data.bars({ symbol: 'AAPL', timeframe: '5m', ...request }))!;
  assert.equal(hours.bars.time.length, 7);
  const { date, ...last } = barRow(hours, 6);
  assert.equal(date, '2026-11-20T20:30:00Z');
  assert.deepEqual(last, foldBars(fives.bars, 72, 78));
  server.bars.set(
    'BTC/USD 1Hour',
    Array.from({ length: 30 }, (_, n) => bar(new Date(at('2026-11-20T00:00:00Z') + n * 3_600_000).toISOString(), 100 + n, 0.1)),
  );
  const days = (await data.bars({ symbol: 'BTC-USD', timeframe: '1d', start: '2026-11-20', end: '2026-11-21', adjusted: true }))!;
  assert.deepEqual(barRows(days), [
    { date: '2026-11-20', open: 100, high: 124, low: 99, close: 123.5, volume: 2.4 },
    { date: '2026-11-21', open: 124, high: 130, low: 123, close: 129.5, volume: 0.6 },
  ]);
});

test('the daily bar of an equity has the date of its midnight in New York', async (t) => {
  const { server, data } = await source(t, { now: '2026-11-23T20:59:59Z' });
  server.bars.set(
    'AAPL 1Day',
    ['2026-10-30T04:00:00Z', '2026-11-02T05:00:00Z', '2026-11-23T05:00:00Z'].map((time) => bar(time, 100)),
  );
  const request = { symbol: 'AAPL', timeframe: '1d', start: '2026-10-01', end: '2026-12-31', adjusted: false } as const;
  assert.deepEqual(
    barRows((await data.bars(request))!).map(({ date }) => date),
    ['2026-10-30', '2026-11-02'],
  );
  assert.equal((await data.bars({ ...request, symbol: 'NOPE' }))!.bars.time.length, 0);
});

test('splits and dividends have their ex-date, also if they are processed later', async (t) => {
  const { server, data } = await source(t);
  server.actions = {
    forward_splits: [
      { id: 'a', symbol: 'SRE', cusip: '816851109', ex_date: '2023-08-22', new_rate: 2, old_rate: 1, process_date: '2023-08-22' },
    ],
    reverse_splits: [{ id: 'b', symbol: 'SRE', ex_date: '2023-08-24', new_rate: 1, old_rate: 50, process_date: '2023-08-24' }],
    cash_dividends: [
      { id: 'c', symbol: 'SRE', ex_date: '2023-08-01', rate: 0.125, special: false, foreign: false, process_date: '2023-09-19' },
      { id: 'd', symbol: 'SRE', ex_date: '2023-09-01', rate: 0.125, special: false, foreign: false, process_date: '2023-09-19' },
    ],
  };
  const actions = (await data.actions('SRE', '2023-08-01', '2023-08-31'))!;
  assert.deepEqual(
    actions.map((each) => [each.id, each.date, each.type === 'split' ? each.ratio : each.type === 'dividend' ? each.amount : null]),
    [
      ['alpaca:c', '2023-08-01', 0.125],
      ['alpaca:a', '2023-08-22', 2],
      ['alpaca:b', '2023-08-24', 0.02],
    ],
  );
  assert.equal(actions[1]!.effectiveMs, at('2023-08-22T04:00:00Z'));
  assert.equal(server.requests[0]!.query.end, '2023-12-29');
  assert.deepEqual(await data.actions('BTC-USD', '2023-08-01', '2023-08-31'), []);
});

test('refused keys are distinguished from a vendor that does not answer', async (t) => {
  const refused = await source(t, { keys: { apiKey: 'PKWRONG', apiSecret: 'hunter2' } });
  await assert.rejects(
    refused.data.quote('AAPL'),
    (error) => error instanceof CredentialsRefused && !/hunter2|PKWRONG/.test(error.message),
  );
  const hanging = await source(t, { timeoutMs: 200 });
  hanging.server.failures = ['hang'];
  await assert.rejects(hanging.data.quote('AAPL'), { code: 'unavailable' });
  // Longer than any answer takes: an answer after the timeout would be that to the next request.
  const { server, data } = await source(t, { timeoutMs: 60_000 });
  const quote = { ap: 1, as: 1, bp: 1, bs: 1, t: '2026-11-23T14:59:54Z' };
  const resetS = Math.round(at('2026-11-23T15:00:00Z') / 1000) + 30;
  const unusable = [
    'reset',
    { status: 500, body: { message: 'internal' } },
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
    { status: 200, body: 'not json' },
    { status: 200, body: '[]' },
    { status: 200, body: { quote: { ...quote, ap: '1' } } },
    { status: 200, body: { quote: { ...quote, bp: -1 } } },
    { status: 200, body: { quote: { ...quote, t: 'now' } } },
    { status: 200, body: `"${'x'.repeat(9 * 1024 * 1024)}"` },
  ] as const;
  for (const failure of unusable) {
    server.failures = [failure];
    await assert.rejects(data.quote('AAPL'), { code: 'unavailable' }, JSON.stringify(failure).slice(0, 100));
  }
  server.failures = [{ status: 429, body: { message: 'too many requests.' }, headers: { 'x-ratelimit-reset': String(resetS) } }];
  await assert.rejects(data.quote('AAPL'), { code: 'unavailable', retryAfterS: 30 });
  server.failures = [{ status: 422, body: { message: 'invalid symbol' } }];
  assert.equal(await data.quote('AAPL'), null);
  const badBars = [
    [{ t: '2026-11-20T14:30:00Z', o: 1, h: 0.5, l: 1, c: 1, v: 1 }],
    [bar('2026-11-20T14:31:00Z', 5), bar('2026-11-20T14:30:00Z', 5)],
    [bar('x', 5)],
  ];
  for (const bars of badBars) {
    server.failures = [{ status: 200, body: { bars: { AAPL: bars }, next_page_token: null } }];
    await assert.rejects(data.bars({ symbol: 'AAPL', timeframe: '1m', start: '2026-11-20', end: '2026-11-20', adjusted: false }), {
      code: 'unavailable',
    });
  }
  server.failures = Array(21).fill({ status: 200, body: { bars: {}, next_page_token: 'more' } });
  await assert.rejects(data.bars({ symbol: 'AAPL', timeframe: '1m', start: '2026-11-20', end: '2026-11-20', adjusted: false }), {
    code: 'unavailable',
  });
  const gone = new AbortController();
  gone.abort(new Error('no longer wanted'));
  await assert.rejects(data.quote('AAPL', gone.signal), /no longer wanted/);
});
