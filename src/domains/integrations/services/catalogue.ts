/** Every service that accounts can connect: a new one is added here. `docs/integrations.md` says how its description is written. */
import { gmail } from './gmail.ts';
import { googleAds } from './google-ads.ts';
import type { Service } from './service.ts';
import { slack } from './slack.ts';
import { whatsapp } from './whatsapp.ts';

export const services: readonly Service[] = [gmail, slack, googleAds, whatsapp];
