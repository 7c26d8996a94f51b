/** Every metric of a cluster node, in the order of docs/metrics.md. No value is read, so no part has to run. */
import { addClusterMetrics } from '../../src/admin/cluster-metrics.ts';
import { addNodeMetrics } from '../../src/admin/node-metrics.ts';
import { addPaymentMetrics } from '../../src/domains/billing/metrics.ts';
import { addDeploymentMetrics } from '../../src/domains/deployments/metrics.ts';
import { addIntegrationMetrics } from '../../src/domains/integrations/metrics.ts';
import { addToolMetrics } from '../../src/domains/tasks/metrics.ts';
import { addTradingMetrics } from '../../src/domains/trading/metrics.ts';
import { addWebhookMetrics } from '../../src/domains/webhooks/metrics.ts';
import { noLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';

export function allMetrics(): Metrics {
  const metrics = new Metrics(noLog);
  addNodeMetrics(metrics, { runtime: {} } as never);
  for (const add of [addToolMetrics, addPaymentMetrics, addWebhookMetrics, addTradingMetrics, addIntegrationMetrics, addDeploymentMetrics])
    add(metrics, {} as never);
  addClusterMetrics(metrics, { transport: {} } as never);
  return metrics;
}
