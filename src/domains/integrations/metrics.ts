/** The counters of integrations on a node, and their metrics. */
import { CountBy, Distribution, latencyBoundsS } from '../../counts.ts';
import type { Metrics } from '../../metrics.ts';
import type { EventDraft } from '../../storage/commit-unit.ts';

const changes: readonly string[] = ['connected', 'error', 'recovered', 'disconnected'];

export class IntegrationStats {
  readonly changes = new CountBy(['change']);
  readonly renewals = new CountBy(['service', 'outcome']);
  readonly calls = new CountBy(['service', 'outcome'], 200);
  readonly callS = new Distribution([...latencyBoundsS, 30, 60, 120]);

  constructor() {
    // Initialised with 0, so that the first event is an increase.
    for (const change of changes) this.changes.add([change], 0);
  }

  committed(events: readonly Pick<EventDraft, 'type'>[]): void {
    for (const { type } of events) {
      if (!type.startsWith('integration.')) continue;
      const change = type.slice('integration.'.length);
      if (changes.includes(change)) this.changes.add([change]);
    }
  }
}

export function addIntegrationMetrics(metrics: Metrics, { stats }: { stats: IntegrationStats }): void {
  metrics.counter(
    'troupe_integration_changes_total',
    'Connections to services that were created, ended, failed or recovered, by change',
    () => stats.changes.read(),
  );
  metrics.counter('troupe_integration_token_requests_total', 'Requests for a new access token, by service and outcome', () =>
    stats.renewals.read(),
  );
  metrics.counter('troupe_integration_calls_total', 'Requests to services for agents, by service and outcome', () => stats.calls.read());
  metrics.distribution(
    'troupe_integration_call_duration_seconds',
    'Duration of requests to services, including waits for rate limits and retries',
    () => stats.callS,
  );
}
