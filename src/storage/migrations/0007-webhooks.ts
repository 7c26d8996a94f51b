/** Webhooks, and the records of their deliveries. */
import { Migration } from '@mikro-orm/migrations';

export class Webhooks extends Migration {
  override name = '0007-webhooks';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // The row is updated after every few deliveries: room in the page, so that no index changes.
  `create table webhook (id text primary key, shard int not null, account_id text not null, user_id text not null, url text not null, events json not null, secret text not null, old_secret text, old_secret_expires_at timestamptz(3), status text not null, disabled_reason text, run int not null, cursor bigint not null, lanes json not null, asked json not null, created_at timestamptz(3) not null, active_since timestamptz(3) not null) with (fillfactor = 50)`,
  `create index webhook_by_shard on webhook (shard, id)`,
  `create index webhook_of_account on webhook (account_id, created_at)`,
  `create table webhook_delivery (webhook_id text not null, id text not null, seq bigint not null, type text not null, status text not null, attempts int not null, response_status int, response_body text, error text, duration_ms int, created_at timestamptz(3) not null, attempted_at timestamptz(3), next_attempt_at timestamptz(3), primary key (webhook_id, id))`,
  // Deliveries that failed or are pending are few, and are what people search for.
  `create index webhook_delivery_to_mind on webhook_delivery (webhook_id, id) where status <> 'delivered'`,
  `create index webhook_delivery_by_time on webhook_delivery using brin (created_at)`,
];
