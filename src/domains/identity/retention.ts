/** How long temporary rows of identity are kept. */
import type { Clock } from '../../clock.ts';
import { deleteAgedRows } from '../../storage/aged-rows.ts';
import type { HousekeepingJob } from '../../storage/maintenance.ts';

const dayMs = 24 * 3_600_000;

/** What was counted of wrong attempts, when it counts no more. An actor that still has it in memory goes on with what a fresh one would do. */
export function pastThrottles(clock: Clock): HousekeepingJob {
  return deleteAgedRows({ name: 'throttles', table: 'throttle', column: 'forget_at', keepMs: 5 * 60_000, areChanged: true, clock });
}

/** Sessions that nobody can go on with: the last cookie made in one outlives its last refresh token by seven days at most. */
export function pastSessions(clock: Clock): HousekeepingJob {
  return deleteAgedRows({ name: 'sessions', table: 'session', column: 'refresh_expires_at', keepMs: 8 * dayMs, areChanged: true, clock });
}
