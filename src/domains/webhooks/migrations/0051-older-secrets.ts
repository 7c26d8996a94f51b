/** The secrets of a webhook from before the last two, which sign for a day after their rotation. */
import { Migration } from '@mikro-orm/migrations';

export class OlderSecrets extends Migration {
  override name = '0051-older-secrets';

  override up(): void {
    this.addSql(`alter table webhook add older_secrets json not null default '[]'`);
  }
}
