/** The API reference's chapters on accounts, with examples. */
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const accountsApi: ReferencePart = {
  chapters: [{ name: 'Settings', paths: ['/settings'], description: 'What an account has chosen. Needs a person’s session.' }],
  examples: {
    daily_loss_limit: 2_500,
    max_position_size: 25_000,
    redirect_uris: ['https://example.com/callback'],
    timezone: 'Europe/Berlin',
  },
};
