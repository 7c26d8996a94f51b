/** Every service of the contract suite. */
import { gmailRow } from './gmail-row.ts';
import { googleAdsRow } from './google-ads-row.ts';
import type { ServiceRow } from './service-row.ts';
import { slackRow } from './slack-row.ts';
import { whatsappRow } from './whatsapp-row.ts';

export const serviceRows: readonly ServiceRow[] = [gmailRow, slackRow, googleAdsRow, whatsappRow];
