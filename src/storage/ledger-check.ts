/**
 * Checks the books: compares the states of wallets, cards and holds with the ledger's entries. Everything is read in one snapshot, while
 * the service works; an amount in transit between two actors is in a message, which is counted. The books of live and test mode are checked
 * separately: rows are joined within their mode, and no total adds the two.
 */
import type pg from 'pg';
import { type Mode, modes } from '../mode.ts';
import { readableJson } from './readable-json.ts';

export type Finding = { check: string; accountId: string | null; mode: Mode; about: string };
export type Books = {
  entries: number;
  wallets: number;
  cards: number;
  /** Sum of all wallets, in cents. */
  balanceMinor: number;
};
export type LedgerReading = {
  live: Books;
  test: Books;
  /** The first findings of each check; empty: the books are consistent. */
  findings: Finding[];
  /** How many further findings each check has. */
  leftOut: { check: string; count: number }[];
};

/** A few examples are enough to recognise a fault. */
const findingsOfCheck = 20;

/** Wallets with the account of each. */
const wallets = `(select case when mode = 'test' then substr(id, 6) else id end as account_id, w.* from wallet w where $1::text is null or id in ($1, 'test_' || $1))`;

/** Each query returns rows of `account_id`, `mode` and `about`: the fault. `$1` is the account, or null for all. */
const checks: readonly { check: string; sql: string }[] = [
  {
    check: 'every transfer has two entries that sum to zero',
    sql: `select min(account_id) as account_id, min(mode) as mode, transfer_id || ': ' || count(*) || ' entries sum to ' || sum(amount_minor) as about
      from ledger_entry where $1::text is null or account_id = $1 group by transfer_id having count(*) <> 2 or sum(amount_minor) <> 0`,
  },
  {
    check: 'a transfer stays in one mode',
    sql: `select min(account_id) as account_id, 'live' as mode, transfer_id || ': booked in both modes' as about
      from ledger_entry where $1::text is null or account_id = $1 group by transfer_id having count(distinct mode) > 1`,
  },
  {
    check: "a wallet's balance is the sum of its entries",
    sql: `select coalesce(w.account_id, e.account_id) as account_id, coalesce(w.mode, e.mode) as mode,
        'balance ' || coalesce(w.balance_minor, 0) || ', entries ' || coalesce(e.sum, 0) as about
      from ${wallets} w full join
        (select account_id, mode, sum(amount_minor) as sum from ledger_entry where book = 'wallet' and ($1::text is null or account_id = $1) group by 1, 2) e
        on e.account_id = w.account_id and e.mode = w.mode
      where coalesce(w.balance_minor, 0) <> coalesce(e.sum, 0)`,
  },
  {
    check: 'what a wallet holds back is the sum of its open holds',
    sql: `select w.account_id, w.mode, 'held ' || w.held_minor || ', open holds ' || coalesce(h.sum, 0) as about
      from ${wallets} w left join (select account_id, mode, sum(amount_minor) as sum from wallet_hold where status = 'open' group by 1, 2) h
        on h.account_id = w.account_id and h.mode = w.mode
      where w.held_minor <> coalesce(h.sum, 0)`,
  },
  {
    check: 'a captured hold is booked as it was held',
    sql: `select h.account_id, h.mode, h.id || ': held ' || h.amount_minor || ', booked ' || coalesce(-e.amount_minor, 0) as about
      from wallet_hold h left join ledger_entry e
        on e.transfer_id = h.transfer_id and e.side = 'debit' and e.book = 'wallet' and e.account_id = h.account_id and e.mode = h.mode
      where h.status = 'captured' and ($1::text is null or h.account_id = $1) and coalesce(-e.amount_minor, 0) <> h.amount_minor`,
  },
  {
    check: 'an open hold stands in its wallet, which frees it in time',
    sql: `with known as (select w.account_id, w.mode, w.id as wallet_id, h.key as id, (h.value->>'amountMinor')::bigint as amount, (h.value->>'expiresAtMs')::bigint as expires_at
        from ${wallets} w, json_each(w.holds) h where w.holds::text <> '{}'),
      open as (select account_id, mode, id, amount_minor as amount from wallet_hold where status = 'open' and ($1::text is null or account_id = $1)),
      due as (select actor_id as wallet_id, due_at from timer where kind = 'wallet' and name = 'holds')
      select coalesce(o.account_id, k.account_id) as account_id, coalesce(o.mode, k.mode) as mode,
        coalesce(o.id, k.id) || ': open ' || coalesce(o.amount, 0) || ', in its wallet ' || coalesce(k.amount, 0) as about
      from open o full join known k on k.account_id = o.account_id and k.mode = o.mode and k.id = o.id where o.amount is distinct from k.amount
      union all select k.account_id, k.mode, k.id || ': ends ' || to_timestamp(k.expires_at / 1000.0) || ', and nothing will end it'
      from known k left join due d on d.wallet_id = k.wallet_id where d.due_at is null or d.due_at > to_timestamp(k.expires_at / 1000.0)`,
  },
  {
    check: 'what a card has spent is the sum of its approved authorizations without what went back, within its limit',
    sql: `select c.account_id, c.mode, c.id || ': spent ' || c.spent_minor || ' of ' || c.spend_limit_minor || ', approved ' || coalesce(a.sum, 0) as about
      from card c left join (select card_id, mode, sum(amount) as sum from (
          select card_id, mode, amount_minor as amount from card_authorization where status = 'approved'
          union all select card_id, mode, -amount_minor from card_reversal) e
        group by 1, 2) a on a.card_id = c.id and a.mode = c.mode
      where ($1::text is null or c.account_id = $1) and (c.spent_minor <> coalesce(a.sum, 0) or c.spent_minor > c.spend_limit_minor)`,
  },
  {
    check: 'an authorization has the account and the mode of its card',
    sql: `select a.account_id, a.mode, a.id || ': ' || a.mode || ', its card ' || a.card_id || ' is ' || c.mode || ' of ' || c.account_id as about
      from card_authorization a join card c on c.id = a.card_id
      where ($1::text is null or a.account_id = $1) and (a.mode <> c.mode or a.account_id <> c.account_id)`,
  },
  {
    check: 'an authorization is approved exactly when it is booked, once',
    sql: bookedExactly('cards', { table: 'card_authorization', status: 'approved' }),
  },
  {
    check: 'an order is complete exactly when it is booked, once',
    sql: bookedExactly('orders', { table: 'purchase_order', status: 'complete', unreported: messages('purchase_order', 'paymentDecided') }),
  },
  {
    check: 'an approved order that is not paid waits in its wallet',
    sql: `with way as materialized (
        select null as wallet_id, input->'payment'->>'reference' as id from (${messages('purchase_order', 'paymentDecided')}) d
        union all select actor_id, input->>'reference' from (${messages('wallet', 'pay')}) p
        union all select w.id, payment->>'reference' from wallet w, json_array_elements(${readableJson('w.waiting')}) payment where w.waiting::text <> '[]')
      select o.account_id, o.mode, o.id || ': ' || o.status || ', ' || o.amount_minor || ' will never be paid' as about from purchase_order o
      where (o.status = 'approved' or o.asking is not null) and ($1::text is null or o.account_id = $1) and not exists (select from way where way.id = o.id
        and (way.wallet_id is null or way.wallet_id = case when o.mode = 'test' then 'test_' || o.account_id else o.account_id end))`,
  },
  {
    check: 'a deposit by a payment processor is paid exactly when it is booked',
    sql: `with way as materialized (${messages('wallet', 'deposit')}),
        asked as (select *, 'txn_' || substr(id, 4) as transfer_id from checkout where plan is null and ($1::text is null or account_id = $1))
      select a.account_id, 'live' as mode, a.id || ': ' || a.status || ', ' || a.amount_minor || ' asked for, ' || coalesce(e.amount_minor, 0) || ' booked' as about
      from asked a left join ledger_entry e on e.transfer_id = a.transfer_id and e.book = 'wallet'
      where (a.status <> 'paid' and e.transfer_id is not null) or e.amount_minor <> a.amount_minor or e.account_id <> a.account_id or e.mode <> 'live'
        or (a.status = 'paid' and e.transfer_id is null and a.transfer_id not in (select input->>'transferId' from way))`,
  },
  {
    check: 'an invoice is the sum of its lines',
    sql: `select account_id, 'live' as mode, id || ': ' || amount_minor || ', lines ' || sum as about
      from (select i.*, (select sum((l->>'amountMinor')::bigint) from json_array_elements(i.lines) l) as sum from invoice i where $1::text is null or account_id = $1) i
      where sum <> amount_minor`,
  },
  {
    check: 'what went back of an authorization is booked, once',
    sql: `with booked as (select * from ledger_entry where book = 'cards' and amount_minor < 0 and ($1::text is null or account_id = $1)),
        given as (select * from card_reversal where $1::text is null or account_id = $1)
      select coalesce(g.account_id, b.account_id) as account_id, coalesce(g.mode, b.mode) as mode,
        coalesce(g.id, b.transfer_id) || ': ' || coalesce(g.amount_minor, 0) || ' went back, ' || coalesce(-b.amount_minor, 0) || ' booked' as about
      from given g full join booked b on b.transfer_id = g.id
      where g.id is null or b.transfer_id is null or g.amount_minor <> -b.amount_minor or g.account_id <> b.account_id or g.mode <> b.mode or g.authorization_id <> b.reference`,
  },
  {
    check: 'no more of an authorization went back than was approved',
    sql: `select r.account_id, r.mode, r.authorization_id || ': approved ' || coalesce(a.amount_minor, 0) || ', went back ' || r.sum as about
      from (select account_id, mode, authorization_id, sum(amount_minor) as sum from card_reversal where $1::text is null or account_id = $1 group by 1, 2, 3) r
        left join card_authorization a on a.id = r.authorization_id and a.mode = r.mode and a.status = 'approved'
      where r.sum > coalesce(a.amount_minor, 0)`,
  },
];

