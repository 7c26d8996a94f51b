/** get_quote: the same quote as GET /trading/quotes. */
import Type from 'typebox';
import { ToolError } from '../../../errors.ts';
import type { Tool } from '../../tasks/contract.ts';
import { quoteView } from '../market/quote-view.ts';
import { parseSymbol } from '../market/symbol.ts';
import type { TradingParts } from '../open.ts';

export const SymbolArgument = Type.String({
  minLength: 1,
  maxLength: 32,
  description: 'AAPL for an equity, BTC-USD for crypto; upper case',
});

export const getQuote = ({ orderEntry }: Pick<TradingParts, 'orderEntry'>): Tool => ({
  name: 'get_quote',
  agentTypes: ['researcher', 'analyst', 'trader'],
  description:
    'The present quote of an equity or a pair of crypto: {bid, ask, last, volume, at, session, next_open, next_close, tick, source}. A buy pays the ask, a sell ' +
    'gets the bid. session says whether its market is open; source embedded means that the prices are made up, for paper trading alone. State `at` with every price.',
  parameters: Type.Object({ symbol: SymbolArgument }),
  need: { scope: 'trading.read' },
  highConsequence: false,
  repeatable: true,
  timeoutMs: 20_000,
  async run({ symbol }: { symbol: string }, { accountId, authority: { mode } }) {
    const instrument = parseSymbol(symbol);
    const quote = instrument === null ? null : await orderEntry.prices.quoteOf({ accountId, mode }, instrument.symbol);
    if (quote === null) throw new ToolError(`There is no symbol ${JSON.stringify(symbol)} here.`);
    return quoteView(quote);
  },
});
