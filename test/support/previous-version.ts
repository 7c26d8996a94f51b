/** The recorded statements of the version before, and their replay on a database. */
import type pg from 'pg';

/** `values`: of a commit, which is run; what has none is prepared, which holds it against tables, columns and types. */
export type RecordedStatement = { text: string; values?: unknown[] };
/** `migration`: the newest of the version that sent them. */
export type PreviousVersion = { version: string; migration: string; statements: RecordedStatement[] };

/** The same for statements that differ in the numbers of parameters alone. */
export function formOf(text: string): string {
  return text
    .replace(/\$\d+/g, '$')
    .replace(/\bw\d+ as/g, 'w as')
    .replace(/\((\$(, ?)?)+\)/g, '($)')
    .replace(/\s+/g, ' ');
}

/** Few commits that together have every part of all commits, and every other statement in each form. */
export function withoutRepeats(all: readonly RecordedStatement[]): RecordedStatement[] {
  const forms = new Set<string>();
  const kept: RecordedStatement[] = [];
  const isCommit = ({ values }: RecordedStatement) => values !== undefined;
  const size = ({ text, values = [] }: RecordedStatement) => text.length + JSON.stringify(values).length;
  // Small ones first: what they hold the large ones need not bring.
  for (const statement of all.toSorted((a, b) => size(a) - size(b))) {
    const parts = isCommit(statement) ? statement.text.split(',\n').map(formOf) : [formOf(statement.text)];
    if (parts.every((part) => forms.has(part))) continue;
    for (const part of parts) forms.add(part);
    kept.push(statement);
  }
  return kept;
}

/** Why a statement does not do what it did; null where it does. Leaves nothing behind. */
export async function replay(client: pg.Client, { text, values }: RecordedStatement): Promise<string | null> {
  await client.query('begin');
  try {
    if (values === undefined) await client.query(`prepare replayed as ${text}`);
    else if (!(await commit(client, text, values))) return 'it wrote nothing';
    await client.query('set constraints all immediate');
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

/** Gives the commit the shards it owns and the rows it consumes, and runs it. */
async function commit(client: pg.Client, text: string, values: unknown[]): Promise<boolean> {
  const owned = /from shard s join unnest\(\$(\d+)::int\[\], \$(\d+)::bigint\[\]\).*?s\.owner = \$(\d+)/s.exec(text)!;
  const [shards, epochs, owner] = [1, 2, 3].map((i) => values[Number(owned[i]) - 1]);
  await client.query(
    `update shard s set epoch = f.epoch, owner = $3 from unnest($1::int[], $2::bigint[]) f(shard, epoch) where s.shard = f.shard`,
    [shards, epochs, owner],
  );
  for (const [, table, at] of text.matchAll(/delete from (message|effect) using ok where id = any\(\$(\d+)::text\[\]\)/g)) {
    const name = table === 'message' ? 'command' : 'name';
    await client.query(
      `insert into ${table} (id, shard, kind, actor_id, ${name}, input, created_at) select id, 0, '', '', '', '{}', now() from unnest($1::text[]) id`,
      [values[Number(at) - 1]],
    );
  }
  const { rows } = await client.query({ text, values, rowMode: 'array' } as pg.QueryConfig);
  return (rows[0] as unknown as unknown[])[0] === true;
}
