/** Whose an effect is, who recorded it and how often it was begun again; which processes have ended in order. */
import { Migration } from '@mikro-orm/migrations';

export class FairEffects extends Migration {
  override name = '0017-fair-effects';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table effect add account_id text, add recorded_by text, add starts int not null default 0`,
  `create table ended_owner (owner text primary key, ended_at timestamptz(3) not null default now())`,
];
