/** How long the contents of deployments are kept. Deployments themselves stay. */
import type { Clock } from '../../clock.ts';
import { deleteAgedRows } from '../../storage/aged-rows.ts';
import type { HousekeepingJob } from '../../storage/maintenance.ts';

export const keptForMs = 30 * 86_400_000;

export function oldDeploymentLogs(clock: Clock): HousekeepingJob {
  return deleteAgedRows({
    name: 'deployment logs',
    table: 'deployment_log',
    column: 'at',
    index: 'deployment_log_to_forget',
    keepMs: keptForMs,
    clock,
  });
}
