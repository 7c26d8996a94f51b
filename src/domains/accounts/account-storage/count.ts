/**
 * Holds the register of what an account stores against its files. A node of a version that knew no register, side by side with this one in a
 * rolling deploy, tells it nothing; what it has missed is found here.
 */

import type { EffectsOf } from '../../../actors/define-actor.ts';
import { shardOf } from '../../../cluster/address.ts';
import type { Database } from '../../../storage/database.ts';
import { type AccountStorageContract, accountStorage, type StorageUse } from './messages.ts';

/** How often it is held against the files, at the next change. */
export const countEveryMs = 3_600_000;
/** Where a file was refused for want of room, it may be wrong: it is counted anew, no more often than this. */
export const countAgainMs = 60_000;

/**
 * What the register lacks: files, less what is registered, less what messages on their way will add. All of it is seen at one moment, so
 * what changes meanwhile does not matter.
 */
const text = `select f.bytes - coalesce(a.bytes, 0) - m.bytes as bytes, f.files - coalesce(a.files, 0) - m.files as files
  from (select coalesce(sum(f.size_bytes), 0)::bigint as bytes, count(f.id) as files
      from workspace w join workspace_file f on f.workspace_id = w.id and f.status = 'present' where w.account_id = $1) f
    cross join (select coalesce(sum((input->>'bytes')::bigint), 0)::bigint as bytes, coalesce(sum((input->>'files')::bigint), 0)::bigint as files
      from message where shard = $2 and kind = $3 and actor_id = $1 and command = 'changed') m
    left join account_storage a on a.id = $1`;

export function storageEffects({ database }: { database: Pick<Database, 'read'> }): EffectsOf<AccountStorageContract> {
  return {
    count: {
      outcome: 'counted',
      timeoutMs: 30_000,
      repeatable: () => true,
      async run(_input: object, { actorId }): Promise<StorageUse> {
        const { kind } = accountStorage;
        const { rows } = await database.read({ name: 'count_storage', text, values: [actorId, shardOf(kind, actorId), kind] });
        return rows[0];
      },
    },
  };
}
