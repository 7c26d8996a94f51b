/** Backtests and sweeps over HTTP at the real service, through a kill of its process. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { leftBehind } from '../support/described-service.ts';
import type { Json } from '../support/json.ts';
import { processorSeconds } from '../support/processor-time.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const period = { start_date: '2024-01-01', end_date: '2024-12-31' };
const momentum = { symbol: 'AAPL', strategy: 'momentum', config: { lookback: 20 }, ...period };
const code = (body: string) => ({
  symbol: 'AAPL',
  strategy: 'custom',
  config: { code: `function onBar(bar, ctx) { ${body} }` },
  ...period,
});
/** Processor time of a backtest over a year of minutes, with all that the service and its database do beside it. */
const maxYearS = 10;
const maxAnswerMs = 1_000;
/** Backtests have a low priority: beside processes that never wait they take a hundred times as long. */
const endWithinMs = 400_000;
const header = 'date,open,high,low,close,volume';

type Site = { service: Service; caller: Caller; workspaceId: string };

test('backtests are created, followed and read over HTTP', { timeout: 1_500_000 }, async (t) => {
  const service = await startService(t, { LOG_LEVEL: 'info' });
  const caller = await Caller.register(service);
  const { id: workspaceId } = await caller.json('POST', '/v1/workspaces', { name: 'bars' });
  const site: Site = { service, caller, workspaceId };

  await t.test('one of a stored strategy names its version, and its figures, curve, files and event agree', () => ofStrategy(site));
  await t.test('two runs of one request have the same bytes', () => sameBytes(site));
  await t.test('bars of a CSV file are used, and an error in its content fails the backtest with its line', () => ofFiles(site));
  await t.test('a year of minutes is computed quickly beside other requests; its curve is thinned, its files are complete', (t) =>
    longCurves(t, site),
  );
  await t.test('invalid input is refused with its field', () => refusals(site));
  await t.test('code that loops, allocates, throws or returns no number fails, and other backtests continue', () => badCode(site));
  await t.test('a cancelled backtest has failed, and leaves no file', () => cancelled(site));
  await t.test('a sweep reports the number of runs and the choice by past results', () => sweeps(site));
  await t.test('the bars and dividends that a backtest of a period uses can be read', () => bars(site));
  await t.test("another account's and the other mode's are 404", () => foreignBacktests(site));
  await t.test('a kill during a backtest changes no result', () => killed(site));
});

async function ofStrategy({ caller }: Site): Promise<void> {
  const made = await caller.json('POST', '/v1/trading/strategies', {
    name: 'crossing',
    type: 'momentum',
    symbols: ['AAPL', 'MSFT'],
    config: { lookback: 20 },
  });
  await caller.json('PATCH', `/v1/trading/strategies/${made.id}`, { config: { lookback: 10 } });
  const body = { strategy_id: made.id, initial_capital: 50_000, commission_bps: 2, ...period };
  const key = { 'idempotency-key': 'one backtest' };
  const begun = await caller.json('POST', '/v1/trading/backtests', body, key);
  assert.match(begun.id, /^bkt_/);
  assert.deepEqual(
    [begun.status, begun.final_value, begun.total_return_pct, begun.strategy_id, begun.strategy_version, begun.initial_capital],
    ['running', null, null, made.id, 2, 50_000],
  );
  assert.equal((await caller.json('POST', '/v1/trading/backtests', body, key)).id, begun.id);
  const done = await ended(caller, begun.id);
  assert.deepEqual([done.status, done.progress, done.error, done.bars], ['complete', 100, null, 504]);
  assert.deepEqual([done.slippage_bps, done.commission_bps, done.timeframe, done.data_source], [1, 2, '1d', 'embedded']);
  assert.deepEqual(done.symbols, ['AAPL', 'MSFT']);
  assert.equal(done.equity_curve.at(-1).equity, done.final_value);
  assert.equal(done.total_return_pct, Math.round(1e6 * (done.final_value / 50_000 - 1)) / 1e4);

  const files = await filesOf(caller, done.id);
  assert.equal(
    files['equity.csv'],
    `date,equity\n${done.equity_curve.map(({ date, equity }: Json) => `${date},${equity.toFixed(2)}\n`).join('')}`,
  );
  assert.equal(files['trades.csv'].split('\n').length, done.metrics.trades + 2);
  assert.match(files['equity.svg'], /^<svg .*momentum AAPL, MSFT, 2024-01-01 to 2024-12-31/s);

  const { data, total } = await caller.json('GET', `/v1/trading/backtests?strategy_id=${made.id}`);
  assert.equal(total, 1);
  const { equity_curve, equity_curve_step, ...summary } = done;
  assert.deepEqual(data, [summary]);
  const events = (await caller.events()).filter(({ type }) => type.startsWith('backtest.'));
  assert.deepEqual(
    events.map(({ type, data }) => [type, data]),
    [
      [
        'backtest.completed',
        {
          backtest_id: done.id,
          strategy_id: made.id,
          mode: 'live',
          status: 'complete',
          final_value: done.final_value,
          total_return_pct: done.total_return_pct,
          error: null,
        },
      ],
    ],
  );
  const older = await run(caller, '/v1/trading/backtests', { ...body, strategy_version: 1 });
  assert.deepEqual([older.strategy_version, older.config], [1, { lookback: 20 }]);
  assert.notEqual(older.code_hash, done.code_hash);
}

