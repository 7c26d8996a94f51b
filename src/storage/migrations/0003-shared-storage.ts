/** What the nodes of a cluster share besides their actors: the contents of files, and the last start of each housekeeping job. */
import { Migration } from '@mikro-orm/migrations';

export class SharedStorage extends Migration {
  override name = '0003-shared-storage';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // status: `arriving` (an upload), `present` (readable under its key), `gone` (replaced or removed; readers may still read it).
  `create table file_content (id bigint generated always as identity primary key, key text not null, status text not null, size_bytes bigint not null, changed_at timestamptz(3) not null)`,
  `create index file_content_by_key on file_content (key, id) where status = 'present'`,
  `create index file_content_to_sweep on file_content (changed_at) where status <> 'present'`,
  `create table file_chunk (content_id bigint not null references file_content on delete cascade, position int not null, bytes bytea not null, primary key (content_id, position))`,
  // Not compressed, so that a part of a chunk can be read alone; most large files are compressed already.
  `alter table file_chunk alter bytes set storage external`,
  `create table chore (name text primary key, begun_at timestamptz(3) not null)`,
];