/** The names of all checks. */
export const ledgerChecks: readonly string[] = checks.map(({ check }) => check);

/**
 * Reads on a connection of its own, which nothing else uses meanwhile.
 *
 * @param accountId null: the books of all accounts
 */
export async function checkLedger(client: pg.Client, accountId: string | null): Promise<LedgerReading> {
  await client.query('begin transaction isolation level repeatable read read only');
  try {
    const findings: Finding[] = [];
    const leftOut: LedgerReading['leftOut'] = [];
    for (const { check, sql } of checks) {
      const { rows } = await client.query(
        `select account_id, mode, about, (count(*) over ())::float8 as all_found from (${sql}) found order by account_id, mode, about limit ${findingsOfCheck}`,
        [accountId],
      );
      findings.push(...rows.map((row) => ({ check, accountId: row.account_id, mode: row.mode, about: row.about })));
      if (rows.length > 0 && rows[0].all_found > rows.length) leftOut.push({ check, count: rows[0].all_found - rows.length });
    }
    const { rows } = await client.query(
      `with entries as (select mode, count(*) as n from ledger_entry where $1::text is null or account_id = $1 group by 1),
        cards as (select mode, count(*) as n from card where $1::text is null or account_id = $1 group by 1),
        held as (select mode, count(*) as n, sum(balance_minor) as balance from ${wallets} w group by 1)
      select m.mode, coalesce(e.n, 0)::float8 as entries, coalesce(c.n, 0)::float8 as cards, coalesce(h.n, 0)::float8 as wallets,
        coalesce(h.balance, 0)::float8 as balance
      from unnest($2::text[]) m(mode) left join entries e using (mode) left join cards c using (mode) left join held h using (mode)`,
      [accountId, modes],
    );
    const books = Object.fromEntries(rows.map(({ mode, balance, ...counts }) => [mode, { ...counts, balanceMinor: balance }]));
    return { ...(books as Record<Mode, Books>), findings, leftOut };
  } finally {
    await client.query('rollback');
  }
}

