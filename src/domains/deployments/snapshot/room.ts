/**
 * Limits the storage of an account's snapshots: contents are kept for weeks after their files were replaced, and each snapshot has rows. The limit is far
 * above ordinary use.
 */
import { unlimited } from '../../../plans.ts';
import type { Database } from '../../../storage/database.ts';
import { sizeText } from '../../accounts/contract.ts';
import { DeployFailed } from '../hosts/host-failure.ts';

export type StorageLimits = { bytes: number; files: number };

/** Times the storage of the account's plan. */
const timesBytes = 5;
const timesFiles = 200;

/** Throws `DeployFailed` where they hold more than that. Concurrent ones may exceed it by what they take. */
export async function mustHaveRoom(database: Database, accountId: string, limits: StorageLimits): Promise<void> {
  const { rows } = await database.read({
    name: 'held_by_snapshots',
    text: 'select coalesce(sum(new_bytes), 0)::bigint as bytes, coalesce(sum(files), 0)::bigint as files from snapshot where account_id = $1',
    values: [accountId],
  });
  const { bytes, files } = rows[0] as StorageLimits;
  const exceeds = (held: number, limit: number, times: number) => limit !== unlimited && held > limit * times;
  if (!exceeds(bytes, limits.bytes, timesBytes) && !exceeds(files, limits.files, timesFiles)) return;
  throw new DeployFailed(
    'quota',
    `The files of this account's deployments hold ${sizeText(bytes)} in ${files.toLocaleString('en-US')} files, as much as its plan allows. They are kept for 30 days`,
  );
}
