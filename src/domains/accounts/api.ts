/** The API reference's chapters on accounts, with examples. */
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const accountsApi: ReferencePart = {
  chapters: [{ name: 'Settings', paths: ['/settings'], description: 'The settings of an account. Requests need a person’s session.' }],
  examples: {
    daily_loss_limit: 2_500,
    live_trading_enabled: false,
    market_collar_pct: 1,
    max_position_size: 25_000,
    price_collar_pct: 10,
    redirect_uris: ['https://example.com/callback'],
    timezone: 'Europe/Berlin',
  },
};
