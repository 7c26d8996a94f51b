/** Billing periods, usage, and the working tasks and agents of an account. */
import { Migration } from '@mikro-orm/migrations';

export class Accounts extends Migration {
  override name = '0006-accounts';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // A period of zero length: the first command begins the right one.
  `alter table account add pending_plan text, add period_starts_at timestamptz(3), add period_ends_at timestamptz(3), add tasks_used int not null default 0, add worked_ms bigint not null default 0, add tokens_used bigint not null default 0, add task_places json not null default '{"held":0,"waiting":[]}', add agent_places json not null default '{"held":0,"waiting":[]}', add limit_reached boolean not null default false, add overrides json, add overrides_changed_at timestamptz(3)`,
  `update account a set period_starts_at = created_at, period_ends_at = created_at, task_places = json_build_object(
     'held', (select count(*) from task t where t.account_id = a.id and t.status in ('planning', 'running', 'paused')),
     'waiting', coalesce((select json_agg(t.id order by t.created_at, t.id) from task t where t.account_id = a.id and t.status = 'pending'), '[]'))`,
  `alter table account alter period_starts_at set not null, alter period_ends_at set not null`,
  `alter table account set (fillfactor = 70)`,
  `create table agent_usage (agent_id text not null, period_starts_at timestamptz(3) not null, account_id text not null, agent_name text not null, worked_ms bigint not null, primary key (agent_id, period_starts_at))`,
  `create index agent_usage_of_account on agent_usage (account_id, period_starts_at)`,
  `alter table task add places json not null default '{}', add places_asked int not null default 0, add limit_reached boolean not null default false`,
  `update task set waiting = coalesce((select json_agg(json_build_object('agentId', w.value, 'wants', 'turn')) from json_array_elements_text(waiting) w), '[]') where waiting::text <> '[]'`,
  `create index task_started on task (account_id, id) where status in ('planning', 'running', 'paused')`,
  `alter table agent add place text not null default 'none', add worked_ms bigint not null default 0, add reported_ms bigint not null default 0`,
];
