import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { barDate, dataHash } from '../../../../src/domains/trading/bars.ts';
import { barEndMs, barRow, barRows, foldBars } from '../../../../src/domains/trading/market/bars.ts';
import { isoDate, newYorkMidnightMs, parseDate, sessionBefore, sessionOn } from '../../../../src/domains/trading/market/calendar.ts';
import { logLevel, loneLogLevel } from '../../../../src/domains/trading/market/embedded/levels.ts';
import { exp, log } from '../../../../src/domains/trading/market/embedded/random.ts';
import { universe } from '../../../../src/domains/trading/market/embedded/universe.ts';
import {
  embeddedActions,
  embeddedBarCount,
  embeddedBars,
  embeddedQuote,
  embeddedSymbols,
  feedVersion,
} from '../../../../src/domains/trading/market/embedded-feed.ts';
import type { Bars, Timeframe } from '../../../../src/domains/trading/market/port.ts';
import { isOnTick, parseSymbol } from '../../../../src/domains/trading/market/symbol.ts';

const farFuture = Date.UTC(2200, 0, 1);
const symbols = embeddedSymbols();
const anySymbol = fc.constantFrom(...symbols);
const anyDay = fc.integer({ min: parseDate('2000-01-03')!, max: parseDate('2100-12-30')! }).map(isoDate);
const at = (text: string) => Date.parse(text);

function bars(symbol: string, timeframe: Timeframe, start: string, end = start, adjusted = false, nowMs = farFuture): Bars {
  return embeddedBars({ symbol, timeframe, start, end, adjusted }, nowMs)!;
}

test('prices of this version of the feed never change', () => {
  assert.equal(feedVersion, 1, 'a change of the feed is a new version, and new golden values');
  assert.deepEqual(golden(), goldenValues);
});

test('the price of a moment does not depend on earlier queries and their ranges', () => {
  fc.assert(
    fc.property(anySymbol, anyDay, fc.nat(20), (symbol, end, before) => {
      const start = isoDate(parseDate(end)! - before);
      const together = barRows(bars(symbol, '1d', start, end));
      const single = Array.from({ length: before + 1 }, (_, n) => isoDate(parseDate(end)! - n)).flatMap((day) =>
        barRows(bars(symbol, '1d', day)),
      );
      assert.deepEqual(single.reverse(), together);
    }),
  );
});

test('a day computed alone has the same level as within a longer range', () => {
  fc.assert(
    fc.property(anySymbol, anyDay, (symbol, day) => {
      const listing = universe.get(symbol)!;
      assert.equal(loneLogLevel(listing, parseDate(day)!), logLevel(listing, parseDate(day)!));
    }),
  );
});

test('bars of every timeframe are the fold of their minutes', () => {
  fc.assert(
    fc.property(anySymbol, anyDay, fc.boolean(), (symbol, day, adjusted) => {
      const minutes = bars(symbol, '1m', day, day, adjusted);
      for (const timeframe of ['5m', '1h', '1d'] as const) {
        const longer = bars(symbol, timeframe, day, day, adjusted);
        if (minutes.bars.time.length === 0) assert.equal(longer.bars.time.length, 0);
        let from = 0;
        for (let n = 0; n < longer.bars.time.length; n++) {
          const endMs = barEndMs(longer.assetClass, timeframe, longer.bars.time[n]!);
          let to = from;
          while (to < minutes.bars.time.length && minutes.bars.time[to]! < endMs) to++;
          const { date, ...row } = barRow(longer, n);
          assert.deepEqual(row, foldBars(minutes.bars, from, to), `${symbol} ${timeframe} ${date}`);
          from = to;
        }
        assert.equal(from, minutes.bars.time.length);
      }
    }),
    { numRuns: 60 },
  );
});

test('a bar holds its own prices, all on the tick, and trades something in a day', () => {
  fc.assert(
    fc.property(anySymbol, anyDay, (symbol, day) => {
      const instrument = parseSymbol(symbol)!;
      for (const row of [...barRows(bars(symbol, '1m', day)), ...barRows(bars(symbol, '1d', day))]) {
        assert.ok(row.low <= Math.min(row.open, row.close) && row.high >= Math.max(row.open, row.close), JSON.stringify(row));
        for (const price of [row.open, row.high, row.low, row.close]) assert.ok(isOnTick(instrument, price), `${symbol} ${price}`);
        assert.ok(row.volume >= 0);
      }
      for (const { volume } of barRows(bars(symbol, '1d', day))) assert.ok(volume > 0);
    }),
    { numRuns: 30 },
  );
});

