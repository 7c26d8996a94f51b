/** How far from the quote an order's price may be: settings of an account, in hundredths of a per cent. */
import { Migration } from '@mikro-orm/migrations';

export class PriceCollars extends Migration {
  override name = '0038-price-collars';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table account_settings add price_collar_bp integer not null default 1000, add market_collar_bp integer not null default 100`,
];
