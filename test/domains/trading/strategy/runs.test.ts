/** Runs of strategies on a market whose days the test controls: decisions, orders, holdings, failures, stops. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { alignAll, cutMarket } from '../../../../src/domains/trading/backtest/market.ts';
import { targetWeights } from '../../../../src/domains/trading/backtest/weights.ts';
import { barDate } from '../../../../src/domains/trading/bars.ts';
import { isoDate, parseDate, sessionAfter, sessionOn } from '../../../../src/domains/trading/market/calendar.ts';
import { embeddedBars } from '../../../../src/domains/trading/market/embedded-feed.ts';
import type { BarsRequest } from '../../../../src/domains/trading/market/port.ts';
import type { Strategy } from '../../../../src/domains/trading/strategy/config.ts';
import type { StrategyRow } from '../../../../src/domains/trading/strategy/entity.ts';
import { strategy } from '../../../../src/domains/trading/strategy/messages.ts';
import type { RunSettings } from '../../../../src/domains/trading/strategy/settings.ts';
import { tradingAccount } from '../../../../src/domains/trading/trading-account/messages.ts';
import { AppError } from '../../../../src/errors.ts';
import { JobStalled } from '../../../../src/providers/compute/port.ts';
import type { PaperAccount } from '../../../support/paper-account.ts';
import { strategyWorld } from '../../../support/strategy-world.ts';
import { until } from '../../../support/until.ts';

const world = await strategyWorld('2026-02-02T16:00:00Z');
after(() => world.runtime.close());
const { market } = world;
market.content({ AAPL: 100, MSFT: 50 });

/** The current session; its close is next. */
let today = '2026-02-02';
const following = (date: string) => isoDate(sessionAfter(parseDate(date)!).day);
const iso = (ms: number) => new Date(ms).toISOString();

type Run = { account: PaperAccount; id: string };

/** The session closes: its bar is complete. Answers the rows of the runs after it. */
async function close(runs: readonly Run[]): Promise<StrategyRow[]> {
  market.content({}, iso(sessionOn(parseDate(today)!)!.closeMs + 1_000));
  return Promise.all(runs.map(({ id }) => world.due(id)));
}

/** The next session opens, and what was ordered in the evening fills. */
async function open(runs: readonly Run[]): Promise<void> {
  today = following(today);
  const openMs = sessionOn(parseDate(today)!)!.openMs;
  for (const ms of [openMs + 60_000, openMs + 120_000]) {
    market.content({}, iso(ms));
    for (const { account } of runs) await account.mark();
  }
}

async function started(deciding: Strategy, { settings = {}, symbols = ['AAPL'], account = world.account() }: Options = {}): Promise<Run> {
  const id = await world.create(account, deciding, symbols, { capital: 10_000, ...settings });
  await world.start(account, id);
  return { account, id };
}
type Options = { settings?: RunSettings; symbols?: string[]; account?: PaperAccount };

/** `n` counts the bars of the run. */
const code = (body: string): Strategy => ({ type: 'custom', config: { code: `let n = 0; function onBar(bar, ctx) { n++; ${body} }` } });
const held = async ({ account }: Run, symbol = 'AAPL') => Number(await account.held(symbol));
const quantityOf = ({ run }: StrategyRow, symbol = 'AAPL') => Number(run!.targets[symbol]!.quantity);