test('quotes are within the bar of their minute, begin at its open, end at its close, and together have its volume', () => {
  fc.assert(
    fc.property(anySymbol, anyDay, fc.nat(1439), fc.nat(59_999), (symbol, day, nth, msInMinute) => {
      const minutes = bars(symbol, '1m', day);
      if (minutes.bars.time.length === 0) return;
      const bar = barRow(minutes, nth % minutes.bars.time.length);
      const beganMs = minutes.bars.time[nth % minutes.bars.time.length]!;
      const quotes = Array.from({ length: 60 }, (_, second) => embeddedQuote(symbol, beganMs + second * 1000, 'exchange')!);
      for (const { last, bid, ask } of quotes)
        assert.ok(last >= bar.low && last <= bar.high && bid <= last && last <= ask && bid < ask && bid > 0);
      assert.equal(quotes[0]!.last, bar.open);
      assert.equal(quotes[59]!.last, bar.close);
      assert.equal(Math.max(...quotes.map(({ last }) => last)), bar.high);
      assert.equal(Math.min(...quotes.map(({ last }) => last)), bar.low);
      assert.ok(Math.abs(quotes.reduce((sum, { volume }) => sum + volume, 0) - bar.volume) < 1e-6);
      const within = embeddedQuote(symbol, beganMs + msInMinute, 'exchange')!;
      assert.deepEqual({ ...within }, { ...quotes[Math.floor(msInMinute / 1000)] });
    }),
    { numRuns: 60 },
  );
});

test('equities have bars only in regular sessions: none on holidays, 210 minutes on half days; crypto has 1440 a day, also when clocks change', () => {
  const count = (symbol: string, timeframe: Timeframe, day: string) => bars(symbol, timeframe, day).bars.time.length;
  const first = (day: string) => barDate(bars('AAPL', '1m', day).bars.time[0]!, false);
  assert.deepEqual(
    ['2026-11-26', '2026-11-28', '2025-01-09', '2012-10-29'].map((day) => count('AAPL', '1m', day)),
    [0, 0, 0, 0],
  );
  assert.deepEqual(
    (['1m', '5m', '1h', '1d'] as const).map((timeframe) => count('AAPL', timeframe, '2026-11-27')),
    [210, 42, 4, 1],
  );
  assert.deepEqual(
    (['1m', '5m', '1h', '1d'] as const).map((timeframe) => count('AAPL', timeframe, '2026-11-25')),
    [390, 78, 7, 1],
  );
  assert.deepEqual(
    (['1m', '5m', '1h', '1d'] as const).map((timeframe) => count('BTC-USD', timeframe, '2026-11-26')),
    [1440, 288, 24, 1],
  );
  assert.deepEqual(['2026-03-06', '2026-03-09', '2026-11-02'].map(first), [
    '2026-03-06T14:30:00Z',
    '2026-03-09T13:30:00Z',
    '2026-11-02T14:30:00Z',
  ]);
});

test('no bar is returned before it is complete', () => {
  const until = (timeframe: Timeframe, now: string) =>
    barRows(bars('AAPL', timeframe, '2026-11-19', '2026-12-31', false, at(now))).at(-1)?.date;
  assert.equal(until('1m', '2026-11-20T14:30:59.999Z'), '2026-11-19T20:59:00Z');
  assert.equal(until('1m', '2026-11-20T14:31:00Z'), '2026-11-20T14:30:00Z');
  assert.equal(until('1h', '2026-11-20T20:59:59Z'), '2026-11-20T19:30:00Z');
  assert.equal(until('1h', '2026-11-20T21:00:00Z'), '2026-11-20T20:30:00Z');
  assert.equal(until('1d', '2026-11-20T20:59:59Z'), '2026-11-19');
  assert.equal(until('1d', '2026-11-20T21:00:00Z'), '2026-11-20');
  assert.equal(until('1d', '2026-11-27T18:00:00Z'), '2026-11-27');
  assert.equal(until('1d', '2026-11-18T00:00:00Z'), undefined);
});

test('a split divides the price at midnight in New York, and adjusted history has no jump', () => {
  const listed = symbols.flatMap((symbol) => embeddedActions(symbol, '2000-01-03', '2099-12-31')!.filter(({ type }) => type === 'split'));
  assert.ok(listed.length > 100);
  for (const action of listed.filter((_, n) => n % 8 === 0)) {
    assert.ok(action.type === 'split');
    const { symbol, date, ratio, effectiveMs } = action;
    const day = parseDate(date)!;
    assert.notEqual(sessionOn(day), null);
    assert.equal(effectiveMs, newYorkMidnightMs(day));
    const before = isoDate(sessionBefore(day).day);
    const raw = bars(symbol, '1d', before, date).bars.close;
    const adjusted = bars(symbol, '1d', before, date, true).bars.close;
    assert.equal(raw[1], adjusted[1], 'prices are those of the last day asked for');
    assert.ok(Math.abs((adjusted[0]! * ratio) / raw[0]! - 1) < 1e-4);
    assert.ok(Math.abs(Math.log(adjusted[1]! / adjusted[0]!)) < 0.7, `${symbol} ${date} ${adjusted}`);
    for (const hours of ['always', 'exchange'] as const) {
      const [old, new_] = [embeddedQuote(symbol, effectiveMs - 1000, hours)!.last, embeddedQuote(symbol, effectiveMs, hours)!.last];
      assert.ok(Math.abs(Math.log(old / new_ / ratio)) < 0.02, `${symbol} ${date} ${hours} ${old} ${new_}`);
    }
  }
});

