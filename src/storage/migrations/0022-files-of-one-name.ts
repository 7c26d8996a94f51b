/** A deleted name that is used again is another file, with its own id. Files of a workspace are counted on reading. */
import { Migration } from '@mikro-orm/migrations';

export class FilesOfOneName extends Migration {
  override name = '0022-files-of-one-name';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table workspace_file add file_id text, add generation int not null default 1`,
  `create index workspace_file_by_file_id on workspace_file (file_id) where file_id is not null`,
  `create index workspace_file_present on workspace_file (workspace_id) where status = 'present'`,
];
