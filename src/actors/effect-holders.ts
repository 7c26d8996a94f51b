/**
 * The process that may have started an effect found in the database. If that process died, the effect is suspected to have killed it. A
 * process that stops cleanly is recorded in `ended_owner`: its unfinished effects are not suspects.
 */
import type { Placement } from '../cluster/placement.ts';
import type { EffectDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';

/** The process that may have started it: if another process than the recorder starts it, `startedBy` is committed first. */
export function holderOf({ startedBy, recordedBy }: EffectDraft): string | null {
  return startedBy ?? recordedBy;
}

/**
 * The ids of effects that may have killed the process that ran them.
 *
 * @param orphaned shards that this node has taken from a dead owner, even if it has not taken all of the owner's shards yet
 */
export async function suspectedOf(
  effects: readonly EffectDraft[],
  { database, placement }: { database: Database; placement: Placement },
  orphaned: ReadonlySet<number>,
): Promise<Set<string>> {
  const abandoned = effects.filter((effect) => {
    const holder = holderOf(effect);
    return holder !== null && holder !== placement.owner && (orphaned.has(effect.shard) || !placement.isAlive(holder));
  });
  if (abandoned.length === 0) return new Set();
  const { rows } = await database.read({
    name: 'ended_owners',
    text: 'select owner from ended_owner where owner = any($1)',
    values: [[...new Set(abandoned.map(holderOf))]],
  });
  const stoppedCleanly = new Set(rows.map(({ owner }) => owner as string));
  return new Set(abandoned.filter((effect) => !stoppedCleanly.has(holderOf(effect)!)).map(({ id }) => id));
}

/** Call it when nothing of this process runs any more. */
export async function recordCleanStop(database: Database, owner: string): Promise<void> {
  await database.write({
    name: 'end_in_order',
    text: 'insert into ended_owner (owner) values ($1) on conflict do nothing',
    values: [owner],
  });
}
