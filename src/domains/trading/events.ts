/** Events of orders, of what keeps an account from trading, and of backtests. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const tradingEvents: EventFamilies = {
  trade: {
    names: ['submitted', 'accepted', 'partially_filled', 'filled', 'cancelled', 'rejected', 'expired'],
    scope: 'trading.read',
    ofOneMode: true,
  },
  trading: { names: ['blocked', 'halted', 'resumed', 'attention'], scope: 'trading.read', ofOneMode: true },
  backtest: { names: ['completed', 'failed'], scope: 'trading.read', ofOneMode: true },
};
