/** Every service that accounts can connect: a new one is added here. `docs/integrations.md` says how its description is written. */
import { github } from './github.ts';
import { gmail } from './gmail.ts';
import { googleAds } from './google-ads.ts';
import { notion } from './notion.ts';
import type { Service } from './service.ts';
import { slack } from './slack.ts';
import { stripe } from './stripe.ts';
import { whatsapp } from './whatsapp.ts';

export const services: readonly Service[] = [gmail, slack, github, stripe, notion, googleAds, whatsapp];
