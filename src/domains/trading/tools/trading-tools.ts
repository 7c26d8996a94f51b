/** The tools that trading brings to agents. */
import type { Tool } from '../../tasks/contract.ts';
import type { TradingParts } from '../open.ts';
import { getQuote } from './get-quote.ts';

export function tradingTools({ market }: TradingParts): Tool[] {
  return [getQuote(market)];
}
