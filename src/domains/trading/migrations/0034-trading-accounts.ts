/** Trading accounts with their journal, orders, fills, and the ids of orders that callers chose. */
import { Migration } from '@mikro-orm/migrations';

export class TradingAccounts extends Migration {
  override name = '0034-trading-accounts';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table trading_account (id text primary key, account_id text not null, mode text not null, books json not null, strategy_books json not null,
    open json not null, limits json not null, marks json not null, shares json not null, actions json not null, halted_at timestamptz(3), halt_reason text,
    halt_cancels json not null, entries int not null, watched boolean not null, created_at timestamptz(3) not null)`,
  `create index trading_account_watched on trading_account (id) where watched`,
  `create table trading_entry (trading_account_id text not null, seq int not null, broker_key text not null, entry json not null, action_id text,
    created_at timestamptz(3) not null, primary key (trading_account_id, seq))`,
  `create table trading_order (id text primary key, account_id text not null, mode text not null, order_mode text not null, client_order_id text,
    broker_key text not null, broker_name text not null, filled_by text not null, symbol text not null, asset_class text not null, side text not null,
    quantity text not null, order_type text not null, limit_price text, stop_price text, time_in_force text not null, status text not null,
    state json not null, body text, outbound json, cancelling json, sent_at timestamptz(3), held boolean not null, parent_id text, role text, managed_by text,
    replaces text, external boolean not null, strategy_id text, task_id text, created_at timestamptz(3) not null, updated_at timestamptz(3) not null)`,
  `create index trading_order_by_account on trading_order (account_id, mode, id desc)`,
  `create index trading_order_by_client_id on trading_order (account_id, mode, client_order_id) where client_order_id is not null`,
  `create index trading_order_by_parent on trading_order (parent_id) where parent_id is not null`,
  `create table trading_fill (id text primary key, trading_account_id text not null, seq int not null, order_id text not null, broker_key text not null,
    strategy_id text, symbol text not null, side text not null, quantity text not null, price text not null, commission text not null, key text not null,
    broker_fill_id text, position_quantity text not null, at timestamptz(3) not null, created_at timestamptz(3) not null)`,
  `create unique index trading_fill_by_order on trading_fill (order_id, key)`,
  `create unique index trading_fill_by_account on trading_fill (trading_account_id, seq)`,
  `create table client_order (id text primary key, trading_account_id text not null, client_order_id text not null, order_id text not null,
    created_at timestamptz(3) not null)`,
];