async function sameBytes({ caller }: Site): Promise<void> {
  for (const body of [momentum, code('return Math.random() - 0.5;'), { ...momentum, strategy: 'mean_reversion', config: {} }]) {
    const [first, again] = [await run(caller, '/v1/trading/backtest', body), await run(caller, '/v1/trading/backtest', body)];
    assert.equal(first.status, 'complete');
    assert.deepEqual(withoutIdentity(first), withoutIdentity(again));
    assert.deepEqual(await filesOf(caller, first.id), await filesOf(caller, again.id));
  }
}

async function ofFiles({ caller, service, workspaceId }: Site): Promise<void> {
  const upload = async (name: string, lines: string[]) => (await caller.upload(workspaceId, name, `${lines.join('\n')}\n`)).id as string;
  const lines = [header, '2024-01-02,10,11,9,10,5', '2024-01-03,10,12,10,12,5', '2024-01-04,12,12,12,12,5', '2024-01-05,13,14,13,14,5'];
  const whole = await upload('whole.csv', lines);
  const body = { ...momentum, symbol: 'ZZZ', config: { lookback: 1 }, slippage_bps: 0, initial_capital: 1_000, data_file_id: whole };
  const done = await run(caller, '/v1/trading/backtest', body);
  // Close 12 is above 10: all is bought at 12, held while the close stays, and sold where it does not rise: at 13.
  assert.deepEqual([done.status, done.bars, done.timeframe, done.data_file_id], ['complete', 4, '1d', whole]);
  assert.deepEqual(
    done.equity_curve.map(({ equity }: Json) => equity),
    [1_000, 1_000, 1_000, 1_083.33],
  );

  const broken = await upload('broken.csv', [...lines, '2024-01-08,13,12,11,12,5']);
  const failed = await run(caller, '/v1/trading/backtest', { ...body, data_file_id: broken });
  assert.equal(failed.status, 'failed');
  assert.match(failed.error, /^line 6: /);
  assert.deepEqual([failed.final_value, failed.metrics, failed.equity_curve], [null, null, null]);
  const files = await caller.fetch('GET', `/v1/trading/backtests/${failed.id}/equity.csv`);
  assert.equal(files.status, 409);
  const { data } = (await caller.events()).findLast(({ type }) => type === 'backtest.failed')!;
  assert.deepEqual([data.backtest_id, data.status, data.error, data.final_value], [failed.id, 'failed', failed.error, null]);

  const pair = {
    ...momentum,
    strategy: 'arbitrage',
    symbol: 'AAA',
    config: { pair: ['AAA', 'BBB'], lookback: 2, z_entry: 0.5, z_exit: 0 },
  };
  const both = await run(caller, '/v1/trading/backtest', { ...pair, data_file_ids: { AAA: whole, BBB: whole } });
  assert.deepEqual([both.status, both.bars, both.metrics.trades], ['complete', 8, 0]);
  assert.deepEqual(await refusal(caller, { ...pair, data_file_id: whole }), [422, ['body', 'data_file_id'], 'value_error']);
  assert.deepEqual(await refusal(caller, { ...pair, data_file_ids: { AAA: whole } }), [422, ['body', 'data_file_ids', 'BBB'], 'missing']);
  const none = await run(caller, '/v1/trading/backtest', { ...body, start_date: '2023-01-01', end_date: '2023-12-31' });
  assert.equal(none.status, 'failed');
  const otherAccount = await Caller.register(service);
  assert.equal((await refusal(otherAccount, body))[0], 404);
  const trader = await caller.program('live', ['trading.read', 'trading.write']);
  assert.equal((await refusal(trader, body))[0], 403);
}