test('after every bar the weights and holdings of a run equal those of a backtest on the same bars', {
  timeout: 240_000,
}, async () => {
  const symbols = ['AAPL', 'MSFT'];
  const reversion: Strategy = { type: 'mean_reversion', config: { lookback: 3, z_entry: 0.6, z_exit: 0.2 } };
  const pair: Strategy = { type: 'arbitrage', config: { pair: symbols, lookback: 3, z_entry: 0.6, z_exit: 0.2 } };
  const counting = code('return bar.close > bar.open ? ctx.index / 10 : -n / 20;');
  const first = today;
  const runs = [
    await started(reversion, { symbols }),
    await started(pair, { symbols }),
    await started(counting, { settings: { warm_up_bars: 2 } }),
  ];
  const seen: Record<string, StrategyRow[]> = {};
  for (let day = 0; day < 5; day++) {
    // One evening is missed: its bar is seen together with the next one.
    if (day === 2) {
      today = following(today);
      continue;
    }
    const rows = await close(runs);
    seen[today] = rows;
    await open(runs);
    for (const [n, { run }] of rows.entries())
      for (const symbol of Object.keys(run!.targets))
        assert.equal(await held(runs[n]!, symbol), quantityOf(rows[n]!, symbol), `${n} ${symbol}`);
  }
  // Two bars from before the first day fill the windows of three, and the code was shown two as well.
  const nowMs = market.clock.nowMs();
  const start = isoDate(parseDate(first)! - 10);
  const all = alignAll(symbols.map((symbol) => embeddedBars({ symbol, timeframe: '1d', start, end: today, adjusted: true }, nowMs)!));
  const dates = [...all.time].map((ms) => barDate(ms, true));
  const cut = cutMarket(all, dates.indexOf(first) - 2, all.time.length);
  const expected = [reversion, pair].map((each) => targetWeights(each as never, cut));
  const [bars] = cut.columns;
  for (const [date, rows] of Object.entries(seen)) {
    const at = dates.indexOf(date) - dates.indexOf(first) + 2;
    const ofCode = bars!.close[at]! > bars!.open[at]! ? at / 10 : -(at + 1) / 20;
    const weights = rows.map(({ run }) => Object.values(run!.targets).map(({ weight }) => weight));
    assert.deepEqual(weights, [...expected.map((columns) => columns.map((column) => column[at])), [ofCode]], date);
  }
  assert.ok(Object.values(seen).some((rows) => rows[0]!.run!.bar!.orders.length > 0));
  for (const { id } of runs) await world.stop(id);
});

test("two strategies on one symbol do not change each other's holdings", { timeout: 240_000 }, async () => {
  const stays = await started(code('return 1;'));
  const leaves = await started(code('return n === 1 ? 0.5 : 0;'), { account: stays.account });
  const [whole, half] = (await close([stays, leaves])).map((row) => quantityOf(row)) as [number, number];
  await open([stays]);
  assert.equal(await held(stays), whole + half);
  const rows = await close([stays, leaves]);
  assert.deepEqual(
    rows.map(({ run }) => run!.bar!.orders.map(({ side, quantity }) => [side, Number(quantity)])),
    [[], [['sell', half]]],
  );
  await open([stays]);
  assert.equal(await held(stays), whole);
  for (const { id } of [stays, leaves]) await world.stop(id);
});

test('a change during a run creates a version, and the run keeps its version until it is started again', {
  timeout: 240_000,
}, async () => {
  const one = await started(code('return 0.5;'));
  const ask = world.runtime.actors;
  const changed = await ask.ask(strategy, one.id, 'change', { strategy: code('return 0;') });
  assert.deepEqual([changed.version, changed.run!.version, changed.status], [2, 1, 'running']);
  await assert.rejects(world.start(one.account, one.id), { code: 'conflict' });
  await assert.rejects(ask.ask(strategy, one.id, 'remove', null), { code: 'conflict' });
  const [row] = await close([one]);
  assert.equal(row!.run!.targets.AAPL!.weight, 0.5);
  await open([one]);
  assert.equal(await held(one), quantityOf(row!));
  await world.stop(one.id);
  await world.start(one.account, one.id);
  const [next] = await close([one]);
  assert.deepEqual([next!.run!.version, next!.run!.targets.AAPL!.weight], [2, 0]);
  await open([one]);
  assert.equal(await held(one), 0);
  await world.stop(one.id);
});

test('code that throws, loops or returns no number trades nothing on that bar, and the third consecutive failure ends the run', {
  timeout: 240_000,
}, async () => {
  const bodies = ['if (n > 1) throw new Error("no more"); return 0.5;', 'if (n > 1) for (;;); return 0.5;', 'return n > 1 ? "long" : 0.5;'];
  const failing = await Promise.all(bodies.map((body) => started(code(body))));
  let rows = await close(failing);
  await open(failing);
  for (let failures = 1; failures <= 3; failures++) {
    rows = await close(failing);
    assert.deepEqual(
      rows.map(({ run, status }) => [run!.failures, status]),
      failing.map(() => [failures, failures < 3 ? 'running' : 'error']),
    );
    await open(failing);
  }
  assert.match(rows[0]!.error!, /^onBar failed at \d{4}-\d\d-\d\d \(AAPL\): .*no more/);
  assert.match(rows[1]!.error!, /^onBar took longer than 1 s at/);
  assert.match(rows[2]!.error!, /not a finite number/);
  for (const [n, one] of failing.entries()) {
    assert.equal((await one.account.orders()).length, 1, 'only the first bar was traded');
    assert.equal(await held(one), quantityOf(rows[n]!), 'what is held stays');
  }
  const notices = world.runtime.events
    .filter(({ type }) => type === 'trading.attention')
    .map(({ data }) => JSON.parse(JSON.stringify(data)));
  assert.deepEqual(
    notices.map(({ strategy_id, reason }) => [strategy_id, reason]).sort(),
    failing.map(({ id }) => [id, 'strategy_stopped']).sort(),
  );
  assert.deepEqual(Object.values(await world.start(failing[0]!.account, failing[0]!.id).then(({ status, error }) => ({ status, error }))), [
    'running',
    null,
  ]);
  await world.stop(failing[0]!.id);
});

