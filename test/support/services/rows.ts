/** Every service of the contract suite. */
import { githubRow } from './github-row.ts';
import { gmailRow } from './gmail-row.ts';
import { googleAdsRow } from './google-ads-row.ts';
import { notionRow } from './notion-row.ts';
import type { ServiceRow } from './service-row.ts';
import { slackRow } from './slack-row.ts';
import { stripeRow } from './stripe-row.ts';
import { whatsappRow } from './whatsapp-row.ts';

export const serviceRows: readonly ServiceRow[] = [gmailRow, slackRow, githubRow, stripeRow, notionRow, googleAdsRow, whatsappRow];
