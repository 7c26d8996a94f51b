/** Scopes of tasks and agents, and what a task waits for. */
import { Migration } from '@mikro-orm/migrations';

export class Authority extends Migration {
  override name = '0018-authority';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

// The keys that created existing tasks were not recorded: such tasks keep their files, and may neither spend nor trade. See
// src/authority.ts.
const unrecorded = `'["workspaces.read","workspaces.write"]'`;

const statements = [
  `alter table task add scopes json default ${unrecorded}, add owns_workspace boolean not null default false, add waiting_for json`,
  `alter table agent add mode text not null default 'live', add scopes json default ${unrecorded}, add owns_workspace boolean not null default false, add guide_scopes json`,
  `update agent a set mode = t.mode from task t where t.id = a.task_id and t.mode <> 'live' and a.phase <> 'ended'`,
];
