/** A node's webhooks: their actors, and the couriers that deliver what the event streams bring. */
import { AccountFeed } from '../../edge/stream/account-feed.ts';
import type { Platform, StartedDomain } from '../domain.ts';
import { accountWebhooksActor } from './account-webhooks/account-webhooks.ts';
import { accountWebhooksEffects } from './account-webhooks/count.ts';
import { addWebhookMetrics } from './metrics.ts';
import { oldDeliveries } from './retention.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { Couriers } from './webhook/couriers.ts';
import { webhookSecrets } from './webhook/secrets.ts';
import { keyOfSecret } from './webhook/signature.ts';
import { webhookActor } from './webhook/webhook.ts';

/** Before the runtime starts: the couriers hear of its first shards. */
export function startWebhooks(platform: Platform): StartedDomain {
  const { actors, database, placement, hub, eventCatalogue, deliveries, mail, secretKey, acceptedKeys, config, clock, log } = platform;
  const secrets = webhookSecrets(secretKey, acceptedKeys);
  const keyOf = (sealed: string, id: string) => keyOfSecret(secrets.open(sealed, id));
  const feed = new AccountFeed({ hub, database, log });
  const couriers = new Couriers({ actors, database, placement, feed, eventCatalogue, outbound: deliveries, keyOf, clock, log });
  return {
    actors: [
      accountWebhooksActor(accountWebhooksEffects({ database })),
      webhookActor({ actors, mail, changed: (id) => couriers.changed(id) }),
    ],
    routes: webhookRoutes({ actors, database, eventCatalogue, secrets, checkUrl: (url) => deliveries.check(url), clock }),
    chores: [oldDeliveries(config.retentionDays, clock)],
    metrics: (metrics) => addWebhookMetrics(metrics, couriers),
    finish: (graceMs) => couriers.finish(graceMs),
    stop: () => couriers.stop(),
  };
}
