/** Code of callers over bars: its inputs, its limits, and its errors. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkEquity, customWeights } from '../../../../src/domains/trading/backtest/custom.ts';
import { simulate, type Terms } from '../../../../src/domains/trading/backtest/engine.ts';
import { alignAll } from '../../../../src/domains/trading/backtest/market.ts';
import { barDate, type Series } from '../../../../src/domains/trading/bars.ts';
import { openGuest } from '../../../../src/providers/sandbox/batches.ts';
import { randomBars } from './random-bars.ts';

const terms: Terms = { initialCapital: 100_000, commissionBps: 5, slippageBps: 10 };
const seriesOf = (bars: number, symbols = 1): Series[] =>
  Array.from({ length: symbols }, (_, s) => ({ symbol: `S${s}`, bars: randomBars({ seed: s + 1, bars }) }));

async function run(code: string, series = seriesOf(40), costs = terms) {
  const market = alignAll(series);
  const signal = new AbortController().signal;
  const custom = await customWeights({
    code,
    market,
    daily: true,
    terms: costs,
    openGuest: (options) => openGuest({ ...options, signal }),
  });
  const simulation = simulate(market, custom.weights, market.columns.length, costs);
  return { ...custom, market, simulation };
}

/** What the code saw comes out as weights, 1/1000 a unit. */
async function seen(expression: string, series = seriesOf(3)) {
  const { weights } = await run(`function onBar(bar, ctx) { return (${expression}) / 1000; }`, series);
  return weights.map((column) => [...column].map((weight) => Math.round(weight * 1e6) / 1e3));
}

test('onBar gets the bar, its index, position and cash for each symbol; its state is kept during the run', async () => {
  const [own] = seriesOf(3);
  const { bars } = own!;
  assert.deepEqual(await seen('bar.close'), [[...bars.close]]);
  assert.deepEqual(await seen('bar.open + bar.high - bar.low'), [
    [...bars.open].map((open, i) => Math.round((open + bars.high[i]! - bars.low[i]!) * 1e3) / 1e3),
  ]);
  assert.deepEqual(await seen('ctx.index'), [[0, 1, 2]]);
  assert.deepEqual(await seen('ctx.symbols.length * 10 + Number(ctx.symbol.slice(1))', seriesOf(2, 3)), [
    [30, 30],
    [31, 31],
    [32, 32],
  ]);
  assert.deepEqual(await seen('Number(bar.date.slice(8))'), [[1, 2, 3]]);
  const { weights } = await run(
    'let calls = 0; const kept = []; function onBar(bar) { kept.push(bar); return kept[0].close === kept[calls++].close ? 0.5 : 1; }',
  );
  assert.deepEqual([...weights[0]!.slice(0, 2)], [0.5, 1], 'bars that the code keeps stay as they were');
});

test('position is the last filled weight, and quantity, cash and equity are those of the book at the close', async () => {
  const code = `const out = []; function onBar(bar, ctx) {
    if (ctx.index === 0) return 0.5;
    if (ctx.position !== 0.5) throw new Error('position ' + ctx.position);
    if (Math.abs(ctx.cash + ctx.quantity * bar.close - ctx.equity) > 1e-6) throw new Error('book');
    return ctx.position;
  }`;
  const { simulation } = await run(code);
  assert.equal(simulation.trades.count, 1);
});

test('the clock shows the time of the bar, local time is UTC, and random numbers are the same in every run', async () => {
  const [day] = await seen('new Date().getDate() + new Date().getHours() + (Date.now() === Date.parse(bar.date) ? 0 : 100)');
  assert.deepEqual(day, [1, 2, 3]);
  assert.deepEqual(
    await seen('new Date(2024, 0, 5).getDate() + (new Date() instanceof Date ? 0 : 100) + (typeof Date() === "string" ? 0 : 100)'),
    [[5, 5, 5]],
  );
  const random = 'function onBar() { return Math.random(); }';
  const [first, again] = [await run(random), await run(random)];
  assert.deepEqual(first.weights, again.weights);
  assert.equal(new Set(first.weights[0]).size, 40);
});

test('a finite weight outside -1 to 1 is clamped', async () => {
  const { weights } = await run('function onBar(bar, ctx) { return ctx.index % 2 ? 7 : -1e300; }', seriesOf(2));
  assert.deepEqual([...weights[0]!], [-1, 1]);
});

test('the book in the sandbox equals that of the engine exactly, for any weights and with symbols that lack bars', async () => {
  const code = `function onBar(bar, ctx) { const pick = Math.random(); return pick < 0.3 ? ctx.position : pick < 0.5 ? 0 : Math.random() * 2 - 1; }`;
  const costs = fc.record({
    initialCapital: fc.constantFrom(0.01, 1e5, 1e12),
    commissionBps: fc.constantFrom(0, 7, 300),
    slippageBps: fc.constantFrom(0, 1, 400),
  });
  await fc.assert(
    fc.asyncProperty(costs, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 2, max: 300 }), async (terms, symbols, bars) => {
      const series = seriesOf(bars, symbols).map(({ symbol, bars: all }, s) => {
        const kept = all.time.map((_, i) => ((i + s) % 5 === 4 && s > 0 ? 0 : 1));
        const entries = Object.entries(all).map(([name, column]) => [name, column.filter((_, i) => kept[i] === 1)]);
        const dividends = [{ timeMs: all.time[1]!, amount: 2 }];
        return { symbol, bars: Object.fromEntries(entries), dividends };
      });
      const { equityHash, simulation } = await run(code, series, terms);
      checkEquity(equityHash, simulation.equity);
    }),
    { numRuns: 8 },
  );
});

