/** The stored bytes and files of each account, and an operator's overrides of their limits. */
import { Migration } from '@mikro-orm/migrations';

export class AccountStorageUse extends Migration {
  override name = '0024-account-storage';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table account_storage (id text primary key, bytes bigint not null, files bigint not null, reserved json not null)`,
  `insert into account_storage select account_id, sum(size_bytes), count(*), '[]' from workspace_file where status = 'present' group by account_id`,
  `alter table account_override add storage_bytes bigint, add storage_files bigint`,
];
