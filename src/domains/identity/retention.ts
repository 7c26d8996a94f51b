/** How long temporary rows of identity are kept. */
import type { Clock } from '../../clock.ts';
import { deleteAgedRows } from '../../storage/aged-rows.ts';
import type { HousekeepingJob } from '../../storage/maintenance.ts';

const dayMs = 24 * 3_600_000;

/** Counts of wrong attempts, when they have expired. An actor that still has one in memory behaves like a new one. */
export function pastThrottles(clock: Clock): HousekeepingJob {
  return deleteAgedRows({ name: 'throttles', table: 'throttle', column: 'forget_at', keepMs: 5 * 60_000, areChanged: true, clock });
}

/** Sessions that cannot be continued: a session's last cookie outlives its last refresh token by at most seven days. */
export function pastSessions(clock: Clock): HousekeepingJob {
  return deleteAgedRows({ name: 'sessions', table: 'session', column: 'refresh_expires_at', keepMs: 8 * dayMs, areChanged: true, clock });
}
