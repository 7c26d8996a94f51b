/** Idempotency keys of commerce and trading are kept for a month; a secret in their answers is not. */
import { Migration } from '@mikro-orm/migrations';

export class LastingKeys extends Migration {
  override name = '0010-lasting-keys';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table idempotency_key add column secret_response text, add column secret_until timestamptz(3)`,
  `create index idempotency_key_by_secret on idempotency_key (secret_until) where secret_until is not null`,
];