test('adjusted history can be requested up to a date, so that its parts fit', () => {
  const [split] = embeddedActions('NVDA', '2000-01-03', '2099-12-31')!.filter(({ type }) => type === 'split');
  const before = isoDate(sessionBefore(parseDate(split!.date)!).day);
  const part = embeddedBars(
    { symbol: 'NVDA', timeframe: '1d', start: before, end: before, adjusted: true, adjustedTo: split!.date },
    farFuture,
  )!;
  assert.equal(part.bars.close[0], bars('NVDA', '1d', before, split!.date, true).bars.close[0]);
});

test('dividends are paid four times a year, in cents, on sessions', () => {
  const dividends = embeddedActions('KO', '2001-01-01', '2020-12-31')!.filter(({ type }) => type === 'dividend');
  assert.equal(dividends.length, 80);
  for (const action of dividends) {
    assert.ok(action.type === 'dividend' && isOnTick(parseSymbol('KO')!, action.amount));
    assert.notEqual(sessionOn(parseDate(action.date)!), null);
    assert.equal(action.id, `dividend:KO:${action.date}`);
  }
  assert.deepEqual(embeddedActions('BTC-USD', '2001-01-01', '2020-12-31'), []);
  assert.deepEqual(embeddedActions('META', '2022-06-09', '2022-06-09'), [
    {
      id: 'symbol_change:META:2022-06-09',
      symbol: 'META',
      date: '2022-06-09',
      effectiveMs: at('2022-06-09T04:00:00Z'),
      type: 'symbol_change',
      from: 'FB',
    },
  ]);
});

test('around the clock the price moves from the close to the next open; with exchange hours it stays at the close, and nothing trades', () => {
  const close = at('2026-11-20T21:00:00Z');
  const open = at('2026-11-23T14:30:00Z');
  const last = barRows(bars('AAPL', '1d', '2026-11-20'))[0]!.close;
  const first = barRows(bars('AAPL', '1d', '2026-11-23'))[0]!.open;
  assert.notEqual(last, first, 'gaps over night');
  assert.equal(embeddedQuote('AAPL', close, 'always')!.last, last);
  assert.ok(Math.abs(embeddedQuote('AAPL', open - 1000, 'always')!.last - first) <= 0.03);
  const night = embeddedQuote('AAPL', at('2026-11-22T03:00:00.500Z'), 'always')!;
  assert.equal(night.session, 'open');
  assert.equal(night.atMs, at('2026-11-22T03:00:00Z'));
  assert.ok(night.volume > 0);
  const closed = embeddedQuote('AAPL', at('2026-11-22T03:00:00.500Z'), 'exchange')!;
  assert.deepEqual([closed.session, closed.last, closed.volume, closed.atMs], ['closed', last, 0, close]);
  assert.deepEqual([closed.nextOpenMs, closed.nextCloseMs], [open, at('2026-11-23T21:00:00Z')]);
});

test('days have the statistics of a market: gaps, fat tails, more volume at both ends of a session', () => {
  const { open, close } = bars('SPY', '1d', '2000-01-03', '2025-12-31').bars;
  const gaps = Array.from(open.slice(1), (price, n) => Math.abs(price / close[n]! - 1));
  assert.ok(gaps.filter((gap) => gap > 0.001).length > gaps.length / 2);
  const returns = Array.from(close.slice(1), (price, n) => Math.log(price / close[n]!));
  const moment = (k: number) => returns.reduce((sum, each) => sum + each ** k, 0) / returns.length;
  const kurtosis = moment(4) / moment(2) ** 2;
  assert.ok(kurtosis > 3.5 && kurtosis < 12, String(kurtosis));
  const yearly = Math.sqrt(moment(2) * 252);
  assert.ok(yearly > 0.1 && yearly < 0.25, String(yearly));
  const { volume } = bars('SPY', '1m', '2026-11-20').bars;
  const sum = (from: number, to: number) => volume.slice(from, to).reduce((total, each) => total + each, 0);
  assert.ok(sum(0, 30) > 2 * sum(180, 210) && sum(360, 390) > 1.5 * sum(180, 210));
});

