/** A card and its wallet are debited in one commit: nothing is reserved in between. */
import { Migration } from '@mikro-orm/migrations';

export class OneBreath extends Migration {
  override name = '0013-one-breath';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table card drop column reserved_minor, drop column next_number, drop column decided_below, drop column decided_ahead, add check (spent_minor >= 0 and spent_minor <= spend_limit_minor)`,
  // Earlier cards are on shards given by their ids, not on those of their wallets.
  `update card set status = 'cancelled'`,
];
