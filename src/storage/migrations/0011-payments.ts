/** Checkouts that are paid at a payment processor, and its charges for the following periods. */
import { Migration } from '@mikro-orm/migrations';

export class Payments extends Migration {
  override name = '0011-payments';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table checkout add session_id text, add page_url text, add payer json`,
  `create table renewal (id text primary key, account_id text not null, plan text not null, billing_period text not null, payer json not null, paid_until timestamptz(3) not null, status text not null, arrangement integer not null, processor_id text, created_at timestamptz(3) not null, failing_since timestamptz(3))`,
];
