/** When a run is due: the times at which bars become complete. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { barEndMs } from '../../../../src/domains/trading/market/bars.ts';
import { embeddedBars } from '../../../../src/domains/trading/market/embedded-feed.ts';
import { timeframes } from '../../../../src/domains/trading/market/port.ts';
import { parseSymbol } from '../../../../src/domains/trading/market/symbol.ts';
import { classesOf, dateBefore, nextBarEndMs } from '../../../../src/domains/trading/strategy/next-bar.ts';

const day = 86_400_000;
const moments = fc.integer({ min: Date.parse('2024-01-05'), max: Date.parse('2026-12-20') });
const symbols = fc.constantFrom('AAPL', 'BTC-USD');
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

test('the next bar is complete at the end of the first later bar of the history, also around holidays, half days and daylight saving', () => {
  fc.assert(
    fc.property(symbols, fc.constantFrom(...timeframes), moments, fc.boolean(), (symbol, timeframe, someMs, atEnd) => {
      const { assetClass } = parseSymbol(symbol)!;
      const ends = (ms: number) => {
        const request = { symbol, timeframe, start: dateOf(ms - 2 * day), end: dateOf(ms + 6 * day), adjusted: true };
        return [...embeddedBars(request, ms + 30 * day)!.bars.time].map((time) => barEndMs(assetClass, timeframe, time));
      };
      // At the very end of a bar the following one is the next.
      const ms = atEnd ? ends(someMs).find((end) => end >= someMs)! : someMs;
      assert.equal(
        nextBarEndMs(assetClass, timeframe, ms),
        ends(ms).find((end) => end > ms),
      );
    }),
    { numRuns: 60 },
  );
});

test('from the computed start date on there are as many bars as requested', () => {
  fc.assert(
    fc.property(
      symbols,
      fc.constantFrom(...timeframes),
      moments,
      fc.integer({ min: 0, max: 2_000 }),
      fc.boolean(),
      (symbol, timeframe, ms, count, isAlone) => {
        const start = dateBefore(count, timeframe, ms, isAlone ? classesOf([symbol]) : undefined);
        const request = { symbol, timeframe, start, end: dateOf(ms), adjusted: true };
        assert.ok(embeddedBars(request, ms)!.bars.time.length >= count);
      },
    ),
    { numRuns: 25 },
  );
});
