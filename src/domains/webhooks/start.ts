/** A node's webhooks: their actors, and the dispatchers that deliver events from the event streams. */
import { AccountFeed } from '../../edge/stream/account-feed.ts';
import type { Platform, StartedDomain } from '../domain.ts';
import { accountWebhooksActor } from './account-webhooks/account-webhooks.ts';
import { accountWebhooksEffects } from './account-webhooks/count.ts';
import { addWebhookMetrics } from './metrics.ts';
import { oldDeliveries } from './retention.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { webhookSecrets } from './webhook/secrets.ts';
import { keyOfSecret } from './webhook/signature.ts';
import { webhookActor } from './webhook/webhook.ts';
import { WebhookDispatchers } from './webhook/webhook-dispatchers.ts';

/** Before the runtime starts: the dispatchers are notified of its first shards. */
export function startWebhooks(platform: Platform): StartedDomain {
  const { actors, database, placement, hub, eventCatalogue, deliveries, mail, secretKey, acceptedKeys, config, clock, log } = platform;
  const secrets = webhookSecrets(secretKey, acceptedKeys);
  const keyOf = (sealed: string, id: string) => keyOfSecret(secrets.open(sealed, id));
  const feed = new AccountFeed({ hub, database, log });
  const dispatchers = new WebhookDispatchers({
    actors,
    database,
    placement,
    feed,
    eventCatalogue,
    outbound: deliveries,
    keyOf,
    clock,
    log,
  });
  return {
    actors: [
      accountWebhooksActor(accountWebhooksEffects({ database })),
      webhookActor({ actors, mail, changed: (id) => dispatchers.changed(id) }),
    ],
    routes: webhookRoutes({ actors, database, eventCatalogue, secrets, checkUrl: (url) => deliveries.check(url), clock }),
    jobs: [oldDeliveries(config.retentionDays, clock)],
    metrics: (metrics) => addWebhookMetrics(metrics, dispatchers),
    finish: (graceMs) => dispatchers.finish(graceMs),
    stop: () => dispatchers.stop(),
  };
}
