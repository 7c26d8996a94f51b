/** How long temporary rows of billing are kept. */
import type { Clock } from '../../clock.ts';
import { deleteAgedRows } from '../../storage/aged-rows.ts';
import type { HousekeepingJob } from '../../storage/maintenance.ts';

const dayMs = 24 * 3_600_000;

/** Checkouts that were not paid; those that are paid, or being paid, stay. */
export function pastCheckouts(clock: Clock): HousekeepingJob {
  const only = `status in ('failed', 'open', 'cancelled', 'contacted', 'expired')`;
  const [name, table, index] = ['checkouts', 'checkout', 'checkout_to_forget'];
  return deleteAgedRows({ name, table, column: 'expires_at', only, index, keepMs: 8 * dayMs, areChanged: true, clock });
}
