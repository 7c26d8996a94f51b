/**
 * Reconciles the storage register of an account with its files. During a rolling deploy, a node of a version without the register does not
 * update it; the count finds the difference.
 */

import type { EffectsOf } from '../../../actors/define-actor.ts';
import { shardOf } from '../../../cluster/address.ts';
import type { Database } from '../../../storage/database.ts';
import { type AccountStorageContract, accountStorage, type StorageUse } from './messages.ts';

/** How often it is reconciled, at the next change. */
export const countEveryMs = 3_600_000;
/** If a file was refused for lack of space, the register may be wrong: it is counted again, at most this often. */
export const recountMs = 60_000;

/**
 * The difference: files, minus registered ones, minus those in pending messages. All is read in one snapshot, so concurrent changes do not
 * matter.
 */
const text = `select f.bytes - coalesce(a.bytes, 0) - m.bytes as bytes, f.files - coalesce(a.files, 0) - m.files as files
  from (select coalesce(sum(f.size_bytes), 0)::bigint as bytes, count(f.id) as files
      from workspace w join workspace_file f on f.workspace_id = w.id and f.status = 'present' where w.account_id = $1) f
    cross join (select coalesce(sum((input->>'bytes')::bigint), 0)::bigint as bytes, coalesce(sum((input->>'files')::bigint), 0)::bigint as files
      from message where shard = $2 and kind = $3 and actor_id = $1 and command = 'changed') m
    left join account_storage a on a.id = $1`;

/** Whether the register has every change that the actor `sender` has reported to it. */
export async function isRegistered(database: Pick<Database, 'read'>, accountId: string, sender: string): Promise<boolean> {
  const { kind } = accountStorage;
  const { rows } = await database.read({
    name: 'unregistered_change',
    text: `select 1 from message where shard = $1 and kind = $2 and actor_id = $3 and command = 'changed' and sender = $4 limit 1`,
    values: [shardOf(kind, accountId), kind, accountId, sender],
  });
  return rows.length === 0;
}

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
