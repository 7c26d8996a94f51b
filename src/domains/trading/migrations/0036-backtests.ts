/** Backtests and sweeps: what was asked for, and its figures. Curves and lists are in the file store. */
import { Migration } from '@mikro-orm/migrations';

export class Backtests extends Migration {
  override name = '0036-backtests';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const columns = `id text primary key, account_id text not null, mode text not null, strategy_id text, strategy_version integer, request json not null,
  status text not null, progress integer not null, error text, result json, files json, effect_id text, created_at timestamptz(3) not null,
  completed_at timestamptz(3)`;

const tableOf = (name: string) => [
  `create table ${name} (${columns})`,
  `create index ${name}_by_account on ${name} (account_id, mode, created_at desc, id desc)`,
  `create index ${name}_running on ${name} (account_id) where status = 'running'`,
  `create index ${name}_by_strategy on ${name} (strategy_id, strategy_version) where strategy_id is not null`,
];

const statements = [...tableOf('backtest'), ...tableOf('sweep')];