test('a decision that fails once and then succeeds does not end the run, and resets the count of failures', {
  timeout: 240_000,
}, async () => {
  // The market has no such symbol until the strategy is changed: its decision fails.
  const one = await started({ type: 'momentum', config: { lookback: 1 } }, { symbols: ['ZZZZ'] });
  const [row] = await close([one]);
  assert.deepEqual([row!.run!.failures, row!.run!.lastFailure, row!.status], [1, 'the market data has no symbol ZZZZ', 'running']);
  await open([one]);
  await world.stop(one.id);
  await world.runtime.actors.ask(strategy, one.id, 'change', { symbols: ['AAPL'] });
  const again = await world.start(one.account, one.id);
  assert.deepEqual([again.run!.failures, again.run!.lastFailure], [0, null]);
  await world.stop(one.id);
});

test('a decision that gets too little processor time is repeated a few times on one bar, and then counts as failed', {
  timeout: 60_000,
}, async (t) => {
  const run = await started({ type: 'momentum', config: { lookback: 1 } });
  const { compute } = world;
  t.after(() => {
    world.compute = compute;
  });
  let stalls = 0;
  world.compute = {
    async run(job) {
      stalls++;
      throw new JobStalled(job);
    },
  };
  const [stalled] = await close([run]);
  assert.deepEqual([stalls, stalled!.run!.failures, stalled!.status], [3, 1, 'running']);
  assert.match(stalled!.run!.lastFailure!, /did not end within/);
  await open([run]);
  world.compute = {
    run: (...given) => (stalls++ < 5 ? Promise.reject(new JobStalled(given[0])) : compute.run(...given)),
  };
  const [decided] = await close([run]);
  assert.deepEqual([stalls, decided!.run!.failures, decided!.status], [6, 0, 'running']);
  await open([run]);
  await world.stop(run.id);
});

test('stopping cancels open orders; holdings stay and belong to the strategy when it is started again', {
  timeout: 240_000,
}, async () => {
  const one = await started(code('return n === 1 ? 1 : 0.5;'));
  const [first] = await close([one]);
  await open([one]);
  const [second] = await close([one]);
  const { orderId } = second!.run!.bar!.orders[0]!;
  assert.equal((await one.account.order(orderId)).status, 'accepted');
  assert.equal((await world.stop(one.id)).status, 'stopped');
  await until(async () => (await one.account.order(orderId)).status === 'cancelled', 'the cancel');
  await open([one]);
  await close([one]);
  await open([one]);
  assert.equal((await world.row(one.id)).run!.bar!.barMs, second!.run!.bar!.barMs, 'a stopped strategy decides nothing');
  assert.equal(await held(one), quantityOf(first!));
  await world.runtime.actors.ask(strategy, one.id, 'change', { symbols: ['MSFT'] });
  await world.start(one.account, one.id);
  const [third] = await close([one]);
  await open([one]);
  assert.deepEqual([await held(one), await held(one, 'MSFT')], [0, quantityOf(third!, 'MSFT')], 'symbols of before are sold');
  await world.stop(one.id);
});

