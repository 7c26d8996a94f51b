/** MCP servers that accounts have connected. */
import { Migration } from '@mikro-orm/migrations';

export class McpServers extends Migration {
  override name = '0041-mcp-servers';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table mcp_server (id text primary key, account_id text not null, mode text not null, name text not null, url text not null,
    header_names json not null, secrets text not null, status text not null, reason text, tools json not null, listed_at timestamptz(3), authority json,
    authorize_url text, authorize_until timestamptz(3), redirect_uri text, generation integer not null, renewable boolean not null,
    expires_at timestamptz(3), renew_at timestamptz(3), refresh_effect_id text, created_at timestamptz(3) not null, removed_at timestamptz(3))`,
  `create index mcp_server_of_account on mcp_server (account_id, mode, created_at desc, id desc) where removed_at is null`,
];
