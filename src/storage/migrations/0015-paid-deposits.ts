/** Checkouts that pay into a wallet: they have no plan. */
import { Migration } from '@mikro-orm/migrations';

export class PaidDeposits extends Migration {
  override name = '0015-paid-deposits';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table checkout alter plan drop not null, alter billing_period drop not null,
    add check ((plan is null) = (billing_period is null)), add check (plan is not null or amount_minor > 0)`,
];
