/** A node's webhooks: their actor, and the couriers that deliver what the event streams bring. */

import type { Runtime } from '../actors/runtime.ts';
import { systemClock } from '../clock.ts';
import type { Placement } from '../cluster/placement.ts';
import { accountWebhooksActor } from '../domains/webhooks/account-webhooks/account-webhooks.ts';
import { accountWebhooksEffects } from '../domains/webhooks/account-webhooks/count.ts';
import type { WebhookSecrets } from '../domains/webhooks/routes/webhooks.ts';
import { Couriers } from '../domains/webhooks/webhook/couriers.ts';
import { keyOfSecret } from '../domains/webhooks/webhook/signature.ts';
import { webhookActor } from '../domains/webhooks/webhook/webhook.ts';
import { AccountFeed } from '../edge/stream/account-feed.ts';
import type { StreamHub } from '../edge/stream/stream-hub.ts';
import type { Log } from '../log.ts';
import type { MailProvider } from '../providers/mail/port.ts';
import type { Outbound } from '../providers/outbound/port.ts';
import type { Database } from '../storage/database.ts';
import { Secrets } from '../storage/secrets.ts';
import { eventCatalogue } from './event-catalogue.ts';

export type WebhookParts = {
  runtime: Runtime;
  placement: Placement;
  database: Database;
  hub: StreamHub;
  outbound: Outbound;
  mail: MailProvider;
  secretKey: string;
  acceptedKeys: readonly string[];
  log: Log;
};

const purpose = 'webhook secrets';

/** Before the runtime starts: it registers the actor and hears of the first shards. */
export function openWebhooks({ runtime, placement, database, hub, outbound, mail, secretKey, acceptedKeys, log }: WebhookParts): Couriers {
  const { actors } = runtime;
  const secrets = webhookSecrets(secretKey, acceptedKeys);
  const keyOf = (sealed: string, id: string) => keyOfSecret(secrets.open(sealed, id));
  const feed = new AccountFeed({ hub, database, log });
  const couriers = new Couriers({ actors, database, placement, feed, eventCatalogue, outbound, keyOf, clock: systemClock, log });
  runtime.register([
    accountWebhooksActor(accountWebhooksEffects({ database })),
    webhookActor({ actors, mail, changed: (id) => couriers.changed(id) }),
  ]);
  return couriers;
}

/** Each secret can be read for its own webhook alone. */
export function webhookSecrets(secretKey: string, acceptedKeys: readonly string[] = []): WebhookSecrets {
  const secrets = new Secrets(secretKey, acceptedKeys);
  return { seal: (secret, id) => secrets.encrypt(purpose, secret, id), open: (sealed, id) => secrets.decrypt(purpose, sealed, id) };
}