async function longCurves(t: TestContext, site: Site): Promise<void> {
  const { caller, service, workspaceId } = site;
  const rows = [header];
  for (let i = 0, ms = Date.UTC(2024, 0, 2, 14, 30); i < 98_280; i++, ms += 60_000) {
    if (i > 0 && i % 390 === 0) ms += 1_050 * 60_000;
    const price = (100 + 10 * Math.sin(i / 50)).toFixed(2);
    rows.push(`${new Date(ms).toISOString().replace('.000', '')},${price},${price},${price},${price},100`);
  }
  const { id } = await caller.upload(workspaceId, 'minutes.csv', rows.join('\n'));
  const measured = async (body: object) => {
    const before = processorSeconds(service.pid);
    const done = await run(caller, '/v1/trading/backtest', { ...body, start_date: '2024-01-01', end_date: '2024-12-31', data_file_id: id });
    return { done, neededS: processorSeconds(service.pid) - before };
  };
  const [builtIn, custom] = [await measured(momentum), await measured(code('return bar.close > 100 ? 1 : 0;'))];
  t.diagnostic(`${builtIn.neededS.toFixed(1)} s and ${custom.neededS.toFixed(1)} s of processor time`);
  assert.ok(builtIn.neededS < maxYearS && custom.neededS < maxYearS, `${builtIn.neededS} s, ${custom.neededS} s`);
  // A busy machine may delay a request once; one that waits for a computation is late beside each of them.
  const slowestMs: number[] = [];
  for (let sample = 0; sample < 5 && !(slowestMs.at(-1)! < maxAnswerMs); sample++)
    slowestMs.push(await slowestBeside(site, measured(code('return bar.close > 100 ? 1 : 0;'))));
  assert.ok(slowestMs.at(-1)! < maxAnswerMs, `answers after ${slowestMs.join(', ')} ms`);
  for (const { done } of [builtIn, custom]) {
    assert.deepEqual([done.status, done.bars, done.timeframe, done.equity_curve_step], ['complete', 98_280, '1m', 20]);
    assert.equal(done.equity_curve.length, 4_915);
    assert.deepEqual([done.equity_curve[0].date, done.equity_curve.at(-1).date], ['2024-01-02T14:30:00Z', done.last_bar]);
    assert.equal((await filesOf(caller, done.id))['equity.csv'].split('\n').length, 98_282);
  }
}

/** The time of the slowest of many requests until the work is done, in milliseconds. */
async function slowestBeside({ caller, service }: Site, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  let slowestMs = 0;
  while (!isOver) {
    const sinceMs = performance.now();
    await Promise.all([fetch(`${service.url}/health/live`), caller.json('GET', '/v1/trading/quotes/AAPL')]);
    slowestMs = Math.max(slowestMs, performance.now() - sinceMs);
    // A delay of the limit, one second, still cannot be missed.
    await pause(20);
  }
  await done;
  return Math.round(slowestMs);
}

