/**
 * A database like that of a managed service: the role owns one schema and has no other privileges. It is not a superuser, may create
 * nothing else in the database, and cannot signal connections of other roles.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type TestDatabase, testDatabase } from './database.ts';

/** What any role may use as PostgreSQL comes, and `server-functions.ts` and `database-history.ts` do: refused to this one where a test says so. */
const refusals = [
  'revoke select on pg_stat_activity from public',
  'revoke execute on function pg_terminate_backend(int, bigint) from public',
  'revoke execute on function pg_try_advisory_lock(bigint), pg_try_advisory_lock_shared(bigint), pg_advisory_lock(bigint) from public',
  'revoke execute on function pg_control_system(), pg_current_wal_flush_lsn(), pg_walfile_name(pg_lsn) from public',
];

/** Empty. `adminUrl` is for reading what the role may not read. */
export async function plainRoleDatabase({ refused = false } = {}): Promise<TestDatabase & { adminUrl: string }> {
  const kept = await testDatabase({ empty: true });
  const role = `plain_${randomBytes(6).toString('hex')}`;
  const name = new URL(kept.url).pathname.slice(1);
  const password = randomBytes(12).toString('hex');
  await asAdmin(kept.url, [
    `create role ${role} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${password}'`,
    `revoke all on database ${name} from public`,
    `grant connect on database ${name} to ${role}`,
    'revoke all on schema public from public',
    `create schema app authorization ${role}`,
    `alter role ${role} set search_path = app`,
    ...(refused ? refusals : []),
  ]);
  const url = new URL(kept.url);
  url.username = role;
  url.password = password;
  return {
    url: url.href,
    adminUrl: kept.url,
    async close() {
      const server = new URL(kept.url);
      server.pathname = '/postgres';
      await kept.close();
      await asAdmin(server.href, [`drop role ${role}`]);
    },
  };
}

async function asAdmin(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
