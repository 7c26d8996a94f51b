import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { loadConfig } from '../../../../src/config.ts';
import { openLocalMarket } from '../../../../src/domains/trading/market/local-market.ts';
import { MarketFile } from '../../../../src/domains/trading/market/market-file.ts';
import { MarketFileFault, parseMarketFile } from '../../../../src/domains/trading/market/market-file-content.ts';
import { barsView, isStale, quoteView } from '../../../../src/domains/trading/market/quote-view.ts';
import { type Log, noLog } from '../../../../src/log.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const at = (text: string) => Date.parse(text);
const aapl = { bid: 99.99, ask: 100.01, last: 100, volume: 5000 };
const systemMs = at('2026-11-23T06:00:00Z');

/** A market file with clocks that the test sets. The market reads the file when the test says so. */
async function marketFile(t: TestContext, first: unknown, hours: 'always' | 'exchange' = 'exchange') {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const path = join(folder.path, 'market.json');
  const time = { ms: 0 };
  const warnings: object[] = [];
  const log: Log = { ...noLog, warn: (fields) => warnings.push(fields) };
  const write = async (content: unknown) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  if (first !== null) await write(first);
  const system = { nowMs: () => systemMs + time.ms };
  const file = MarketFile.open({ path, hours, log, system, monotonic: () => time.ms, everyMs: 600_000 });
  t.after(() => file.close());
  await file.polled;
  const replace = async (content: unknown) => {
    await write(content);
    await file.poll();
  };
  return { file, path, time, warnings, replace };
}

test('a quote of the file is returned unchanged, with the session of the market', async (t) => {
  const { file } = await marketFile(t, {
    now: '2026-11-20T15:00:00Z',
    quotes: { AAPL: aapl, 'BTC/USD': { ...aapl, at: '2026-11-20T14:59:50Z' } },
  });
  assert.deepEqual(quoteView(file.quote('AAPL')!), {
    symbol: 'AAPL',
    asset_class: 'equity',
    ...aapl,
    at: '2026-11-20T15:00:00.000Z',
    session: 'open',
    next_open: '2026-11-23T14:30:00.000Z',
    next_close: '2026-11-20T21:00:00.000Z',
    tick: 0.01,
    source: 'file',
  });
  const bitcoin = quoteView(file.quote('BTC-USD')!);
  assert.deepEqual([bitcoin.at, bitcoin.session, bitcoin.next_open, bitcoin.tick], ['2026-11-20T14:59:50.000Z', 'open', null, 0.01]);
  assert.equal(file.quote('MSFT'), null);
  assert.equal(file.quote('BTC/USD'), null, 'symbols are asked for in their one form');
});

test("the file's now sets the market's clock when it is read; without it the system's clock is used", async (t) => {
  const { file, time, replace } = await marketFile(t, { now: '2026-11-20T20:59:59Z', quotes: { AAPL: aapl } });
  assert.equal(file.quote('AAPL')!.session, 'open');
  time.ms = 1000;
  assert.equal(file.clock.nowMs(), at('2026-11-20T21:00:00Z'));
  assert.equal(file.quote('AAPL')!.session, 'closed');
  assert.equal(file.quote('AAPL')!.atMs, at('2026-11-20T20:59:59Z'), 'the quote is of when it was read');
  await replace({ now: '2026-03-09T13:30:00Z', quotes: { AAPL: aapl } });
  assert.equal(file.clock.nowMs(), at('2026-03-09T13:30:00Z'));
  await replace({ quotes: { AAPL: aapl } });
  assert.equal(file.clock.nowMs(), systemMs + 1000);
  assert.equal(file.quote('AAPL')!.atMs, systemMs + 1000);
});

test('a quote is stale after more than 15 seconds of an open session', async (t) => {
  const { file, time } = await marketFile(t, { now: '2026-11-20T20:59:00Z', quotes: { AAPL: aapl } });
  const stale = () => isStale(file.quote('AAPL')!, file.clock.nowMs());
  time.ms = 15_000;
  assert.equal(stale(), false);
  time.ms = 15_001;
  assert.equal(stale(), true);
  time.ms = 60_000;
  assert.equal(stale(), false, 'closed');
});