async function refusals({ caller }: Site): Promise<void> {
  const cases: [object, string[], string][] = [
    [{ end_date: '2023-12-31' }, ['end_date'], 'greater_than_equal'],
    [{ start_date: '2024-02-30' }, ['start_date'], 'value_error'],
    [{ start_date: '2090-01-01', end_date: '2090-12-31' }, ['start_date'], 'date_in_future'],
    [{ initial_capital: 0 }, ['initial_capital'], 'greater_than_equal'],
    [{ initial_capital: 1e12 + 1 }, ['initial_capital'], 'less_than_equal'],
    [{ initial_capital: 0.015 }, ['initial_capital'], 'value_error'],
    [{ commission_bps: -1 }, ['commission_bps'], 'greater_than_equal'],
    [{ slippage_bps: 1_001 }, ['slippage_bps'], 'less_than_equal'],
    [{ timeframe: '2d' }, ['timeframe'], 'enum'],
    [{ symbol: 'NOSUCH' }, ['symbol'], 'unknown_symbol'],
    [{ symbol: 'aapl' }, ['symbol'], 'string_pattern_mismatch'],
    [{ strategy: 'crossing' }, ['strategy'], 'enum'],
    [{ config: { lookback: 0 } }, ['config', 'lookback'], 'greater_than_equal'],
    [{ config: { lookback: 5, speed: 1 } }, ['config', 'speed'], 'value_error'],
    [{ strategy: 'custom', config: {} }, ['config', 'code'], 'missing'],
    [{ data_file_id: 'x', data_file_ids: {} }, ['data_file_ids'], 'value_error'],
  ];
  for (const [change, loc, type] of cases)
    assert.deepEqual(await refusal(caller, { ...momentum, ...change }), [422, ['body', ...loc], type], JSON.stringify(change));
  const unknown = { ...period, strategy_id: 'stg_01jny8e2zjv6x0r3k9m4t7w5ab', initial_capital: 1_000 };
  assert.equal((await caller.fetch('POST', '/v1/trading/backtests', unknown)).status, 404);
  assert.equal((await refusal(caller, { ...momentum, data_file_id: 'wsf_01jny8e2zjv6x0r3k9m4t7w5ab' }))[0], 404);
  const single = await run(caller, '/v1/trading/backtest', { ...momentum, start_date: '2024-01-02', end_date: '2024-01-02' });
  assert.deepEqual([single.status, single.error], ['failed', 'there are fewer than two bars in the period']);
}

async function badCode({ caller, service }: Site): Promise<void> {
  const before = await leftBehind(service);
  const other = await Caller.register(service);
  const cases: [string, RegExp][] = [
    ['for (;;);', /onBar took longer than 1 s at 2024-01-02 \(AAPL\)/],
    ['let all = []; for (;;) all.push(new Array(1e5).fill(1));', /memory|longer than 1 s/],
    ['throw new Error("no idea");', /no idea/],
    ['return "1";', /returned a string/],
    ['return process.pid;', /process.* is not defined/],
  ];
  const asked = await Promise.all(cases.map(([body]) => caller.json('POST', '/v1/trading/backtest', code(body))));
  assert.equal((await run(other, '/v1/trading/backtest', momentum)).status, 'complete', "another account's is not kept waiting");
  for (const [i, [, error]] of cases.entries()) {
    const done = await ended(caller, asked[i].id);
    assert.equal(done.status, 'failed');
    assert.match(done.error, error);
  }
  const { files } = await leftBehind(service);
  assert.deepEqual(
    (files as string[]).filter((name) => asked.some(({ id }: Json) => name.includes(id))),
    [],
  );
  assert.equal((files as string[]).length, (before.files as string[]).length + 4);
}

async function cancelled({ caller, service }: Site): Promise<void> {
  const { id } = await caller.json('POST', '/v1/trading/backtest', {
    ...code('for (let i = 0; i < 5e3; i++); return 0;'),
    timeframe: '1m',
  });
  await until(async () => (await caller.json('GET', `/v1/trading/backtests/${id}`)).progress > 0, 'progress', endWithinMs);
  const { files } = await leftBehind(service);
  const ended = await caller.json('POST', `/v1/trading/backtests/${id}/cancel`);
  assert.deepEqual([ended.status, ended.error], ['failed', 'It was cancelled']);
  assert.equal((await caller.fetch('POST', `/v1/trading/backtests/${id}/cancel`)).status, 409);
  assert.equal((await run(caller, '/v1/trading/backtest', momentum)).status, 'complete');
  assert.equal((await caller.json('GET', `/v1/trading/backtests/${id}`)).status, 'failed');
  assert.equal(((await leftBehind(service)).files as string[]).length, (files as string[]).length + 4);
}

