/**
 * The functions of PostgreSQL that the service uses besides tables: other connections of the same role, and advisory locks. By default any
 * role may use them, but an operator can revoke them and some services lack them. So all of them are optional: if one is refused, the
 * service works without it. No guarantee depends on them: epochs alone fence commits.
 *
 * Without them: a claim waits at most two seconds for a dead owner's statements, then leaves their rows for later; shards of a dead owner
 * are served after a read lease; a second single node is not refused at its start; several nodes may start the same job.
 */
import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Ends connections with these names, except this one; also one whose statement waits for a lock. */
export async function endConnections(on: Queryable, names: readonly string[]): Promise<void> {
  await unlessRefused(on.query(`select pg_terminate_backend(pid) ${ofThisRole} and application_name = any($1)`, [names]));
}

/** Ends the connection with this name and this server process. */
export async function endConnection(on: Queryable, name: string, pid: number): Promise<void> {
  await unlessRefused(on.query(`select pg_terminate_backend(pid) ${ofThisRole} and application_name = $1 and pid = $2`, [name, pid]));
}

/** Ends all connections whose name begins with `prefix`, except the one named `spared`. `prefix` contains no wildcard. */
export async function endConnectionsLike(on: Queryable, prefix: string, spared: string | null): Promise<void> {
  const text = `select pg_terminate_backend(pid) ${ofThisRole} and application_name like $1 and application_name is distinct from $2`;
  await unlessRefused(on.query(text, [`${prefix}%`, spared]));
}

/**
 * The names of this role's connections that begin with `troupe `. Null if the database does not show them, or if a pooler changes names:
 * then `own`, the name of an existing connection, is missing.
 */
export async function connectionNames(on: Queryable, own: string): Promise<Set<string> | null> {
  const text = `select distinct application_name as name from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name like 'troupe %'`;
  const result = await unlessRefused(on.query<{ name: string }>(text));
  const names = new Set(result?.rows.map(({ name }) => name));
  return names.has(own) ? names : null;
}

/** False: another session holds it. Also true if the database has no advisory locks. */
export async function tryAdvisoryLock(on: Queryable, key: number, mode: 'exclusive' | 'shared' = 'exclusive'): Promise<boolean> {
  const result = await unlessRefused(on.query(`select pg_try_advisory_lock${mode === 'shared' ? '_shared' : ''}($1) as taken`, [key]));
  return result?.rows[0].taken ?? true;
}

/**
 * Whether a connection with that name holds it: a connection that was ended releases it with a delay. False if the database does not show
 * locks.
 */
export async function holdsAdvisoryLock(on: Queryable, key: number, name: string): Promise<boolean> {
  const text = `select from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' and l.classid = 0 and l.objid = $1
    and a.datname = current_database() and a.application_name = $2`;
  const result = await unlessRefused(on.query(text, [key, name]));
  return result !== null && result.rows.length > 0;
}

/** Waits until no other session holds it. Returns at once if the database has no advisory locks. */
export async function takeAdvisoryLock(on: Queryable, key: number): Promise<void> {
  await unlessRefused(on.query('select pg_advisory_lock($1)', [key]));
}

export type SnapshotHolder = {
  /** Changes when the same session has another snapshot. */
  id: string;
  /** Null if the role may not see it, for sessions of other roles. */
  openForS: number | null;
};

/**
 * What keeps PostgreSQL from cleaning up deleted or replaced rows of this database: sessions with a snapshot or a writing transaction,
 * replicas, prepared transactions, replication slots. Null if the database does not show it.
 */
export async function snapshotHolders(on: Queryable): Promise<SnapshotHolder[] | null> {
  // Any role sees which transaction a session holds back, but not since when. PostgreSQL's own workers have no user and are left out.
  const text = `select concat_ws(' ', 'session', pid, backend_xmin, backend_xid) as id, extract(epoch from clock_timestamp() - xact_start)::float8 as "openForS"
      from pg_stat_activity where (datname = current_database() or datid is null) and usesysid is not null and pid <> pg_backend_pid()
      and (backend_xmin is not null or backend_xid is not null)
    union all select concat_ws(' ', 'prepared', gid), extract(epoch from clock_timestamp() - prepared)::float8 from pg_prepared_xacts where database = current_database()
    union all select concat_ws(' ', 'slot', slot_name, xmin), null from pg_replication_slots where xmin is not null`;
  return (await unlessRefused(on.query<SnapshotHolder>(text)))?.rows ?? null;
}

/** The functions of this file that the database refuses this role: empty with PostgreSQL's defaults. */
export async function refusedFunctions(on: Queryable): Promise<string[]> {
  const tries = {
    pg_stat_activity: 'select from pg_stat_activity limit 0',
    pg_terminate_backend: `select has_function_privilege('pg_terminate_backend(int, bigint)', 'execute') as allowed`,
    pg_try_advisory_lock: `select has_function_privilege('pg_try_advisory_lock(bigint)', 'execute') as allowed`,
  };
  const refused: string[] = [];
  for (const [name, text] of Object.entries(tries)) {
    const result = await unlessRefused(on.query(text));
    if (result === null || result.rows[0]?.allowed === false) refused.push(name);
  }
  return refused;
}

const ofThisRole = `from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`;

/** insufficient_privilege, undefined_function, undefined_table, feature_not_supported */
const refusals = new Set(['42501', '42883', '42P01', '0A000']);

async function unlessRefused<T>(pending: Promise<T>): Promise<T | null> {
  try {
    return await pending;
  } catch (error) {
    if (refusals.has((error as { code?: string }).code ?? '')) return null;
    throw error;
  }
}
