/** Wallets, cards, and the ledger. */
import { Migration } from '@mikro-orm/migrations';

export class Money extends Migration {
  override name = '0008-money';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table wallet (id text primary key, currency text not null, balance_minor bigint not null, held_minor bigint not null, per_transaction_minor bigint not null, daily_minor bigint not null, monthly_minor bigint not null, timezone text not null, spend_day text not null, day_spent_minor bigint not null, month_spent_minor bigint not null, holds json not null, waiting json not null, updated_at timestamptz(3) not null,
     check (held_minor >= 0 and held_minor <= balance_minor and day_spent_minor >= 0 and day_spent_minor <= month_spent_minor)) with (fillfactor = 50)`,
  // Accounts that had chosen a time zone before wallets existed.
  `insert into wallet select id, 'USD', 0, 0, 1000000, 2500000, 10000000, timezone, to_char(now() at time zone 'UTC', 'YYYY-MM-DD'), 0, 0, '{}', '[]', now() from account_settings where timezone <> 'UTC'`,

  // At most one debit and one credit of a transfer.
  `create table ledger_entry (transfer_id text not null, side text not null, book text not null, account_id text not null, amount_minor bigint not null, reference text not null, description text not null, created_at timestamptz(3) not null, primary key (transfer_id, side),
     check (amount_minor <> 0 and side = case when amount_minor < 0 then 'debit' else 'credit' end), check (book in ('wallet', 'deposits', 'cards', 'orders')))`,
  `create index ledger_entry_of_wallet on ledger_entry (account_id, created_at desc, transfer_id desc) where book = 'wallet'`,
  `create function ledger_balances() returns trigger language plpgsql as $$ begin
     if exists (select from added group by transfer_id having count(*) <> 2 or sum(amount_minor) <> 0 or count(distinct account_id) <> 1) then
       raise exception 'a transfer has two entries of one account that sum to zero' using errcode = 'check_violation', table = 'ledger_entry';
     end if;
     return null; end $$`,
  `create trigger ledger_balances after insert on ledger_entry referencing new table as added for each statement execute function ledger_balances()`,
  `create function ledger_stands() returns trigger language plpgsql as $$ begin
     raise exception 'ledger entries are never changed' using errcode = 'check_violation', table = 'ledger_entry'; end $$`,
  `create trigger ledger_stands before update or delete on ledger_entry for each row execute function ledger_stands()`,
  `create trigger ledger_stands_whole before truncate on ledger_entry for each statement execute function ledger_stands()`,

  `create table wallet_hold (account_id text not null, id text not null, amount_minor bigint not null check (amount_minor > 0), status text not null, transfer_id text unique, created_at timestamptz(3) not null, resolved_at timestamptz(3), primary key (account_id, id),
     check ((status = 'open') = (resolved_at is null) and (status = 'captured') = (transfer_id is not null)))`,
  `create function hold_resolves_once() returns trigger language plpgsql as $$ begin
     if tg_op = 'DELETE' or old.status <> 'open' then
       raise exception 'a hold is resolved once' using errcode = 'check_violation', table = 'wallet_hold';
     end if;
     return new; end $$`,
  `create trigger hold_resolves_once before update or delete on wallet_hold for each row execute function hold_resolves_once()`,

  `create table card (id text primary key, account_id text not null, name text not null, last4 text not null, number_hash text not null unique, spend_limit_minor bigint not null, spent_minor bigint not null, reserved_minor bigint not null, currency text not null, status text not null, next_number bigint not null, decided_below bigint not null, decided_ahead json not null, created_at timestamptz(3) not null,
     check (spent_minor >= 0 and reserved_minor >= 0 and spent_minor + reserved_minor <= spend_limit_minor)) with (fillfactor = 50)`,
  `create index card_of_account on card (account_id, created_at desc, id desc)`,
  `create table card_authorization (id text primary key, card_id text not null, account_id text not null, amount_minor bigint not null, merchant text not null, status text not null, decline_reason text, created_at timestamptz(3) not null,
     check ((status = 'declined') = (decline_reason is not null)))`,
  `create index card_authorization_of_card on card_authorization (card_id, created_at desc, id desc)`,
];
