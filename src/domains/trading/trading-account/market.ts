/** The part of its node's market that a trading account needs, synchronously: turns do not wait. */
import type { LocalMarket } from '../market/local-market.ts';

export type AccountMarket = Pick<LocalMarket, 'name' | 'hours' | 'clock' | 'quoteNow' | 'quoteAt' | 'actionsNow'>;
