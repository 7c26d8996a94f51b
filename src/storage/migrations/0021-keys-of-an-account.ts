/** The number of API keys of each account, and an operator's override of the limit. */
import { Migration } from '@mikro-orm/migrations';

export class KeysOfAnAccount extends Migration {
  override name = '0021-keys-of-an-account';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table account add api_keys integer not null default 0`,
  `update account a set api_keys = k.count
    from (select account_id, count(*) from api_key where status = 'active' group by account_id) k where k.account_id = a.id`,
  `alter table account_override add api_keys bigint`,
];
