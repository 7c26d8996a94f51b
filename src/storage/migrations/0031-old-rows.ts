/**
 * Finds old rows by an index of only those rows that are deleted by age; a stored mark shows how far deletion has got. Building an index
 * blocks commits: for a large table, housekeeping builds it concurrently (`large-tables.ts`).
 */
import { Migration } from '@mikro-orm/migrations';

export class OldRows extends Migration {
  override name = '0031-old-rows';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

/** Read and sorted in a fraction of a second. */
const smallBytes = 64 * 1024 * 1024;
const whereSmall = (table: string, statement: string): string =>
  `do $$ begin if pg_relation_size('${table}') < ${smallBytes} then ${statement}; end if; end $$`;

const statements = [
  `alter table chore add done_until timestamptz(3), add walked_at timestamptz(3)`,
  whereSmall('event', `create index event_to_forget on event (created_at) where task_id is null`),
  whereSmall(
    'command_record',
    `create index command_record_to_forget on command_record (created_at) where not starts_with(id, 'idem30_');
     create index command_record_to_forget_monthly on command_record (created_at) where starts_with(id, 'idem30_')`,
  ),
  whereSmall('webhook_delivery', `create index webhook_delivery_to_forget on webhook_delivery (created_at)`),
  whereSmall(
    'checkout',
    `create index checkout_to_forget on checkout (expires_at) where status in ('failed', 'open', 'cancelled', 'contacted', 'expired')`,
  ),
];
