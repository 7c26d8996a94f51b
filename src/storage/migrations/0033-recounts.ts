/** When the registers of an account's files and webhooks were last compared with the actual rows; null: never. */
import { Migration } from '@mikro-orm/migrations';

export class Recounts extends Migration {
  override name = '0033-recounts';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table account_storage add counted_at timestamptz(3)`,
  `alter table account_webhooks add counted_at timestamptz(3)`,
];
