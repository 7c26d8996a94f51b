import { Migration } from '@mikro-orm/migrations';

export class Notes extends Migration {
  override name = '9001-notes';

  override up(): void {
    this.addSql(
      'create table note (id text primary key, account_id text not null, text text not null, created_at timestamptz(3) not null)',
    );
    this.addSql('create index note_to_forget on note (created_at)');
  }
}
