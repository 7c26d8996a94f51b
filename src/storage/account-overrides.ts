/**
 * Overrides that operators have set for single accounts, in place of the plan or of single limits. No actor owns the table: the `troupe`
 * command writes it, accounts receive it by a command, and the edge of every node reads it with the plan.
 */
import { emailKey } from '../email.ts';
import type { Plan } from '../plans.ts';
import type { Database } from './database.ts';

/** Each setting and its column. */
export const overrideColumns = {
  plan: 'plan',
  requestsPerMinute: 'requests_per_minute',
  concurrentRequests: 'concurrent_requests',
  websockets: 'websockets',
  tasksLimit: 'tasks_limit',
  credits: 'credits',
  agentMinutes: 'agent_minutes',
  concurrentTasks: 'concurrent_tasks',
  concurrentAgents: 'concurrent_agents',
  apiKeys: 'api_keys',
  storageBytes: 'storage_bytes',
  storageFiles: 'storage_files',
} as const;
export type OverrideName = keyof typeof overrideColumns;
/** Null: the plan's value; -1: unlimited. */
export type Overrides = Readonly<{ plan: Plan | null } & Record<Exclude<OverrideName, 'plan'>, number | null>>;
const names = Object.keys(overrideColumns) as OverrideName[];

const none = overridesOf({});

/** The overrides of each account, as stored in the database. */
export async function readOverrides(database: Database, accountIds: string[]): Promise<Map<string, Overrides>> {
  const { rows } = await database.read({
    name: 'account_overrides',
    text: `select account_id, ${Object.values(overrideColumns).join(', ')} from account_override where account_id = any($1)`,
    values: [accountIds],
  });
  const found = new Map(accountIds.map((id) => [id, none]));
  for (const row of rows) found.set(row.account_id, overridesOf(row));
  return found;
}

/** Most changes in one read; further ones are read next time. */
const changesPerRead = 1_000;

/** Overrides that the accounts' own rows do not contain yet. @param recentMs only those set within this time; null: all */
export async function readOverrideChanges(
  database: Database,
  recentMs: number | null,
): Promise<{ accountId: string; overrides: Overrides; changedAtMs: number }[]> {
  const { rows } = await database.read({
    name: recentMs === null ? 'override_changes' : 'recent_override_changes',
    text: `select o.*
      from account_override o join account a on a.id = o.account_id
      where (a.overrides_changed_at is null or a.overrides_changed_at < o.changed_at)
      ${recentMs === null ? '' : "and o.changed_at > now() - $1::float8 * interval '1 millisecond'"} limit ${changesPerRead}`,
    values: recentMs === null ? [] : [recentMs],
  });
  return rows.map((row) => ({ accountId: row.account_id, overrides: overridesOf(row), changedAtMs: row.changed_at }));
}

/** Sets the fields in `changes`, null to remove one; other fields stay. Returns the overrides before and after. */
export async function setOverrides(
  database: Database,
  accountId: string,
  changes: Partial<Overrides>,
): Promise<{ before: Overrides; after: Overrides }> {
  const changed = names.filter((name) => changes[name] !== undefined);
  const columns = changed.map((name) => overrideColumns[name]);
  const { rows } = await database.write({
    text: `with earlier as (select * from account_override where account_id = $1 for update),
      later as (insert into account_override (${['account_id', 'changed_at', ...columns].join(', ')})
        values (${['$1', 'clock_timestamp()', ...columns.map((_, i) => `$${i + 2}`)].join(', ')})
        on conflict (account_id) do update set ${['changed_at = clock_timestamp()', ...columns.map((column) => `${column} = excluded.${column}`)].join(', ')}
        returning *)
      select (select row_to_json(earlier) from earlier) as before, (select row_to_json(later) from later) as after`,
    values: [accountId, ...changed.map((name) => changes[name])],
  });
  return { before: overridesOf(rows[0].before ?? {}), after: overridesOf(rows[0].after) };
}

/** The account of an e-mail address, and the plan of the account; null where the address is not registered. */
export async function accountByEmail(database: Database, email: string): Promise<{ accountId: string; plan: Plan } | null> {
  const { rows } = await database.read({
    text: 'select a.id as "accountId", a.plan from email_address e join account a on a.id = e.account_id where e.id = $1',
    values: [emailKey(email)],
  });
  return rows[0] ?? null;
}

function overridesOf(row: Record<string, unknown>): Overrides {
  return Object.freeze(Object.fromEntries(names.map((name) => [name, row[overrideColumns[name]] ?? null]))) as Overrides;
}
