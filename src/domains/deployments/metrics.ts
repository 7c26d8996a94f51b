/** What a node keeps count of in deployments, and its metrics. */
import { CountBy, Distribution } from '../../counts.ts';
import type { Metrics } from '../../metrics.ts';
import type { EventDraft } from '../../storage/commit-unit.ts';
import { targets } from './targets.ts';

export class DeploymentStats {
  readonly ended = new CountBy(['target', 'outcome']);
  readonly endedS = new Distribution([1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800]);

  constructor() {
    // From 0 on, so that the first one is an increase.
    for (const target of targets) this.ended.add([target, 'live'], 0);
  }

  committed(events: readonly Pick<EventDraft, 'type' | 'data'>[]): void {
    for (const { type, data } of events) {
      if (type !== 'deployment.live' && type !== 'deployment.failed') continue;
      const { target, error, created_at: createdAt, completed_at: completedAt } = JSON.parse(data.text).deployment;
      this.ended.add([target, error?.code ?? 'live']);
      this.endedS.record((Date.parse(completedAt) - Date.parse(createdAt)) / 1_000);
    }
  }
}

export function addDeploymentMetrics(metrics: Metrics, { stats }: { stats: DeploymentStats }): void {
  metrics.counter('troupe_deployments_total', 'Deployments that have ended, by target and outcome (live, or the code of the failure)', () =>
    stats.ended.read(),
  );
  metrics.distribution('troupe_deployment_duration_seconds', 'From the creation of a deployment to its end', () => stats.endedS);
}
