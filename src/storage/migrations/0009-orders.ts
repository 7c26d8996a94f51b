/** Purchase orders, checkouts, invoices. */
import { Migration } from '@mikro-orm/migrations';

export class Orders extends Migration {
  override name = '0009-orders';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table purchase_order (id text primary key, account_id text not null, description text not null, amount_minor bigint not null check (amount_minor > 0), vendor text not null, status text not null, asking text, approval_id text, payment_error text, reason text, created_at timestamptz(3) not null, approved_at timestamptz(3), rejected_at timestamptz(3), completed_at timestamptz(3),
     check ((status in ('approved', 'complete')) = (approved_at is not null) and (status = 'rejected') = (rejected_at is not null) and (status = 'complete') = (completed_at is not null)))`,
  `create index purchase_order_of_account on purchase_order (account_id, created_at desc, id desc)`,

  `create table checkout (id text primary key, account_id text not null, user_id text not null, plan text not null, billing_period text not null, amount_minor bigint not null check (amount_minor >= 0), success_url text, cancel_url text, status text not null, created_at timestamptz(3) not null, expires_at timestamptz(3) not null, decided_at timestamptz(3))`,

  `create table invoice (id text primary key, account_id text not null, checkout_id text not null unique, plan text not null, billing_period text not null, amount_minor bigint not null check (amount_minor > 0), status text not null, period_start timestamptz(3) not null, period_end timestamptz(3) not null, created_at timestamptz(3) not null)`,
  `create index invoice_of_account on invoice (account_id, created_at desc, id desc)`,
];
