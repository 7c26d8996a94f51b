/** Whether the writer of a file's version had read text that others wrote. Files that are older count as written by users. */
import { Migration } from '@mikro-orm/migrations';

export class MarksOfFiles extends Migration {
  override name = '0050-marks-of-files';

  override up(): void {
    this.addSql('alter table workspace_file add holds_untrusted boolean not null default false');
  }
}