test('an order that is still open when the next bar decides otherwise is cancelled before another one is sent', {
  timeout: 240_000,
}, async () => {
  const one = await started(code('return n === 1 ? 1 : 0;'));
  await close([one]);
  // Of a tenth of the volume only this much fills on each content.
  market.content({ AAPL: { volume: 100 } }, iso(sessionOn(parseDate(following(today))!)!.openMs + 60_000));
  await one.account.mark();
  assert.equal(await held(one), 10);
  today = following(today);
  const [row] = await close([one]);
  assert.deepEqual([row!.run!.stage.at, row!.run!.bar!.unfinished, row!.run!.bar!.orders], ['waiting', ['AAPL'], []]);
  market.wait(2_000);
  const next = await world.due(one.id);
  assert.deepEqual(
    next.run!.bar!.orders.map(({ side, quantity, refused }) => [side, quantity, refused]),
    [['sell', '10', null]],
  );
  market.content({ AAPL: { volume: 1_000_000 } });
  await open([one]);
  assert.equal(await held(one), 0);
  const statuses = (await one.account.orders()).map(({ status }) => status);
  assert.deepEqual(statuses.filter((status) => status === 'filled').length, 1);
  await world.stop(one.id);
});

test('a halt and a refused order are recorded, do not count as failures, and the next bar tries again', { timeout: 240_000 }, async () => {
  const one = await started(code('return 1;'), { settings: { capital: 500_000 } });
  const { id } = one.account;
  await world.runtime.actors.ask(tradingAccount, id, 'halt', { by: 'user_1', reason: null });
  const [halted] = await close([one]);
  assert.match(halted!.run!.bar!.orders[0]!.refused!, /halt/i);
  assert.deepEqual([halted!.status, halted!.run!.failures], ['running', 0]);
  await world.runtime.actors.ask(tradingAccount, id, 'resume', { by: 'user_1' });
  await open([one]);
  const [next] = await close([one]);
  assert.deepEqual(
    next!.run!.bar!.orders.map(({ refused }) => refused),
    [null],
  );
  const value = quantityOf(next!) * 100;
  assert.ok(value > 24_000 && value <= 25_000, `cut to the limit of a position: ${value}`);
  await open([one]);
  assert.equal(await held(one), quantityOf(next!));
  await world.stop(one.id);
});

test("a run on a broker's prices decides only on the bars of its own broker, is sized at its prices, and waits while they are unavailable", {
  timeout: 240_000,
}, async (t) => {
  const account = world.account();
  world.pricedAt.clear();
  const id = await world.create(account, { type: 'momentum', config: { lookback: 1 } }, ['AAPL'], { capital: 10_000 });
  await world.start(account, id, 'broker');
  const asked: BarsRequest[] = [];
  t.after(() => (world.barsOfBroker = async () => 'own'));
  world.barsOfBroker = async (_owner, request) => {
    asked.push(request);
    if (asked.length === 1) return 'own';
    if (asked.length === 2) throw new AppError('unavailable', 'The broker is dark');
    const found = embeddedBars(request, market.clock.nowMs())!;
    // Rising, independent of the embedded market.
    const { time } = found.bars;
    const rising = Float64Array.from(time, (_, at) => 100 + at);
    return { ...found, source: 'broker', bars: { ...found.bars, close: rising } };
  };
  const [row] = await close([{ account, id }]);
  assert.deepEqual([asked.length, row!.run!.targets.AAPL!.weight, row!.run!.failures], [3, 1, 0]);
  assert.deepEqual([asked[0]!.symbol, asked[0]!.timeframe, asked[0]!.end, asked[0]!.adjusted], ['AAPL', '1d', today, true]);
  await open([{ account, id }]);
  await world.prepare(account, id);
  assert.deepEqual([...world.pricedAt], ['embedded']);
  await world.stop(id);
});

test("a start is refused where the broker's bars do not go back as far as the strategy needs", async (t) => {
  const account = world.account();
  t.after(() => (world.barsOfBroker = async () => 'own'));
  const nowMs = market.clock.nowMs();
  world.barsOfBroker = async (_owner, request) => {
    const isKept = Date.parse(request.start) > nowMs - 20 * 86_400_000;
    return isKept ? { ...embeddedBars(request, nowMs)!, source: 'broker' } : null;
  };
  const prepared = async (deciding: Strategy, settings: RunSettings) =>
    world.prepare(account, await world.create(account, deciding, ['AAPL'], settings));
  const momentum = (lookback: number): Strategy => ({ type: 'momentum', config: { lookback } });
  assert.deepEqual((await prepared(momentum(20), { timeframe: '1m' })).brokers, { equity: 'embedded' });
  for (const [deciding, settings] of [
    [momentum(5_000), { timeframe: '1m' }],
    [momentum(20), { timeframe: '1d' }],
    [code('return 1;'), { timeframe: '1m' }],
  ] as const)
    await assert.rejects(prepared(deciding, settings), { code: 'conflict', message: /do not go back far enough/ });
});
