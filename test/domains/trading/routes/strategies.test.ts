/** Strategies over HTTP: created, listed, changed, deleted; and refused configurations, with the position of each error. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findVersion } from '../../../../src/domains/trading/strategy/versions.ts';
import { Database } from '../../../../src/storage/database.ts';
import { runningEmbeddedPostgres } from '../../../../src/storage/embedded-postgres.ts';
import { onBusiness } from '../../../support/on-business.ts';
import { productSchema } from '../../../support/product-schema.ts';
import { Caller, startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

const service = await startService({ after });
const base = '/v1/trading/strategies';
const good = { name: 'Trend', type: 'momentum', symbols: ['AAPL', 'BTC/USD'], config: { lookback: 20 } };
const pair = { name: 'Pair', type: 'arbitrage', symbols: ['AAPL', 'MSFT'], config: { pair: ['AAPL', 'MSFT'], z_entry: 2, z_exit: 0.5 } };
const own = await Caller.register(service);

test('a strategy is created as paper and stopped, read, listed newest first, changed in versions, and deleted', async () => {
  const made = await own.json('POST', base, good);
  assert.match(made.id, /^stg_/);
  const { id, created_at, updated_at, ...rest } = made;
  assert.deepEqual(rest, {
    name: 'Trend',
    type: 'momentum',
    symbols: ['AAPL', 'BTC-USD'],
    mode: 'paper',
    config: { lookback: 20 },
    version: 1,
    status: 'stopped',
    error: null,
    run: null,
  });
  assert.equal(created_at, updated_at);
  const second = await own.json('POST', base, { ...pair, config: { ...pair.config, timeframe: '1h', capital: 5_000 } });
  const { data, total } = await own.json('GET', base);
  assert.deepEqual([data.map((each: { id: string }) => each.id), total], [[second.id, id], 2]);

  const changed = await own.json('PATCH', `${base}/${id}`, { config: { lookback: 5, timeframe: '5m' } });
  assert.deepEqual([changed.version, changed.config, changed.name], [2, { lookback: 5, timeframe: '5m' }, 'Trend']);
  assert.equal((await own.json('PATCH', `${base}/${id}`, { name: 'Other' })).version, 3);
  assert.deepEqual((await own.json('GET', `${base}/${id}`)).config, { lookback: 5, timeframe: '5m' });
  assert.equal((await own.fetch('DELETE', `${base}/${id}`)).status, 204);
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    const body = method === 'PATCH' ? { name: 'x' } : undefined;
    assert.equal((await own.fetch(method, `${base}/${id}`, body)).status, 404, method);
  }
  assert.equal((await own.json('GET', base)).total, 1);
});

test('every version of a strategy is found, also after its deletion, and none of another account', async (t) => {
  const database = new Database((await runningEmbeddedPostgres(service.dataDir))!, { schema: productSchema });
  t.after(() => database.close());
  const { id } = await own.json('POST', base, good);
  await own.json('PATCH', `${base}/${id}`, { config: { lookback: 7 } });
  await own.fetch('DELETE', `${base}/${id}`);
  const { account_id: accountId } = await own.json('GET', '/v1/auth/me');
  const found = async (version: number, of = accountId) => (await findVersion(database, { accountId: of, id }, version))?.config ?? null;
  assert.deepEqual(
    [await found(1), await found(2), await found(3), await found(1, 'acct_other')],
    [{ lookback: 20 }, { lookback: 7 }, null, null],
  );
});

test('requests with the same Idempotency-Key create one strategy', async () => {
  const key = { 'idempotency-key': 'one strategy' };
  const [first, again] = [await own.json('POST', base, good, key), await own.json('POST', base, good, key)];
  assert.deepEqual(again, first);
});

test('an account has at most a thousand strategies in each mode, and a repeated request gets the same answer', async () => {
  const many = await Caller.register(service);
  const key = { 'idempotency-key': 'the last one' };
  const { id } = await many.json('POST', base, good);
  const database = new Database((await runningEmbeddedPostgres(service.dataDir))!, { schema: productSchema });
  try {
    await database.read({
      name: 'copies',
      text: `insert into strategy select (jsonb_populate_record(s, jsonb_build_object('id', 'stg_' || n))).* from strategy s, generate_series(1, 998) n where s.id = $1`,
      values: [id],
    });
  } finally {
    await database.close();
  }
  const last = await many.json('POST', base, good, key);
  assert.equal((await many.fetch('POST', base, good)).status, 409);
  assert.equal((await many.json('POST', base, good, key)).id, last.id);
  const trial = await many.program('test', ['trading.read', 'trading.write']);
  await trial.json('POST', base, good);
  await many.fetch('DELETE', `${base}/${id}`);
  await many.json('POST', base, good);
});

test("another account's strategies are 404, and those of test and live mode are separate", async () => {
  const { id } = await own.json('POST', base, good);
  const trial = await own.program('test', ['trading.read', 'trading.write']);
  const other = await Caller.register(service);
  const theirs = await trial.json('POST', base, good);
  assert.equal(theirs.mode, 'test');
  for (const [caller, wrong] of [
    [other, id],
    [trial, id],
    [own, theirs.id],
  ] as const)
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const)
      assert.equal((await caller.fetch(method, `${base}/${wrong}`, body)).status, 404, `${method} ${wrong}`);
  assert.deepEqual((await trial.json('GET', base)).total, 1);
});

const faults: [name: string, body: object, loc: string[]][] = [
  ['a lookback of no whole number', { ...good, config: { lookback: 1.5 } }, ['body', 'config', 'lookback']],
  ['a missing lookback', { ...good, config: {} }, ['body', 'config', 'lookback']],
  ['an unknown field', { ...good, config: { lookback: 2, lookbak: 3 } }, ['body', 'config', 'lookbak']],
  ['a timeframe that there is not', { ...good, config: { lookback: 2, timeframe: '2d' } }, ['body', 'config', 'timeframe']],
  ['a capital of nothing', { ...good, config: { lookback: 2, capital: 0 } }, ['body', 'config', 'capital']],
  ['warm-up of no code', { ...good, config: { lookback: 2, warm_up_bars: 5 } }, ['body', 'config', 'warm_up_bars']],
  [
    'an exit beyond the entry',
    { ...good, type: 'mean_reversion', config: { lookback: 5, z_entry: 1, z_exit: 1 } },
    ['body', 'config', 'z_exit'],
  ],
  ['a symbol in lower case', { ...good, symbols: ['aapl'] }, ['body', 'symbols', '0']],
  ['a symbol named twice', { ...good, symbols: ['BTC-USD', 'BTC/USD'] }, ['body', 'symbols', '1']],
  ['no symbols', { ...good, symbols: [] }, ['body', 'symbols']],
  ['an unknown type', { ...good, type: 'guess' }, ['body', 'type']],
  ['symbols beside the pair', { ...pair, symbols: ['AAPL', 'NVDA'] }, ['body', 'symbols']],
  ['a pair of one symbol', { ...pair, config: { ...pair.config, pair: ['AAPL', 'AAPL'] } }, ['body', 'config', 'pair']],
  ['a pair of no symbols', { ...pair, config: { ...pair.config, pair: ['AAPL', 'msft'] } }, ['body', 'config', 'pair', '1']],
  ['empty code', { ...good, type: 'custom', config: { code: '' } }, ['body', 'config', 'code']],
  ['code that is too long', { ...good, type: 'custom', config: { code: 'x'.repeat(100_001) } }, ['body', 'config', 'code']],
];

for (const [name, body, loc] of faults)
  test(`${name} is 422 with its position`, async () => {
    const answer = await own.fetch('POST', base, body);
    const { detail } = (await answer.json()) as { detail: { loc: unknown[] }[] };
    assert.deepEqual([answer.status, detail[0]!.loc], [422, loc]);
  });

test('a change is checked as the whole strategy is', async () => {
  const { id } = await own.json('POST', base, pair);
  for (const body of [
    {},
    { symbols: ['AAPL', 'NVDA'] },
    { config: { lookback: 3 } },
    { config: { ...pair.config, pair: ['AAPL', 'NVDA'] } },
  ])
    assert.equal((await own.fetch('PATCH', `${base}/${id}`, body)).status, 422, JSON.stringify(body));
  assert.equal((await own.json('GET', `${base}/${id}`)).version, 1);
});

test('unusable code is 422 with the reason when the strategy is created; usable code is accepted', async () => {
  const faults: [string, RegExp][] = [
    ['function onBar( {', /^the code cannot be used: SyntaxError/],
    ['const onBar = 1;', /defines no function onBar/],
    ['throw new Error("at once")', /^the code cannot be used: .*at once/],
    ['for (;;);', /longer than 1 s before the first bar/],
  ];
  for (const [code, expected] of faults) {
    const answer = await own.fetch('POST', base, { ...good, type: 'custom', config: { code } });
    const { detail } = (await answer.json()) as { detail: { loc: unknown[]; msg: string }[] };
    assert.deepEqual([answer.status, detail[0]!.loc], [422, ['body', 'config', 'code']], code);
    assert.match(detail[0]!.msg, expected);
  }
  assert.equal((await own.json('POST', base, { ...good, type: 'custom', config: { code: 'function onBar() { return 1; }' } })).version, 1);
});

test('a strategy is started and stopped; one that runs is neither started again nor deleted', async () => {
  const { id } = await own.json('POST', base, good);
  const started = await own.json('POST', `${base}/${id}/start`, {});
  assert.deepEqual([started.status, started.mode, started.run.version, started.run.timeframe], ['running', 'paper', 1, '1d']);
  assert.ok(Date.parse(started.run.next_bar_at) > Date.now());
  assert.equal((await own.fetch('POST', `${base}/${id}/start`, {})).status, 409);
  assert.equal((await own.fetch('DELETE', `${base}/${id}`)).status, 409);
  assert.equal((await own.json('POST', `${base}/${id}/stop`)).status, 'stopped');
  assert.equal((await own.json('POST', `${base}/${id}/stop`)).status, 'stopped');
  const unknown = await own.json('POST', base, { ...good, symbols: ['ZZZZ'] });
  assert.equal((await own.fetch('POST', `${base}/${unknown.id}/start`, {})).status, 409, 'a symbol without a price');
});

test('real money needs a plan that includes it and a live key; a start of another mode or account is 404', async () => {
  const { id } = await own.json('POST', base, good);
  assert.equal((await own.fetch('POST', `${base}/${id}/start`, { mode: 'live' })).status, 402);
  const trial = await own.program('test', ['trading.read', 'trading.write']);
  const theirs = await trial.json('POST', base, good);
  assert.equal((await trial.fetch('POST', `${base}/${theirs.id}/start`, { mode: 'live' })).status, 403);
  assert.equal((await trial.json('POST', `${base}/${theirs.id}/start`, {})).mode, 'test');
  assert.equal((await trial.fetch('POST', `${base}/${id}/start`, {})).status, 404);
});

test('real money needs a completed backtest of this very version, or an acknowledgement', { timeout: 240_000 }, async () => {
  const rich = await Caller.register(service);
  await onBusiness((await runningEmbeddedPostgres(service.dataDir))!);
  await until(async () => (await rich.fetch('PATCH', '/v1/settings', { live_trading_enabled: true })).ok, 'the plan');
  const { id } = await rich.json('POST', base, { ...good, symbols: ['AAPL'] });
  const refusal = async (body: object = {}) => {
    const answer = await rich.fetch('POST', `${base}/${id}/start`, { mode: 'live', ...body });
    const { detail } = (await answer.json()) as { detail: { loc: string[]; type: string }[] };
    return [answer.status, detail[0]!.loc.at(-1), detail[0]!.type];
  };
  const untested = [422, 'acknowledge', 'backtest_required'];
  const noBroker = [422, 'mode', 'value_error'];
  assert.deepEqual(await refusal(), untested);
  assert.deepEqual(await refusal({ acknowledge: true }), noBroker, 'the next thing that it needs');
  const period = { start_date: '2025-01-02', end_date: '2025-06-30', initial_capital: 10_000 };
  const { id: backtestId } = await rich.json('POST', '/v1/trading/backtests', { strategy_id: id, ...period });
  await until(async () => (await rich.json('GET', `/v1/trading/backtests/${backtestId}`)).status === 'complete', 'the backtest');
  assert.deepEqual(await refusal(), noBroker);
  await rich.json('PATCH', `${base}/${id}`, { config: { lookback: 3 } });
  assert.deepEqual(await refusal(), untested, 'the version that was tested is another one');
});