test('results do not depend on the division into batches', async () => {
  const { weights, market, equityHash, simulation } = await run(
    'let i = 0; function onBar() { return (i++ % 1000) / 1000; }',
    seriesOf(20_000),
  );
  assert.equal(
    weights[0]!.findIndex((weight, i) => weight !== (i % 1000) / 1000),
    -1,
  );
  assert.equal(market.time.length, 20_000);
  checkEquity(equityHash, simulation.equity);
});

const onBar = (body: string) => `function onBar(bar, ctx) { ${body} }`;
const third = `${barDate(seriesOf(3)[0]!.bars.time[2]!, true)} (S0)`;
const atThird = (body: string) => onBar(`if (ctx.index < 2) return 0; ${body}`);
const failures: [string, string, RegExp][] = [
  [
    'NaN',
    atThird('return NaN;'),
    new RegExp(`onBar failed at ${third.replace(/[()]/g, '\\$&')}: TypeError: onBar returned NaN, not a finite number`),
  ],
  ['Infinity', onBar('return Infinity;'), /returned Infinity, not a finite number/],
  ['nothing', onBar(''), /returned nothing/],
  ['a string', onBar('return "1";'), /returned a string/],
  ['a BigInt', onBar('return 1n;'), /returned a bigint/],
  ['a promise', 'async function onBar() { return 1; }', /returned a promise/],
  ['an object with valueOf', onBar('return { valueOf: () => 1 };'), /returned an object/],
  ['an error', atThird('\n null.x;'), new RegExp(`onBar failed at ${third.replace(/[()]/g, '\\$&')}: TypeError: .*line 2`)],
  ['a text that is thrown', onBar('throw "no";'), /onBar failed at 2024-01-01 \(S0\): thrown: no/],
  ['null that is thrown', onBar('throw null;'), /onBar failed at 2024-01-01 \(S0\): null was thrown$/],
  ['a global of the host', onBar('return process.env.HOME ? 1 : 0;'), /ReferenceError: 'process' is not defined/],
  ['the network', onBar('return fetch("http://127.0.0.1") ? 1 : 0;'), /ReferenceError: 'fetch' is not defined/],
  ['an import', 'import fs from "fs"; function onBar() { return 0; }', /the code cannot be used: SyntaxError/],
  ['no onBar', 'const answer = 42;', /the code cannot be used: TypeError: the code defines no function onBar/],
  ['a syntax error', 'function onBar( {', /the code cannot be used: SyntaxError/],
  ['a loop without end', atThird('for (;;) {}'), new RegExp(`onBar took longer than 1 s at ${third.replace(/[()]/g, '\\$&')}`)],
  ['a loop that catches everything', onBar('for (;;) { try { for (;;) {} } catch {} }'), /onBar took longer than 1 s/],
  ['a loop before the first bar', 'for (;;) {}', /the code took longer than 1 s before the first bar/],
  [
    'memory without end',
    'const all = []; function onBar() { for (;;) all.push(new Float64Array(10000)); }',
    /more than 64 MiB of memory at 2024-01-01/,
  ],
  ['texts without end', 'let all = "x"; function onBar() { for (;;) all += all; }', /string too long|memory/],
  ['recursion without end', 'function onBar() { return onBar() + 1; }', /onBar failed at .*stack/i],
];

for (const [what, code, message] of failures)
  test(`code that returns ${what} fails with this reason`, async () => {
    await assert.rejects(run(code, seriesOf(3)), (error: Error) => {
      assert.equal(error.name, 'BacktestFailed');
      assert.match(error.message, message);
      return true;
    });
  });

test('code that changes built-in objects does not change the book, or fails', async () => {
  const honest = await run(onBar('return ctx.index % 3 ? 1 : -0.5;'));
  const hostile = `
    Object.defineProperty(Object.prototype, 'close', { set() { throw 1; }, get() { return 1e9; } });
    Array.prototype[Symbol.iterator] = null; Float64Array.prototype.subarray = () => 0; Math.imul = () => 1; JSON.parse = () => [];
    Object.freeze(Number.prototype); TypeError = undefined; Array = undefined; Promise = undefined;
    function onBar(bar, ctx) { ctx.cash = 1e9; ctx.equity = 1e9; ctx.quantity = 1e9; bar.close = 1e9; return ctx.index % 3 ? 1 : -0.5; }`;
  const { weights, equityHash } = await run(hostile);
  assert.deepEqual(weights, honest.weights);
  assert.equal(equityHash, honest.equityHash);
  assert.throws(() => checkEquity(equityHash, Float64Array.of(1, 2)), { name: 'BacktestFailed' });
});

test('an abort ends the code at once', async () => {
  const abort = new AbortController();
  const market = alignAll(seriesOf(5_000));
  const reason = new Error('cancelled');
  const running = customWeights({
    code: onBar('for (let i = 0; i < 1e5; i++); return 0;'),
    market,
    daily: true,
    terms,
    openGuest: async (options) => {
      const guest = await openGuest({ ...options, signal: abort.signal });
      abort.abort(reason);
      return guest;
    },
  });
  await assert.rejects(running, (error) => error === reason);
});
