/** Source and attempts of a dead letter, and operators' actions on dead letters. */
import { Migration } from '@mikro-orm/migrations';

export class DeadLetters extends Migration {
  override name = '0027-dead-letters';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // Null in rows of versions that did not record them.
  `alter table dead_letter add source text, add source_id text, add attempts int`,
  `create table dead_letter_action (id bigint generated always as identity primary key, letter_id text not null, action text not null, kind text not null, actor_id text not null, command text not null, error text not null, attempts int, acted_by text not null, acted_at timestamptz(3) not null default now())`,
  `create index dead_letter_action_of_letter on dead_letter_action (letter_id)`,
];