/**
 * Compares paid things in their own table with the ledger: the same things, the same amounts. Captured holds are left out, because their
 * reference can be anything.
 *
 * @param unreported messages that report a payment to the payer and are not consumed yet
 */
function bookedExactly(book: string, paid: { table: string; status: string; unreported?: string }): string {
  return `with booked as (select account_id, mode, reference, sum(amount_minor) as amount_minor, count(*) as times from ledger_entry e
        where book = '${book}' and amount_minor > 0 and ($1::text is null or account_id = $1)
        and not exists (select from wallet_hold h where h.transfer_id = e.transfer_id) group by 1, 2, 3),
      paid as (select account_id, mode, id, amount_minor from ${paid.table} where status = '${paid.status}' and ($1::text is null or account_id = $1))
    select coalesce(p.account_id, b.account_id) as account_id, coalesce(p.mode, b.mode) as mode,
      coalesce(p.id, b.reference) || ': ' || coalesce(p.amount_minor, 0) || ' ${paid.status}, ' || coalesce(b.amount_minor, 0) || ' booked'
        || case when b.times > 1 then ' in ' || b.times || ' transfers' else '' end as about
    from paid p full join booked b on b.reference = p.id and b.mode = p.mode
    where (p.id is null or b.reference is null or p.amount_minor <> b.amount_minor or b.times > 1 or p.account_id <> b.account_id)
      ${paid.unreported === undefined ? '' : `and not (p.id is null and b.reference in (select input->'payment'->>'reference' from (${paid.unreported}) report))`}`;
}

/** Messages that their actor has not consumed yet. */
function messages(kind: string, command: string): string {
  return `select actor_id, ${readableJson('input')} as input from message where kind = '${kind}' and command = '${command}'`;
}
