/**
 * What the service asks of PostgreSQL beyond tables: other connections of the same role, and advisory locks. Any role may use them by
 * default, but an operator can take them away and some services do not have them. So all of it is optional: where it is refused the service
 * does without. No guarantee rests on it: epochs alone fence commits.
 *
 * Without it: a claim waits for what a dead owner has on its way, two seconds at most, then leaves those rows for later; shards of a dead
 * owner are served after a read lease; a second node without a cluster is not refused at its start; several nodes may begin the same job.
 */
import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Ends connections of these names, but not this one. Also one whose statement waits for a lock. */
export async function endConnections(on: Queryable, names: readonly string[]): Promise<void> {
  await unlessRefused(on.query(`select pg_terminate_backend(pid) ${ofThisRole} and application_name = any($1)`, [names]));
}

/** Ends the connection of this name that this server process serves. */
export async function endConnection(on: Queryable, name: string, pid: number): Promise<void> {
  await unlessRefused(on.query(`select pg_terminate_backend(pid) ${ofThisRole} and application_name = $1 and pid = $2`, [name, pid]));
}

/** Ends all connections whose name begins so, but for that one. `prefix` holds no wildcard. */
export async function endConnectionsLike(on: Queryable, prefix: string, spared: string | null): Promise<void> {
  const text = `select pg_terminate_backend(pid) ${ofThisRole} and application_name like $1 and application_name is distinct from $2`;
  await unlessRefused(on.query(text, [`${prefix}%`, spared]));
}

/**
 * The names of this role's connections that begin with `troupe `. Null where the database does not tell, also where a pooler on the way
 * changes names: then that of `own`, a connection that certainly is there, is missing.
 */
export async function connectionNames(on: Queryable, own: string): Promise<Set<string> | null> {
  const text = `select distinct application_name as name from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name like 'troupe %'`;
  const result = await unlessRefused(on.query<{ name: string }>(text));
  const names = new Set(result?.rows.map(({ name }) => name));
  return names.has(own) ? names : null;
}

/** False: another session holds it. True also where the database has no such locks. */
export async function tryAdvisoryLock(on: Queryable, key: number, mode: 'exclusive' | 'shared' = 'exclusive'): Promise<boolean> {
  const result = await unlessRefused(on.query(`select pg_try_advisory_lock${mode === 'shared' ? '_shared' : ''}($1) as taken`, [key]));
  return result?.rows[0].taken ?? true;
}

/** Whether a connection of that name holds it: one that was ended takes a moment to let go. False where nobody can tell. */
export async function holdsAdvisoryLock(on: Queryable, key: number, name: string): Promise<boolean> {
  const text = `select from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' and l.classid = 0 and l.objid = $1
    and a.datname = current_database() and a.application_name = $2`;
  const result = await unlessRefused(on.query(text, [key, name]));
  return result !== null && result.rows.length > 0;
}

/** Waits until no other session holds it. Returns at once where the database has no such locks. */
export async function takeAdvisoryLock(on: Queryable, key: number): Promise<void> {
  await unlessRefused(on.query('select pg_advisory_lock($1)', [key]));
}

export type SnapshotHolder = {
  /** Another one as soon as the same session has another snapshot. */
  id: string;
  /** Null where the role may not see it: of sessions of other roles. */
  openForS: number | null;
};

/**
 * Who keeps PostgreSQL from cleaning up rows of this database that were deleted or replaced since: sessions with a snapshot or a transaction
 * that has written, replicas, prepared transactions, replication slots. Null where the database does not tell.
 */
export async function snapshotHolders(on: Queryable): Promise<SnapshotHolder[] | null> {
  // Any role sees of any session which transaction it holds back, though not since when. PostgreSQL's own workers have no user and do not count.
  const text = `select concat_ws(' ', 'session', pid, backend_xmin, backend_xid) as id, extract(epoch from clock_timestamp() - xact_start)::float8 as "openForS"
      from pg_stat_activity where (datname = current_database() or datid is null) and usesysid is not null and pid <> pg_backend_pid()
      and (backend_xmin is not null or backend_xid is not null)
    union all select concat_ws(' ', 'prepared', gid), extract(epoch from clock_timestamp() - prepared)::float8 from pg_prepared_xacts where database = current_database()
    union all select concat_ws(' ', 'slot', slot_name, xmin), null from pg_replication_slots where xmin is not null`;
  return (await unlessRefused(on.query<SnapshotHolder>(text)))?.rows ?? null;
}

/** What of this file the database refuses this role: empty with any PostgreSQL as it comes. */
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

async function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (refusals.has((error as { code?: string }).code ?? '')) return null;
    throw error;
  }
}
