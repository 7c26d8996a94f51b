/** Strategies, each version of them, and the orders of their runs. */
import { Migration } from '@mikro-orm/migrations';

export class Strategies extends Migration {
  override name = '0037-strategies';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table strategy (id text primary key, account_id text not null, mode text not null, name text not null, type text not null, symbols json not null, config json not null, settings json not null, version int not null, status text not null, order_mode text not null, run json, due_at timestamptz(3), error text, created_at timestamptz(3) not null, updated_at timestamptz(3) not null, deleted_at timestamptz(3),
     check (status in ('stopped', 'running', 'error') and order_mode in ('paper', 'live') and (due_at is null or status = 'running')))`,
  `create index strategy_of_account on strategy (account_id, created_at desc, id desc) where deleted_at is null`,
  // The index with which nodes find runs whose next bar is complete.
  `create index strategy_due on strategy (due_at, id) where due_at is not null`,
  `create table strategy_version (strategy_id text not null, version int not null, account_id text not null, name text not null, type text not null, symbols json not null, config json not null, settings json not null, created_at timestamptz(3) not null, primary key (strategy_id, version))`,
];
