/** How often each shard's row has been changed, for any epochs. */
import { shardCount } from '../../src/cluster/address.ts';
import type { Json } from './json.ts';

type Sql = (text: string) => Promise<readonly Json[]>;

/** Counts from now on. Returns what reads the counts, by shard. */
export async function countShardChanges(sql: Sql): Promise<() => Promise<number[]>> {
  await sql('create table shard_change (shard int)');
  await sql(`create function note_shard_change() returns trigger language plpgsql as $$ begin
    insert into shard_change values (new.shard); return null; end $$`);
  await sql('create trigger note_shard_change after update on shard for each row execute function note_shard_change()');
  return async () => {
    const counts: number[] = new Array(shardCount).fill(0);
    for (const { shard, changes } of await sql('select shard, count(*)::int as changes from shard_change group by shard'))
      counts[shard] = changes;
    return counts;
  };
}
