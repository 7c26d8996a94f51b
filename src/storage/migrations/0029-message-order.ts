/** The sender of a message, and a number that orders the messages of one sender independently of its node's clock. */
import { Migration } from '@mikro-orm/migrations';

export class MessageOrder extends Migration {
  override name = '0029-message-order';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // Without a cache: each number is larger than all that any session has drawn before.
  `create sequence message_seq cache 1`,
  // Two steps: adding a column with a default that draws numbers would rewrite the table. Existing rows stay first, in the order of their
  // ids.
  `alter table message add sender text, add seq bigint not null default 0`,
  `alter table message alter seq set default nextval('message_seq')`,
  `create index message_in_order on message (shard, seq)`,
  // The dropped index served only this read; an older node reads by the primary key instead.
  `drop index message_by_shard`,
];
