/** How long temporary rows of webhooks are kept. */
import type { Clock } from '../../clock.ts';
import { deleteAgedRows } from '../../storage/aged-rows.ts';
import type { HousekeepingJob } from '../../storage/maintenance.ts';

const dayMs = 24 * 3_600_000;

/** Records of deliveries, kept as long as their events. */
export function oldDeliveries(retentionDays: number, clock: Clock): HousekeepingJob {
  const keepMs = retentionDays * dayMs;
  const [name, table, index] = ['webhook deliveries', 'webhook_delivery', 'webhook_delivery_to_forget'];
  return deleteAgedRows({ name, table, column: 'created_at', index, keepMs, areChanged: true, clock });
}
