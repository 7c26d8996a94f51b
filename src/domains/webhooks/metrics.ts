/** Metrics of a node's webhook deliveries. */
import type { Metrics } from '../../metrics.ts';
import type { WebhookDispatchers } from './webhook/webhook-dispatchers.ts';

export function addWebhookMetrics(metrics: Metrics, dispatchers: WebhookDispatchers): void {
  metrics.gauge('troupe_webhooks', 'Webhooks whose events this node delivers', () => dispatchers.size.dispatchers);
  metrics.gauge('troupe_webhook_deliveries_running', 'Deliveries that wait for their receiver', () => dispatchers.size.inProgress);
  metrics.counter('troupe_webhook_deliveries_total', 'Deliveries that were tried, by outcome', () => dispatchers.tries.read());
}
