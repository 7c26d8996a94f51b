/**
 * The commit of a statement that begins with this does not wait for the disk, and makes no commit of callers wait for it; the statement must read from
 * `unsynced`. For rows that nothing relies on before a later commit: PostgreSQL writes its log in order, so when that commit is on the disk these are too.
 * A crash of the server loses only rows that nothing references.
 */
export const unsynced = `unsynced as materialized (select set_config('synchronous_commit', 'off', true))`;
