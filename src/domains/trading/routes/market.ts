/** Market data: quotes and bars. */
import Type from 'typebox';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { dividendsOf } from '../market/bars.ts';
import { isoDate, parseDate, utcDay } from '../market/calendar.ts';
import { embeddedActions, embeddedBarCount } from '../market/embedded-feed.ts';
import type { LocalMarket } from '../market/local-market.ts';
import { type Timeframe, timeframes } from '../market/port.ts';
import type { Prices } from '../market/prices.ts';
import { barsView, quoteView } from '../market/quote-view.ts';
import { parseSymbol } from '../market/symbol.ts';

const Time = Type.String({ format: 'date-time' });
const QuoteView = Type.Object(
  {
    symbol: Type.String(),
    asset_class: Type.Enum(['equity', 'crypto']),
    bid: Type.Number(),
    ask: Type.Number(),
    last: Type.Number(),
    volume: Type.Number({ description: 'Volume traded in this quote' }),
    at: Time,
    session: Type.Enum(['open', 'closed']),
    next_open: Type.Union([Time, Type.Null()]),
    next_close: Type.Union([Time, Type.Null()]),
    tick: Type.Number({ description: 'The step of prices' }),
    source: Type.Enum(['embedded', 'file', 'broker']),
  },
  { title: 'Quote' },
);

const BarsView = Type.Object(
  {
    symbol: Type.String(),
    timeframe: Type.Enum([...timeframes]),
    source: Type.Enum(['embedded', 'file', 'broker', 'csv']),
    adjusted: Type.Boolean(),
    data_hash: Type.String({ description: 'SHA-256 of these bars and dividends: that of a backtest of the period' }),
    bars: Type.Array(
      Type.Object({
        date: Type.String({
          examples: ['2025-01-02'],
          description: 'Of shorter bars the minute in which they begin: `2025-01-02T14:30:00Z`',
        }),
        open: Type.Number(),
        high: Type.Number(),
        low: Type.Number(),
        close: Type.Number(),
        volume: Type.Number(),
      }),
    ),
    dividends: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), amount: Type.Number() }), {
      description:
        'USD a share, adjusted as the prices are, which they were not taken out of: a backtest is paid them at the first bar of the date or after it',
    }),
  },
  { title: 'Bars' },
);
const maxBars = 10_000;
/** The default period: this many days up to the end. */
const usualDays: Readonly<Record<Timeframe, number>> = { '1m': 5, '5m': 7, '1h': 60, '1d': 365 };

export function marketRoutes({ market, prices }: { market: LocalMarket; prices: Prices }): AnyRoute[] {
  const quote = route({
    method: 'GET',
    path: '/trading/quotes/{symbol}',
    summary: 'Get a quote',
    description: 'Equities are `AAPL`, pairs of crypto `BTC-USD`. It is the one that orders of the caller are judged by.',
    extension: true,
    scope: 'trading.read',
    responses: { 200: QuoteView },
    async handler({ principal, params }) {
      const instrument = parseSymbol(params.symbol);
      const found = instrument === null ? null : await prices.quoteOf(principal, instrument.symbol);
      if (found === null) throw new AppError('not_found', 'Symbol not found');
      return answer(200, quoteView(found));
    },
  });

  const bars = route({
    method: 'GET',
    path: '/trading/bars/{symbol}',
    summary: 'List historical bars',
    description: `Bars that are complete by the market's clock, of regular sessions, at most ${maxBars}. Days are inclusive: of the exchange for bars of days, else by UTC.`,
    extension: true,
    scope: 'trading.read',
    query: Type.Object({
      timeframe: Type.Enum([...timeframes], { default: '1d' }),
      start: Type.Optional(Type.String({ format: 'date', description: 'Default: a year before the end for `1d`, less for shorter ones' })),
      end: Type.Optional(Type.String({ format: 'date', description: 'Default: today' })),
      adjusted: Type.Boolean({ default: true, description: 'Prices and volumes adjusted by the splits up to the end' }),
    }),
    responses: { 200: BarsView },
    async handler({ params, query: { timeframe, start, end, adjusted } }) {
      await market.ready;
      const nowMs = market.clock.nowMs();
      const last = dayOf(end, 'end') ?? utcDay(nowMs);
      const first = dayOf(start, 'start') ?? Math.min(last, Math.max(last - usualDays[timeframe], 0));
      if (last < first) throw invalidField(['query', 'end'], 'The last day should not be before the first', 'greater_than_equal', end);
      const symbol = parseSymbol(params.symbol)?.symbol;
      const requested = { symbol: symbol ?? '', timeframe, start: isoDate(first), end: isoDate(last), adjusted };
      const count = embeddedBarCount(requested, nowMs);
      if (count === null) throw new AppError('not_found', 'Symbol not found');
      if (count > maxBars)
        throw invalidField(['query', 'start'], `The period has ${count} bars; the maximum is ${maxBars}`, 'too_long', start);
      const found = (await market.bars(requested))!;
      const actions = embeddedActions(requested.symbol, requested.start, requested.end) ?? [];
      return answer(200, barsView({ ...found, dividends: dividendsOf(actions, { daily: timeframe === '1d', adjusted, nowMs }) }));
    },
  });
  return [quote, bars];
}

function dayOf(text: string | undefined, name: string): number | null {
  if (text === undefined) return null;
  const day = parseDate(text);
  if (day === null) throw invalidField(['query', name], 'The date is not valid', 'value_error', text);
  return day;
}
