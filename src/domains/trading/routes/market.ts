/** What the market shows: quotes. */
import Type from 'typebox';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { AppError } from '../../../errors.ts';
import type { LocalMarket } from '../market/local-market.ts';
import { quoteView } from '../market/quote-view.ts';
import { parseSymbol } from '../market/symbol.ts';

const Time = Type.String({ format: 'date-time' });
const QuoteView = Type.Object(
  {
    symbol: Type.String(),
    asset_class: Type.Enum(['equity', 'crypto']),
    bid: Type.Number(),
    ask: Type.Number(),
    last: Type.Number(),
    volume: Type.Number({ description: 'What was traded in this content of the quote' }),
    at: Time,
    session: Type.Enum(['open', 'closed']),
    next_open: Type.Union([Time, Type.Null()]),
    next_close: Type.Union([Time, Type.Null()]),
    tick: Type.Number({ description: 'The step of prices' }),
    source: Type.Enum(['embedded', 'file', 'broker']),
  },
  { title: 'Quote' },
);

export function marketRoutes({ market }: { market: LocalMarket }): AnyRoute[] {
  const quote = route({
    method: 'GET',
    path: '/trading/quotes/{symbol}',
    summary: 'Look at a quote',
    description: 'Equities are `AAPL`, pairs of crypto `BTC-USD`.',
    extension: true,
    scope: 'trading.read',
    responses: { 200: QuoteView },
    async handler({ params }) {
      await market.ready;
      const instrument = parseSymbol(params.symbol);
      const found = instrument === null ? null : await market.quote(instrument.symbol);
      if (found === null) throw new AppError('not_found', 'Symbol not found');
      return answer(200, quoteView(found));
    },
  });
  return [quote];
}