test('every changed content is one new quote of each symbol, and the same content again is none', async (t) => {
  const { file, replace } = await marketFile(t, { quotes: { AAPL: aapl, MSFT: aapl } });
  const seen: number[] = [];
  const end = file.onContent(({ sequence }) => seen.push(sequence));
  const first = file.quote('MSFT')!.sequence;
  await file.poll();
  await replace({ quotes: { AAPL: aapl, MSFT: aapl } });
  assert.deepEqual(seen, []);
  await replace({ quotes: { AAPL: { ...aapl, last: 100.01 }, MSFT: aapl } });
  const second = file.quote('MSFT')!.sequence;
  assert.ok(second > first);
  await replace({ quotes: { MSFT: aapl } });
  assert.equal(file.quote('AAPL'), null, 'a symbol that is taken out is unknown');
  assert.deepEqual(seen, [second, file.quote('MSFT')!.sequence]);
  end();
  await replace({ quotes: {} });
  assert.equal(seen.length, 2);
});

test('a content has the same sequence on every node and after a restart, and a later one has a larger sequence', async (t) => {
  const { file, path, replace } = await marketFile(t, { quotes: { AAPL: aapl } });
  await replace({ quotes: { AAPL: { ...aapl, last: 100.01 } } });
  const other = MarketFile.open({ path, hours: 'exchange', log: noLog, everyMs: 600_000 });
  t.after(() => other.close());
  await other.polled;
  const first = file.quote('AAPL')!.sequence;
  assert.equal(other.quote('AAPL')!.sequence, first);
  await replace({ quotes: { AAPL: aapl } });
  await other.poll();
  assert.ok(other.quote('AAPL')!.sequence > first);
  assert.equal(other.quote('AAPL')!.sequence, file.quote('AAPL')!.sequence);
});

test('invalid content is logged once and the last valid content stays in use; a later valid file is used', async (t) => {
  const { file, path, warnings, replace } = await marketFile(t, null);
  assert.equal(file.quote('AAPL'), null);
  assert.equal(warnings.length, 1, 'missing');
  await replace({ quotes: { AAPL: aapl } });
  const good = file.quote('AAPL');
  for (const bad of [
    '',
    '{',
    '[]',
    'null',
    '{"quotes":{"AAPL":{"bid":1}}}',
    { quotes: { aapl } },
    { quotes: { 'BTC-USD': aapl, 'BTC/USD': aapl } },
  ]) {
    await replace(bad);
    assert.deepEqual(file.quote('AAPL'), good, JSON.stringify(bad));
  }
  const logged = warnings.length;
  await file.poll();
  await rm(path);
  await file.poll();
  await file.poll();
  assert.equal(warnings.length, logged + 1);
  assert.deepEqual(file.quote('AAPL'), good, 'and so does a file that is gone');
  await replace({ quotes: { AAPL: { ...aapl, last: 101 } } });
  assert.equal(file.quote('AAPL')!.last, 101);
});

test('an action takes effect once while it is in the file, and again when it is removed and added again', async (t) => {
  const split = { type: 'split', symbol: 'AAPL', ratio: 2 };
  const dividend = { type: 'dividend', symbol: 'AAPL', amount: 0.25 };
  const { file, replace } = await marketFile(t, { now: '2026-11-20T15:00:00Z', quotes: { AAPL: aapl } });
  const appeared: string[][] = [];
  file.onContent(({ actions }) => appeared.push(actions.map(({ id }) => id)));
  await replace({ now: '2026-11-20T15:00:01Z', quotes: { AAPL: aapl }, actions: [split] });
  assert.deepEqual(file.actions()[0], {
    id: 'split:AAPL:2:1:1',
    symbol: 'AAPL',
    date: '2026-11-20',
    effectiveMs: at('2026-11-20T15:00:01Z'),
    type: 'split',
    ratio: 2,
  });
  await replace({ now: '2026-11-20T15:00:02Z', quotes: { AAPL: aapl }, actions: [split, dividend, dividend] });
  await replace({ quotes: { AAPL: aapl } });
  await replace({ quotes: { AAPL: aapl }, actions: [split, { ...dividend, id: 'mine' }] });
  await replace({ quotes: {}, actions: [{ ...dividend, id: 'mine' }] });
  assert.deepEqual(appeared, [
    ['split:AAPL:2:1:1'],
    ['dividend:AAPL:0.25:1:1', 'dividend:AAPL:0.25:2:1'],
    [],
    ['split:AAPL:2:1:2', 'mine'],
    [],
  ]);
});

