/** Deployments, their logs, the configurations of accounts, and the snapshots that are published. */
import { Migration } from '@mikro-orm/migrations';

export class Deployments extends Migration {
  override name = '0046-deployments';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table deployment (id text primary key, account_id text not null, mode text not null, task_id text, workspace_id text not null, target text not null,
    config_id text, config json, status text not null, step text not null, effect_id text, snapshot_id text, site_id text, files integer, bytes bigint,
    provider_id text, url text, error_code text, error_message text, log_lines integer not null, created_at timestamptz(3) not null,
    completed_at timestamptz(3))`,
  `create index deployment_by_account on deployment (account_id, mode, created_at desc, id desc)`,
  `create index deployment_to_forget on deployment (created_at)`,
  `create index deployment_by_snapshot on deployment (snapshot_id)`,
  `create index deployment_by_site on deployment (site_id)`,
  `create index deployment_under_way on deployment (account_id) where completed_at is null`,
  `create index deployment_live_by_config on deployment (config_id, completed_at) where status = 'live' and mode = 'live'`,
  `create table deployment_log (deployment_id text not null, line integer not null, at timestamptz(3) not null, source text not null, text text not null,
    primary key (deployment_id, line))`,
  `create index deployment_log_to_forget on deployment_log (at)`,
  `create table deploy_configs (account_id text primary key, configs json not null)`,
  `create table snapshot (id text primary key, account_id text not null, workspace_id text not null, files integer, bytes bigint,
    new_bytes bigint, created_at timestamptz(3) not null)`,
  `create index snapshot_by_account on snapshot (account_id)`,
  `create index snapshot_under_way on snapshot (workspace_id) where files is null`,
  `create table snapshot_file (snapshot_id text not null, path text not null, account_id text not null, type text not null, size_bytes bigint not null,
    sha256 text not null, sha1 text, content_key text not null, primary key (snapshot_id, path))`,
  `create index snapshot_file_by_content on snapshot_file (content_key)`,
];
