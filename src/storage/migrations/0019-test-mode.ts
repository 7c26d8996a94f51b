/** Money, cards, orders and webhooks of test keys: marked, and separate from live ones. Existing rows are live. */
import { Migration } from '@mikro-orm/migrations';

export class TestMode extends Migration {
  override name = '0019-test-mode';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const mode = `mode text not null default 'live' check (mode in ('live', 'test'))`;

const statements = [
  // The id of a test wallet is `test_` and the account's id.
  `alter table wallet add ${mode}, add check ((mode = 'test') = starts_with(id, 'test_'))`,
  `alter table account_settings add test_auto_approve_threshold_minor bigint not null default 0`,
  // Accounts that had chosen a time zone before test wallets existed.
  `insert into wallet (id, mode, currency, balance_minor, held_minor, per_transaction_minor, daily_minor, monthly_minor, timezone, spend_day, day_spent_minor, month_spent_minor, holds, waiting, updated_at)
     select 'test_' || id, 'test', 'USD', 0, 0, 1000000, 2500000, 10000000, timezone, to_char(now() at time zone 'UTC', 'YYYY-MM-DD'), 0, 0, '{}', '[]', now() from account_settings where timezone <> 'UTC'`,

  `alter table ledger_entry add ${mode}`,
  `alter table wallet_hold add ${mode}`,
  // Stripe issues no cards in test mode, because such cards move no money.
  `alter table card add ${mode}, add check (mode = 'live' or issuer_card_id is null)`,
  `alter table card_authorization add ${mode}`,
  `alter table card_reversal add ${mode}`,
  `alter table purchase_order add ${mode}`,
  `alter table webhook add mode text not null default 'live'`,

  // Lists of live rows use the existing indexes; those of test rows have small indexes of their own.
  `create index ledger_entry_of_test_wallet on ledger_entry (account_id, created_at desc, transfer_id desc) where book = 'wallet' and mode = 'test'`,
  `create index card_of_test_account on card (account_id, created_at desc, id desc) where mode = 'test'`,
  `create index purchase_order_of_test_account on purchase_order (account_id, created_at desc, id desc) where mode = 'test'`,

  // As before; in addition a transfer stays in one mode.
  `create or replace function ledger_balances() returns trigger language plpgsql as $$ begin
     if exists (select from added group by transfer_id having count(*) <> 2 or sum(amount_minor) <> 0 or count(distinct account_id) <> 1 or count(distinct mode) <> 1) then
       raise exception 'a transfer has two entries of one account and mode that sum to zero' using errcode = 'check_violation', table = 'ledger_entry';
     end if;
     return null; end $$`,
  `create or replace function hold_resolves_once() returns trigger language plpgsql as $$ begin
     if tg_op = 'DELETE' or old.status <> 'open' or old.mode <> new.mode then
       raise exception 'a hold is resolved once, in its own mode' using errcode = 'check_violation', table = 'wallet_hold';
     end if;
     return new; end $$`,
];
