/** The first tables: runtime, identity, work. Written by hand, so that indexes, fill factors and checks are chosen, not generated. */
import { Migration } from '@mikro-orm/migrations';

export class FirstTables extends Migration {
  override name = '0001-first-tables';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // Rows that are updated often leave room in their page, so that an update changes no index (HOT).
  `create table shard (shard int primary key, epoch bigint not null, owner text) with (fillfactor = 50)`,
  `insert into shard (shard, epoch) select i, 0 from generate_series(0, 1023) i`,
  `create table commit_marker (owner text primary key, batch bigint not null, committed_at timestamptz(3) not null default now()) with (fillfactor = 50)`,
  `create table event_counter (account_id text primary key, last_seq bigint not null) with (fillfactor = 70)`,
  `create table event (account_id text not null, seq bigint not null, id text not null, type text not null, task_id text, data json not null, created_at timestamptz(3) not null, primary key (account_id, seq))`,
  `create index event_of_task on event (task_id, seq) where task_id is not null`,
  `create index event_by_time on event using brin (created_at)`,
  `create table message (id text primary key, shard int not null, kind text not null, actor_id text not null, command text not null, input json not null, created_at timestamptz(3) not null)`,
  `create index message_by_shard on message (shard, id)`,
  `create table timer (kind text not null, actor_id text not null, name text not null, shard int not null, command text not null, input json not null, due_at timestamptz(3) not null, primary key (kind, actor_id, name))`,
  `create index timer_by_shard on timer (shard, due_at)`,
  `create table effect (id text primary key, shard int not null, kind text not null, actor_id text not null, name text not null, input json not null, started_by text, created_at timestamptz(3) not null)`,
  `create index effect_by_shard on effect (shard, id)`,
  `create table command_record (id text primary key, reply json, created_at timestamptz(3) not null)`,
  `create index command_record_by_time on command_record using brin (created_at)`,
  `create table dead_letter (id text primary key, kind text not null, actor_id text not null, command text not null, input json not null, error text not null, created_at timestamptz(3) not null)`,
  `create table idempotency_key (account_id text not null, key text not null, fingerprint text not null, target_id text not null, command_id text not null, reserved_by text not null, reserved_at timestamptz(3) not null, status int, response text, expires_at timestamptz(3) not null, primary key (account_id, key))`,
  `create index idempotency_key_by_expiry on idempotency_key (expires_at)`,
  `create table canary (id text primary key, beats bigint not null) with (fillfactor = 50)`,
  // Called by the commit statement: if a row that a turn consumes no longer exists, the whole statement is rolled back.
  `create function all_there(gone bigint, expected int) returns boolean language plpgsql as $$
   begin
     if gone <> expected then raise exception 'a message or an effect was already consumed' using errcode = 'TR001'; end if;
     return true;
   end $$`,

  `create table account (id text primary key, plan text not null, created_at timestamptz(3) not null)`,
  `create table app_user (id text primary key, account_id text not null, email text not null, name text, password_hash text not null, created_at timestamptz(3) not null)`,
  `create index app_user_of_account on app_user (account_id)`,
  `create table email_address (id text primary key, user_id text not null, account_id text not null, registration_id text not null, unfinished json, created_at timestamptz(3) not null)`,
  `create table session (id text primary key, user_id text not null, account_id text not null, status text not null, refresh_hash text not null, refresh_expires_at timestamptz(3) not null, created_at timestamptz(3) not null)`,
  `create index session_of_user on session (user_id)`,
  `create table api_key (id text primary key, account_id text not null, user_id text not null, name text not null, secret_hash text not null unique, last_four text not null, mode text not null, scopes json not null, status text not null, created_at timestamptz(3) not null, last_used_at timestamptz(3))`,
  `create index api_key_of_account on api_key (account_id, created_at)`,

  `create table task (id text primary key, account_id text not null, user_id text not null, mode text not null, status text not null, pause_reason text, prompt text not null, config json not null, workspace_id text not null, agents json not null, approvals json not null, plan_effect_id text, granted json not null, waiting json not null, deliverables json not null, tokens_used int not null, cost_millicents bigint not null, error text, created_at timestamptz(3) not null, updated_at timestamptz(3) not null, completed_at timestamptz(3)) with (fillfactor = 70)`,
  `create index task_of_account on task (account_id, created_at, id)`,
  `create table agent (id text primary key, task_id text not null, account_id text not null, workspace_id text not null, type text not null, title text not null, prompt text not null, autonomy_level int not null, model text, output_schema json, status text not null, current_tool text, progress int not null, turn int not null, phase text not null, effect_id text, calls json not null, guidance json not null, approvals json not null, bad_turns int not null, repeated json not null, steps int not null, output_refusals int not null, tokens_used int not null, cost_millicents bigint not null, model_used text, result text, error text, created_at timestamptz(3) not null, updated_at timestamptz(3) not null) with (fillfactor = 70)`,
  `create index agent_of_task on agent (task_id)`,
  `create table agent_step (agent_id text not null, step int not null, entry json not null, created_at timestamptz(3) not null, primary key (agent_id, step))`,
  `create table workspace (id text primary key, account_id text not null, name text not null, description text, status text not null, file_count int not null, created_at timestamptz(3) not null)`,
  `create index workspace_of_account on workspace (account_id, created_at, id)`,
  `create table workspace_name (id text primary key, workspace_id text not null)`,
  `create table workspace_file (id text primary key, workspace_id text not null, account_id text not null, name text not null, type text not null, size_bytes bigint not null, sha256 text not null, version int not null, content_key text not null, status text not null, created_at timestamptz(3) not null)`,
  `create index workspace_file_of_workspace on workspace_file (workspace_id, created_at, id)`,
  `create table deliverable (id text primary key, task_id text not null, account_id text not null, name text not null, type text not null, size_bytes bigint not null, sha256 text not null, content_key text not null, created_at timestamptz(3) not null)`,
  `create index deliverable_of_task on deliverable (task_id, created_at)`,
  `create index deliverable_by_content on deliverable (content_key)`,
];
