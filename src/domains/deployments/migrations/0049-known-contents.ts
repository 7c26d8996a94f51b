/**
 * The SHA-1 of a content that earlier snapshots reference is found by one entry of the index, however many snapshots reference it. The old index has the
 * same first column. Snapshots wait while it is built.
 */
import { Migration } from '@mikro-orm/migrations';

export class KnownContents extends Migration {
  override name = '0049-known-contents';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create index snapshot_file_by_content_and_sha1 on snapshot_file (content_key, sha1)`,
  `drop index snapshot_file_by_content`,
];
