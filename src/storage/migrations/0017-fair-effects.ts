/** Account, recording incarnation and restarts of an effect; incarnations that have stopped in order. */
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
