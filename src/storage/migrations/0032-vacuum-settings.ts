/**
 * Tables whose rows are often inserted, deleted or updated are vacuumed after some thousand dead rows, at full speed; the default is a
 * fifth of the rows, slowly. Their files are not truncated: truncation takes a lock that blocks commits, and the space is needed again at
 * once.
 */
import { Migration } from '@mikro-orm/migrations';

export class VacuumSettings extends Migration {
  override name = '0032-vacuum-settings';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const queues = ['message', 'timer', 'effect'];
const changed = ['event_counter', 'commit_marker', 'shard', 'canary', 'throttle', 'idempotency_key'];

const statements = [...queues, ...changed].map(
  (table) =>
    `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 2000, vacuum_truncate = false)`,
);
