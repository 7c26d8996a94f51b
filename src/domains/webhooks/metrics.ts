/** Metrics of a node's webhook deliveries. */
import type { Metrics } from '../../metrics.ts';
import type { WebhookDispatchers } from './webhook/webhook-dispatchers.ts';

export function addWebhookMetrics(metrics: Metrics, dispatchers: WebhookDispatchers): void {
  metrics.gauge('troupe_webhooks', 'Webhooks whose events this node delivers', () => dispatchers.size.dispatchers);
  metrics.gauge('troupe_webhook_deliveries_running', "Deliveries waiting for the receiver's response", () => dispatchers.size.inProgress);
  metrics.counter('troupe_webhook_deliveries_total', 'Delivery attempts, by outcome', () => dispatchers.tries.read());
}