test('any file is either a valid market or an error with its position', () => {
  const quote = fc.record(
    { bid: fc.anything(), ask: fc.anything(), last: fc.anything(), volume: fc.anything(), at: fc.anything() },
    { requiredKeys: [] },
  );
  const file = fc.record(
    { now: fc.anything(), quotes: fc.oneof(fc.anything(), fc.dictionary(fc.string(), quote)), actions: fc.anything() },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    file.map((value) => JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? 0 : part)) ?? ''),
  );
  fc.assert(
    fc.property(text, (content) => {
      try {
        parseMarketFile(content);
      } catch (error) {
        assert.ok(error instanceof MarketFileFault && error.message.length <= 320, String(error));
      }
    }),
  );
  const faulty = (part: object) => () => parseMarketFile(JSON.stringify({ quotes: { AAPL: { ...aapl, ...part } } }));
  for (const part of [
    { bid: 100.02 },
    { bid: 0 },
    { last: -1 },
    { volume: -1 },
    { ask: 1e-10 },
    { bid: '99' },
    { at: 'yesterday' },
    { at: '2026-02-30T99:00' },
  ])
    assert.throws(faulty(part), MarketFileFault, JSON.stringify(part));
  const nowOf = (now: string) => parseMarketFile(JSON.stringify({ now, quotes: {} })).nowMs;
  for (const now of ['2026-11-20T15:00', '2026-11-20T15:00:00Z', '2026-11-20T15:00:00.000000', '2026-11-20T10:00:00-05:00'])
    assert.equal(nowOf(now), at('2026-11-20T15:00:00Z'), now);
  assert.throws(() => parseMarketFile('{"quotes":{},"actions":[{"type":"split","symbol":"AAPL","ratio":0}]}'), MarketFileFault);
  assert.equal(parseMarketFile('{"quotes":{"AAPL":{"bid":1,"ask":1,"last":1,"volume":0,"note":"x"}},"more":1}').quotes.size, 1);
});

test('without a file the market is embedded and open around the clock, and quotes and bars use the given clock', async () => {
  const system = { nowMs: () => at('2026-11-22T03:00:00.700Z') };
  const market = openLocalMarket({ settings: loadConfig({}), log: noLog, system });
  const quote = quoteView((await market.quote('AAPL'))!);
  assert.deepEqual(
    [quote.source, quote.session, quote.at, quote.next_open],
    ['embedded', 'open', '2026-11-22T03:00:00.000Z', '2026-11-23T14:30:00.000Z'],
  );
  const bars = barsView((await market.bars({ symbol: 'AAPL', timeframe: '1d', start: '2026-11-19', end: '2026-12-31', adjusted: true }))!);
  assert.deepEqual(
    bars.bars.map(({ date }) => date),
    ['2026-11-19', '2026-11-20'],
  );
  assert.match(bars.data_hash, /^[0-9a-f]{64}$/);
  const byTheExchange = openLocalMarket({ settings: loadConfig({ MARKET_HOURS: 'exchange' }), log: noLog, system });
  assert.equal(byTheExchange.quoteNow('AAPL')!.session, 'closed');
});

test('with a file the market has exchange hours by default, detects each replacement of the file, and its history ends at its clock', async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const path = join(folder.path, 'market.json');
  await writeFile(
    path,
    JSON.stringify({ now: '2026-03-08T12:00:00Z', quotes: { AAPL: aapl }, actions: [{ type: 'dividend', symbol: 'AAPL', amount: 1 }] }),
  );
  const open = async (env: Record<string, string> = {}) => {
    const opened = openLocalMarket({ settings: loadConfig({ MARKET_DATA_FILE: path, ...env }), log: noLog });
    await opened.ready;
    return opened;
  };
  const market = await open();
  t.after(() => market.close());
  assert.equal(market.quoteNow('AAPL')!.session, 'closed');
  const { bars } = (await market.bars({ symbol: 'AAPL', timeframe: '1d', start: '2026-03-01', end: '2026-03-31', adjusted: true }))!;
  assert.equal(bars.time.at(-1), at('2026-03-06T00:00:00Z'));
  assert.deepEqual(
    (await market.actions('AAPL', '2026-03-08', '2026-03-08'))?.map(({ type }) => type),
    ['dividend'],
  );
  assert.equal(await market.actions('MSFT', '2026-03-08', '2026-03-08'), null);
  const always = await open({ MARKET_HOURS: 'always' });
  t.after(() => always.close());
  assert.equal(always.quoteNow('AAPL')!.session, 'open');
  const changed = new Promise((resolve) => market.onContent(resolve));
  await writeFile(`${path}.new`, JSON.stringify({ quotes: { MSFT: aapl } }));
  await rename(`${path}.new`, path);
  await changed;
  assert.equal(market.quoteNow('MSFT')!.last, 100);
});
