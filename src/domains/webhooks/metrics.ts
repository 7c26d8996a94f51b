/** Metrics of what a node delivers to webhooks. */
import type { Metrics } from '../../metrics.ts';
import type { Couriers } from './webhook/couriers.ts';

export function addWebhookMetrics(metrics: Metrics, couriers: Couriers): void {
  metrics.gauge('troupe_webhooks', 'Webhooks whose events this node delivers', () => couriers.size.couriers);
  metrics.gauge('troupe_webhook_deliveries_running', 'Deliveries that wait for their receiver', () => couriers.size.onTheirWay);
  metrics.counter('troupe_webhook_deliveries_total', 'Deliveries that were tried, by outcome', () => couriers.tries.read());
}
