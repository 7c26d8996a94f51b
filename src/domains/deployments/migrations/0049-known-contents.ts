/**
 * The SHA-1 of a content that earlier snapshots reference is found by one entry of the index, however many snapshots reference it. For a
 * large table, housekeeping builds the index concurrently (`large-tables.ts`). The index `snapshot_file_by_content`, which has the same
 * first column, is dropped there too: dropping it here would upgrade this migration's lock, while statements that have read the table wait
 * to write it.
 */
import { Migration } from '@mikro-orm/migrations';

export class KnownContents extends Migration {
  override name = '0049-known-contents';

  override up(): void {
    this.addSql(statement);
  }
}

/** Sorted in about a second. */
const smallBytes = 64 * 1024 * 1024;
const statement = `do $$ begin if pg_relation_size('snapshot_file') < ${smallBytes} then create index snapshot_file_by_content_and_sha1 on snapshot_file (content_key, sha1); end if; end $$`;
