/** A node's data for operators: its traces and its admin port. Both are loaded only if configured. */
import type { AdminServer } from '../admin/admin-server.ts';
import type { NodeParts } from '../admin/node-metrics.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Config, collectorHeaders } from '../config.ts';
import type { StartedDomain } from '../domains/domain.ts';
import type { EventRelay } from '../edge/stream/event-relay.ts';
import type { Log } from '../log.ts';
import type { OtlpTraces } from '../otlp-traces.ts';
import type { Tracer } from '../tracing.ts';
import type { Disposers } from './disposers.ts';

/** null if no collector is configured. */
export async function openTracing(
  config: Config,
  version: string,
  log: Log,
  disposers: Disposers,
): Promise<{ tracer: Tracer; traces: OtlpTraces } | null> {
  if (config.otlpUrl === null) return null;
  const [{ OtlpTraces }, { createTracer }] = await Promise.all([import('../otlp-traces.ts'), import('../tracing.ts')]);
  const resource = { 'service.name': 'troupe', 'service.version': version, 'service.instance.id': config.nodeName };
  const headers = collectorHeaders(config);
  const traces = new OtlpTraces({ url: config.otlpUrl, headers, resource, onDropping: (why) => log.warn({ why }, 'spans are dropped') });
  const tracer = createTracer({ sink: traces, sampleRatio: Number(config.traceRatio) });
  disposers.push(() => tracer.stop());
  return { tracer, traces };
}

/** null if it is switched off, or its default port is in use. */
export async function openAdminPort(
  config: Config,
  sources: NodeParts,
  domains: readonly StartedDomain[],
  cluster: (Cluster & { relay: EventRelay }) | null,
  log: Log,
): Promise<AdminServer | null> {
  if (config.adminPort === 0) return null;
  const [{ Metrics }, { addNodeMetrics }, { addClusterMetrics }, { startAdminServer }] = await Promise.all([
    import('../metrics.ts'),
    import('../admin/node-metrics.ts'),
    import('../admin/cluster-metrics.ts'),
    import('../admin/admin-server.ts'),
  ]);
  const metrics = new Metrics(log);
  metrics.addProcess();
  addNodeMetrics(metrics, sources);
  for (const domain of domains) domain.metrics?.(metrics);
  if (cluster !== null) addClusterMetrics(metrics, cluster);
  const { version, node, incarnation, readiness, runtime } = sources;
  const status = () => ({
    version,
    node,
    incarnation,
    ready: readiness(),
    ...runtime.health,
    cluster: cluster?.node.status() ?? null,
  });
  const { adminHost: host, adminPort: port, adminPortGiven: portGiven } = config;
  return startAdminServer({ host, port, portGiven, metrics, status, readiness, log });
}
