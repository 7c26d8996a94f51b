/** Connections to brokers; and orders at brokers, as polls look for them. */
import { Migration } from '@mikro-orm/migrations';

export class Brokers extends Migration {
  override name = '0035-brokers';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table broker_connection (id text primary key, shard int not null, account_id text not null, mode text not null, broker_name text not null, order_mode text not null, filled_by text not null, credentials text not null, status text not null, error text, adopted boolean not null, since timestamptz(3) not null, earlier json not null, cursor text, halt json, created_at timestamptz(3) not null, removed_at timestamptz(3),
     check (status in ('connected', 'error') and order_mode in ('paper', 'live') and filled_by in ('broker', 'embedded')))`,
  `create index broker_connection_of_account on broker_connection (account_id, mode, created_at desc, id desc) where removed_at is null`,
  `create index broker_connection_of_shard on broker_connection (shard, id) where removed_at is null`,
  `create index trading_order_open_at_broker on trading_order (broker_key) where filled_by = 'broker' and status in ('submitted', 'accepted', 'partially_filled')`,
  `create index trading_order_by_broker_order on trading_order (broker_key, (state ->> 'brokerOrderId')) where filled_by = 'broker'`,
];