test('a symbol that the feed does not have, and a time beyond its century, have no price', () => {
  for (const symbol of ['NOPE', 'aapl', 'BTC/USD', '__proto__', 'constructor', '']) {
    assert.equal(embeddedQuote(symbol, at('2026-11-20T15:00:00Z'), 'always'), null);
    assert.equal(embeddedBars({ symbol, timeframe: '1d', start: '2026-01-01', end: '2026-02-01', adjusted: true }, farFuture), null);
    assert.equal(embeddedActions(symbol, '2026-01-01', '2026-02-01'), null);
  }
  for (const moment of ['1999-12-31T15:00:00Z', '2101-01-01T00:00:00Z']) assert.equal(embeddedQuote('AAPL', at(moment), 'always'), null);
  assert.equal(bars('AAPL', '1d', '1990-01-01', '1999-12-31').bars.time.length, 0);
  assert.equal(bars('AAPL', '1d', '2026-02-01', '2026-01-01').bars.time.length, 0, 'dates reversed');
  assert.ok(bars('AAPL', '1d', '1000-01-01', '9999-12-31').bars.time.length > 25_000);
  assert.throws(() => bars('AAPL', '1m', '2000-01-01', '2100-12-31'), { code: 'payload_too_large' });
  const count = (symbol: string, start: string, end: string) => embeddedBarCount({ symbol, timeframe: '1m', start, end }, farFuture);
  assert.deepEqual([count('AAPL', '2026-11-25', '2026-11-27'), count('BTC-USD', '2026-11-25', '2026-11-27')], [600, 4320]);
  assert.deepEqual([count('AAPL', '2026-11-27', '2026-11-25'), count('NOPE', '2026-11-25', '2026-11-27')], [0, null]);
  assert.throws(() => bars('AAPL', '1d', '2026-02-30'), RangeError);
});

test('its exponential and logarithm are exact to the last digits, without those of the JavaScript engine', () => {
  fc.assert(
    fc.property(fc.double({ min: -40, max: 40, noNaN: true }), (x) => {
      assert.ok(Math.abs(exp(x) / Math.exp(x) - 1) < 4e-16 * Math.max(1, Math.abs(x)));
      assert.ok(Math.abs(log(exp(x)) - x) < 1e-13);
    }),
  );
});

function golden() {
  const hashes = (timeframe: Timeframe, days: number, ...of: string[]) =>
    of.map((symbol) => dataHash([bars(symbol, timeframe, '2024-01-02', isoDate(parseDate('2024-01-02')! + days))]).slice(0, 16));
  const quote = (symbol: string, moment: string) => {
    const { bid, ask, last, volume } = embeddedQuote(symbol, at(moment), 'always')!;
    return [bid, ask, last, volume];
  };
  return {
    symbols: symbols.length,
    daily: hashes('1d', 2000, 'AAPL', 'SPY', 'BTC-USD', 'DOGE-USD', 'BRK.A'),
    minutes: hashes('1m', 60, 'MSFT', 'ETH-EUR'),
    early: barRows(bars('AAPL', '1d', '2000-01-04')),
    late: barRows(bars('AAPL', '1d', '2099-12-30')),
    quotes: [quote('AAPL', '2026-11-20T15:00:01Z'), quote('TSLA', '2026-11-22T03:00:00Z'), quote('BTC-USD', '2031-01-01T00:00:00Z')],
    actions: embeddedActions('AAPL', '2016-01-01', '2016-12-31')!.map(({ id }) => id),
  };
}

const goldenValues: unknown = {
  symbols: 375,
  daily: ['38c45bdddf6e6a62', '6a9f04b6c5e8332a', '38ee3e28c6b759d8', '2fd7addaa126f088', 'bd37e1508bb0d6d6'],
  minutes: ['253d61a9e4af7c32', '0f4e19b8d6153ab3'],
  early: [{ date: '2000-01-04', open: 150.5, high: 151.91, low: 150.28, close: 150.62, volume: 20358947 }],
  late: [{ date: '2099-12-30', open: 167.79, high: 167.91, low: 167.02, close: 167.57, volume: 602437429 }],
  quotes: [
    [297.92, 297.93, 297.92, 4145],
    [448.78, 448.8, 448.79, 553],
    [178608.04, 178652.24, 178630.14, 3.063],
  ],
  actions: [
    'dividend:AAPL:2016-03-14',
    'dividend:AAPL:2016-06-13',
    'dividend:AAPL:2016-09-13',
    'split:AAPL:2016-09-26',
    'dividend:AAPL:2016-12-13',
  ],
};
