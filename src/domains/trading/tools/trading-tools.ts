/** The agent tools of trading. */
import type { Tool } from '../../tasks/contract.ts';
import type { TradingParts } from '../open.ts';
import { getQuote } from './get-quote.ts';
import { listPositions } from './list-positions.ts';
import { placeOrderTool } from './place-order.ts';
import { runBacktest } from './run-backtest.ts';

export function tradingTools(parts: Pick<TradingParts, 'market' | 'orderEntry' | 'backtests'>): Tool[] {
  return [getQuote(parts), listPositions(parts), placeOrderTool(parts), runBacktest(parts.backtests)];
}
