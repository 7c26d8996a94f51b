/**
 * The schema of a database as text, from PostgreSQL's own catalogue, in an order independent of when objects were created (except columns,
 * which keep theirs).
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';

/** Each select returns one text column. All names are without a schema: the service uses one. */
const parts: Record<string, string> = {
  settings: `select format('%s %s', c.relname, array_to_string(c.reloptions, ', ')) from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.reloptions is not null`,
  tables: `select format('%s.%s %s%s%s%s%s', c.relname, lpad(a.attnum::text, 3, '0'), a.attname, ' ' || format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end, ' default ' || pg_get_expr(d.adbin, d.adrelid),
      case when a.attidentity <> '' then ' identity ' || a.attidentity::text when a.attgenerated <> '' then ' generated' end)
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and a.attnum > 0 and not a.attisdropped`,
  partitions: `select format('%s %s', c.relname, coalesce(pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid))) from pg_class c
    where c.relnamespace = current_schema()::regnamespace and (c.relkind = 'p' or c.relispartition)`,
  constraints: `select format('%s %s %s', r.conrelid::regclass, r.conname, pg_get_constraintdef(r.oid)) from pg_constraint r
    where r.connamespace = current_schema()::regnamespace`,
  indexes: `select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace`,
  sequences: `select format('%s %s from %s by %s', sequencename, data_type, start_value, increment_by) from pg_sequences where schemaname = current_schema()`,
  views: `select format('%s as %s', c.relname, pg_get_viewdef(c.oid)) from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('v', 'm')`,
  types: `select format('%s %s', t.typname, (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)) from pg_type t
    where t.typnamespace = current_schema()::regnamespace and t.typtype in ('e', 'd')`,
  functions: `select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.prokind in ('f', 'p')`,
  triggers: `select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal`,
};

export async function schemaText(url: string): Promise<string> {
  return connected(url, async (client) => {
    const chapters: string[] = [];
    for (const [name, query] of Object.entries(parts)) chapters.push(`# ${name}\n${(await texts(client, query)).sort().join('\n')}\n`);
    return chapters.join('\n');
  });
}

/** Names of the migrations that were applied, in their order. */
export async function migrationNames(url: string): Promise<string> {
  return connected(url, async (client) => `${(await texts(client, 'select name from migration order by id')).join('\n')}\n`);
}

/** The output of `pg_dump -s`; null if it is not installed, or refuses a newer server. */
export async function dumpedSchema(url: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('pg_dump', ['-s', '--no-owner', url], { maxBuffer: 2 ** 26 });
    // A new key for each dump.
    return stdout.replace(/^\\(un)?restrict .*\n/gm, '');
  } catch (error) {
    if (/ENOENT|server version mismatch/.test((error as Error).message)) return null;
    throw error;
  }
}

async function texts(client: pg.Client, query: string): Promise<string[]> {
  const { rows } = await client.query({ text: query, rowMode: 'array' });
  return rows.map(([text]) => String(text));
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
