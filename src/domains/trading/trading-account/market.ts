/** What a trading account needs of its node's market, at once: its turns do not wait. */
import type { LocalMarket } from '../market/local-market.ts';

export type AccountMarket = Pick<LocalMarket, 'name' | 'hours' | 'clock' | 'quoteNow' | 'quoteAt' | 'actionsNow'>;
