/** Agents that use tools of connected services, and the account's setting for text of others. */
import { Migration } from '@mikro-orm/migrations';

export class ConnectedTools extends Migration {
  override name = '0040-connected-tools';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table agent add allow_connect boolean not null default false, add connections json not null default '[]', add holds_untrusted boolean not null default false, add waiting_service text`,
  `alter table task add holds_untrusted boolean not null default false`,
  `alter table account_settings add trust_tool_content boolean not null default false`,
  // For look-ups of the few agents of an account that have not ended.
  `create index agent_running on agent (account_id) where phase <> 'ended'`,
];
