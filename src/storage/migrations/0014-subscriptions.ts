/** Plans that are paid by period, and invoices with lines. */
import { Migration } from '@mikro-orm/migrations';

export class Subscriptions extends Migration {
  override name = '0014-subscriptions';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table invoice rename column checkout_id to payment_id`,
  `alter table invoice add lines json not null default '[]', drop constraint invoice_amount_minor_check, add check (amount_minor >= 0)`,
  `alter table checkout add lines json not null default '[]'`,
  `alter table account add subscription json, add credit_minor bigint not null default 0 check (credit_minor >= 0)`,
  // A plan that was paid before renewals existed is paid until the end of its invoice's period.
  `update account a set subscription = json_build_object('plan', i.plan, 'billingPeriod', i.billing_period, 'nextBillingPeriod', i.billing_period,
      'startsAtMs', (extract(epoch from i.period_start) * 1000)::bigint, 'paidUntilMs', (extract(epoch from i.period_end) * 1000)::bigint,
      'priceMinor', i.amount_minor, 'processorId', null)
    from (select distinct on (account_id) * from invoice order by account_id, created_at desc, id desc) i where i.account_id = a.id and i.plan = a.plan`,
];
