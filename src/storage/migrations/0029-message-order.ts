/** Who sent a message, and a number by which the messages of one sender stand in its order whatever its node's clock says. */
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
  // Two steps: a default that draws numbers would write the table anew. What stands there stays first, in the order of its ids.
  `alter table message add sender text, add seq bigint not null default 0`,
  `alter table message alter seq set default nextval('message_seq')`,
  `create index message_in_order on message (shard, seq)`,
  // Nothing but its reading depends on the index before it; an older node reads by the primary key.
  `drop index message_by_shard`,
];
