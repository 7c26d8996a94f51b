/** E-mail addresses that are verified before they count. Users from before count as verified. */
import { Migration } from '@mikro-orm/migrations';

export class EmailVerification extends Migration {
  override name = '0020-email-verification';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table app_user add email_verified boolean not null default true, add pending_email json, add verifications json not null default '[]'`,
];
