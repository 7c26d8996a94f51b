/**
 * Who may have begun an effect that is found in the database. Where that process has ended without a word, the effect is suspected to have ended it.
 * A process that stops in order says so in `ended_owner`: what it leaves unfinished is suspected of nothing.
 */
import type { Placement } from '../cluster/placement.ts';
import type { EffectDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';

/** The process that has begun it, should anybody: what another than its recorder begins is marked first. */
export function holderOf({ startedBy, recordedBy }: EffectDraft): string | null {
  return startedBy ?? recordedBy;
}

/**
 * The ids of those that may have ended the process that ran them.
 *
 * @param orphaned shards that this node has taken from a dead owner, also where not all has been taken from it yet
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
  const inOrder = new Set(rows.map(({ owner }) => owner as string));
  return new Set(abandoned.filter((effect) => !inOrder.has(holderOf(effect)!)).map(({ id }) => id));
}

/** To be called when nothing of this process runs any more. */
export async function endInOrder(database: Database, owner: string): Promise<void> {
  await database.write({
    name: 'end_in_order',
    text: 'insert into ended_owner (owner) values ($1) on conflict do nothing',
    values: [owner],
  });
}
