/** Second factors, password resets, released addresses, counts of failed sign-ins, and settings. */
import { Migration } from '@mikro-orm/migrations';

export class Identity extends Migration {
  override name = '0005-identity';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table app_user add generation int not null default 0, add email_version int not null default 0, add second_factor json, add resets json not null default '[]'`,
  `alter table session add generation int not null default 0`,
  `create index session_by_end on session (refresh_expires_at)`,
  // A row whose holder is null is a released address.
  `alter table email_address alter user_id drop not null, alter account_id drop not null`,
  `create table throttle (id text primary key, times json not null, forget_at timestamptz(3) not null) with (fillfactor = 70)`,
  `create index throttle_by_end on throttle (forget_at)`,
  `create table account_settings (id text primary key, auto_approve_threshold_minor bigint not null, live_trading_enabled boolean not null, max_position_size_minor bigint not null, daily_loss_limit_minor bigint not null, redirect_uris json not null, timezone text not null)`,
];