async function sweeps({ caller }: Site): Promise<void> {
  const body = { ...momentum, parameters: { lookback: [5, 10, 20, 50] }, rank_by: 'total_return_pct' };
  const begun = await caller.json('POST', '/v1/trading/sweeps', body);
  assert.deepEqual([begun.status, begun.tried, begun.runs], ['running', null, null]);
  const done = await ended(caller, begun.id, 'sweeps');
  assert.deepEqual([done.status, done.tried, done.bars, done.runs.length], ['complete', 4, 252, 4]);
  const best = Math.max(...done.runs.map((run: Json) => run.total_return_pct));
  assert.equal(done.best_run.total_return_pct, best);
  assert.equal(done.walk_forward.folds.length, 4);
  const alone = await run(caller, '/v1/trading/backtest', { ...momentum, config: done.best_run.parameters });
  assert.deepEqual([alone.final_value, alone.metrics], [done.best_run.final_value, done.best_run.metrics]);
  const { data } = await caller.json('GET', '/v1/trading/sweeps');
  assert.deepEqual([data.length, data[0].id, 'runs' in data[0]], [1, done.id, false]);
  const refused = async (change: object) => {
    const response = await caller.fetch('POST', '/v1/trading/sweeps', { ...body, ...change });
    const [issue] = ((await response.json()) as Json).detail;
    return [response.status, issue.loc.slice(1), issue.type];
  };
  assert.deepEqual(await refused({ parameters: { speed: [1] } }), [422, ['parameters', 'speed'], 'unknown_parameter']);
  assert.deepEqual(await refused({ parameters: { lookback: [] } }), [422, ['parameters', 'lookback'], 'too_short']);
  const many = Array.from({ length: 30 }, (_, i) => i + 2);
  assert.deepEqual(await refused({ strategy: 'mean_reversion', config: {}, parameters: { lookback: many, z_entry: many } }), [
    422,
    ['parameters'],
    'too_many_runs',
  ]);
  assert.deepEqual(await refused(code('return 0;')), [422, ['strategy'], 'value_error']);
}

async function bars({ caller }: Site): Promise<void> {
  const days = await caller.json('GET', '/v1/trading/bars/AAPL?start=2024-01-01&end=2024-12-31');
  assert.deepEqual([days.timeframe, days.adjusted, days.source, days.bars.length], ['1d', true, 'embedded', 252]);
  const done = await run(caller, '/v1/trading/backtest', momentum);
  assert.deepEqual([days.bars[0].date, days.bars.at(-1).date], [done.first_bar, done.last_bar]);
  assert.equal(days.data_hash, done.data_hash);
  const held = await run(caller, '/v1/trading/backtest', code('return 1;'));
  const quantity = 100_000 / (days.bars[1].open * 1.0001);
  const cash = days.dividends.reduce((sum: number, { date, amount }: Json) => sum + (date > days.bars[1].date ? amount : 0), 0);
  assert.equal(days.dividends.length, 4);
  assert.ok(Math.abs(held.final_value - quantity * (days.bars.at(-1).close + cash)) < 0.01);
  const minutes = await caller.json('GET', '/v1/trading/bars/BTC-USD?timeframe=1m&start=2024-01-01&end=2024-01-01');
  assert.deepEqual([minutes.bars.length, minutes.bars[0].date], [1_440, '2024-01-01T00:00:00Z']);
  const raw = await caller.json('GET', '/v1/trading/bars/NVDA?start=2020-01-01&end=2020-03-31&adjusted=false');
  assert.equal(raw.adjusted, false);
  const thisWeek = await caller.json('GET', '/v1/trading/bars/AAPL?timeframe=1m');
  assert.ok(thisWeek.bars.length > 0, 'the usual period of minutes is longer than a weekend');
  assert.ok((await caller.json('GET', '/v1/trading/bars/MSFT')).bars.length > 240);
  const statusOf = async (path: string) => (await caller.fetch('GET', `/v1/trading/bars/${path}`)).status;
  assert.deepEqual(
    await Promise.all(
      [
        'NOSUCH',
        'aapl',
        'AAPL?timeframe=1m&start=2024-01-01&end=2024-12-31',
        'AAPL?start=2024-02-01&end=2024-01-01',
        'AAPL?timeframe=2d',
      ].map(statusOf),
    ),
    [404, 404, 422, 422, 422],
  );
}

