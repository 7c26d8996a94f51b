/** Free space in pages of rows that change often: an update within its page needs no index entries. */
import { Migration } from '@mikro-orm/migrations';

export class RoomForUpdates extends Migration {
  override name = '0045-room-for-updates';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table trading_account set (fillfactor = 50)`,
  // Most orders are changed once, soon after they are placed.
  `alter table trading_order set (fillfactor = 65)`,
];
