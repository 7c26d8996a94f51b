/** Operators' overrides for single accounts, in place of their plan's limits. */
import { Migration } from '@mikro-orm/migrations';

export class AccountOverrides extends Migration {
  override name = '0004-account-overrides';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // Rows are never deleted, so that a reader of changes sees every change.
  `create table account_override (account_id text primary key, plan text, requests_per_minute bigint, concurrent_requests bigint, websockets bigint, tasks_limit bigint, credits bigint, agent_minutes bigint, concurrent_tasks bigint, concurrent_agents bigint, changed_at timestamptz(3) not null)`,
  `create index account_override_by_change on account_override (changed_at)`,
];