async function foreignBacktests({ caller, service }: Site): Promise<void> {
  const other = await Caller.register(service);
  const tester = await caller.program('test', ['trading.read', 'trading.write']);
  const { data } = await caller.json('GET', '/v1/trading/backtests?limit=1');
  const swept = (await caller.json('GET', '/v1/trading/sweeps')).data[0].id;
  for (const one of [other, tester]) {
    for (const path of ['', '/equity.csv', '/trades.csv', '/equity.svg'])
      assert.equal((await one.fetch('GET', `/v1/trading/backtests/${data[0].id}${path}`)).status, 404);
    assert.equal((await one.fetch('POST', `/v1/trading/backtests/${data[0].id}/cancel`)).status, 404);
    assert.equal((await one.fetch('GET', `/v1/trading/sweeps/${swept}`)).status, 404);
    assert.deepEqual((await one.json('GET', '/v1/trading/backtests')).data, []);
  }
  const own = await run(tester, '/v1/trading/backtest', momentum);
  assert.deepEqual([own.status, own.mode], ['complete', 'test']);
  assert.equal((await caller.fetch('GET', `/v1/trading/backtests/${own.id}`)).status, 404);
}

async function killed({ caller, service }: Site): Promise<void> {
  const slow = 'let x = ctx.index; for (let i = 0; i < 1e2; i++) x = (x * 5 + i) & 1023; return x / 1023 - 0.5;';
  const body = { ...code(slow), timeframe: '1m' };
  const undisturbed = await run(caller, '/v1/trading/backtest', body);
  const asked: string[] = [];
  for (let i = 0; i < 2; i++) asked.push((await caller.json('POST', '/v1/trading/backtest', body)).id);
  await until(async () => (await caller.json('GET', `/v1/trading/backtests/${asked[0]}`)).progress > 0, 'progress', endWithinMs);
  await service.kill();
  await service.restart();
  const after = caller.at(service);
  for (const id of asked) {
    const done = await ended(after, id);
    assert.deepEqual(withoutIdentity(done), withoutIdentity(undisturbed));
    assert.deepEqual(await filesOf(after, id), await filesOf(after, undisturbed.id));
  }
  const ends = (await after.events()).filter(({ data }) => asked.includes(data.backtest_id));
  assert.equal(ends.length, 2, 'each has ended once');
}

async function run(caller: Caller, path: string, body: object): Promise<Json> {
  return ended(caller, (await caller.json('POST', path, body)).id);
}

async function ended(caller: Caller, id: string, kind = 'backtests'): Promise<Json> {
  let found: Json;
  await until(
    async () => {
      found = await caller.json('GET', `/v1/trading/${kind}/${id}`);
      return found.status !== 'running';
    },
    `the end of ${id}`,
    endWithinMs,
  );
  return found;
}

type Files = Record<'equity.csv' | 'trades.csv' | 'equity.svg', string>;

async function filesOf(caller: Caller, id: string): Promise<Files> {
  const texts = {} as Files;
  for (const name of ['equity.csv', 'trades.csv', 'equity.svg'] as const) {
    const response = await caller.fetch('GET', `/v1/trading/backtests/${id}/${name}`);
    assert.equal(response.status, 200);
    texts[name] = await response.text();
  }
  return texts;
}

async function refusal(caller: Caller, body: object): Promise<[number, string[] | undefined, string | undefined]> {
  const response = await caller.fetch('POST', '/v1/trading/backtest', body);
  const { detail } = (await response.json()) as Json;
  return Array.isArray(detail) ? [response.status, detail[0].loc, detail[0].type] : [response.status, undefined, undefined];
}

function withoutIdentity({ id, created_at, completed_at, ...rest }: Json): Json {
  return rest;
}
