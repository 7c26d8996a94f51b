/** How long temporary rows of integrations are kept. */
import type { Clock } from '../../clock.ts';
import { deleteAgedRows } from '../../storage/aged-rows.ts';
import type { HousekeepingJob } from '../../storage/maintenance.ts';

const dayMs = 86_400_000;

/** Consents whose ten minutes are over. */
export function pastAuthorizations(clock: Clock): HousekeepingJob {
  return deleteAgedRows({
    ...{ name: 'service authorizations', table: 'service_authorization', column: 'expires_at' },
    ...{ keepMs: dayMs, areChanged: true, clock },
  });
}

/** Messages that services have sent: agents read recent ones. */
export function pastReceivedMessages(clock: Clock): HousekeepingJob {
  return deleteAgedRows({
    ...{ name: 'received messages', table: 'received_message', column: 'received_at' },
    ...{ keepMs: 90 * dayMs, areChanged: true, clock },
  });
}
