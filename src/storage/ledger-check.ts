/**
 * Proves the books: what the wallets, cards and holds say of themselves against the ledger's entries. All of it is read as of one moment, while
 * the service works; what is on its way between two actors then stands in their messages, and is counted.
 */
import type pg from 'pg';

export type Finding = { check: string; accountId: string | null; about: string };
export type LedgerReading = {
  entries: number;
  wallets: number;
  cards: number;
  /** What all wallets hold, in cents. */
  balanceMinor: number;
  /** The first of each check; empty: the books are right. */
  findings: Finding[];
};

/** A damaged book is known by a few of its pages. */
const findingsOfCheck = 20;

/** Each gives rows of `account_id` and `about`: what is wrong. `$1` is the account, or null for all. */
const checks: readonly { check: string; sql: string }[] = [
  {
    check: 'every transfer has two entries that sum to zero',
    sql: `select min(account_id) as account_id, transfer_id || ': ' || count(*) || ' entries sum to ' || sum(amount_minor) as about
      from ledger_entry where $1::text is null or account_id = $1 group by transfer_id having count(*) <> 2 or sum(amount_minor) <> 0`,
  },
  {
    check: "a wallet's balance is the sum of its entries",
    sql: `select coalesce(w.id, e.account_id) as account_id, 'balance ' || coalesce(w.balance_minor, 0) || ', entries ' || coalesce(e.sum, 0) as about
      from (select id, balance_minor from wallet where $1::text is null or id = $1) w full join
        (select account_id, sum(amount_minor) as sum from ledger_entry where book = 'wallet' and ($1::text is null or account_id = $1) group by 1) e on e.account_id = w.id
      where coalesce(w.balance_minor, 0) <> coalesce(e.sum, 0)`,
  },
  {
    check: 'what a wallet holds back is the sum of its open holds',
    sql: `select w.id as account_id, 'held ' || w.held_minor || ', open holds ' || coalesce(h.sum, 0) as about
      from wallet w left join (select account_id, sum(amount_minor) as sum from wallet_hold where status = 'open' group by 1) h on h.account_id = w.id
      where ($1::text is null or w.id = $1) and w.held_minor <> coalesce(h.sum, 0)`,
  },
  {
    check: 'a captured hold is booked as it was held',
    sql: `select h.account_id, h.id || ': held ' || h.amount_minor || ', booked ' || coalesce(-e.amount_minor, 0) as about
      from wallet_hold h left join ledger_entry e on e.transfer_id = h.transfer_id and e.side = 'debit' and e.book = 'wallet' and e.account_id = h.account_id
      where h.status = 'captured' and ($1::text is null or h.account_id = $1) and coalesce(-e.amount_minor, 0) <> h.amount_minor`,
  },
  {
    check: 'what a card has spent is the sum of its approved authorizations, within its limit',
    sql: `select c.account_id, c.id || ': spent ' || c.spent_minor || ' of ' || c.spend_limit_minor || ', approved ' || coalesce(a.sum, 0) as about
      from card c left join (select card_id, sum(amount_minor) as sum from card_authorization where status = 'approved' group by 1) a on a.card_id = c.id
      where ($1::text is null or c.account_id = $1) and (c.spent_minor <> coalesce(a.sum, 0) or c.spent_minor + c.reserved_minor > c.spend_limit_minor)`,
  },
  {
    check: 'an authorization is approved exactly when it is booked, once',
    sql: bookedExactly('cards', { table: 'card_authorization', status: 'approved', kind: 'card' }),
  },
  {
    check: 'an order is complete exactly when it is booked, once',
    sql: bookedExactly('orders', { table: 'purchase_order', status: 'complete', kind: 'purchase_order' }),
  },
  {
    check: 'what a card has reserved is on its way to the wallet or back',
    sql: `with way as materialized (
        select input->'payer'->>'id' as card_id, (input->>'amountMinor')::bigint as amount from (${messages('wallet', 'pay')}) p where input->'payer'->>'kind' = 'card'
        union all select actor_id, (input->'payment'->>'amountMinor')::bigint from (${messages('card', 'paymentDecided')}) d)
      select c.account_id, c.id || ': reserved ' || c.reserved_minor || ', on the way ' || coalesce(w.sum, 0) as about
      from card c left join (select card_id, sum(amount) as sum from way group by 1) w on w.card_id = c.id
      where ($1::text is null or c.account_id = $1) and c.reserved_minor <> coalesce(w.sum, 0)`,
  },
];

/**
 * Reads on a connection of its own, on which nothing else is asked meanwhile.
 *
 * @param accountId null: everybody's books
 */
export async function checkLedger(client: pg.Client, accountId: string | null): Promise<LedgerReading> {
  await client.query('begin transaction isolation level repeatable read read only');
  try {
    const findings: Finding[] = [];
    for (const { check, sql } of checks) {
      const { rows } = await client.query(
        `select account_id, about from (${sql}) found order by account_id, about limit ${findingsOfCheck}`,
        [accountId],
      );
      findings.push(...rows.map((row) => ({ check, accountId: row.account_id, about: row.about })));
    }
    const { rows } = await client.query(
      `select (select count(*) from ledger_entry where $1::text is null or account_id = $1)::float8 as entries,
        (select count(*) from card where $1::text is null or account_id = $1)::float8 as cards,
        count(*)::float8 as wallets, coalesce(sum(balance_minor), 0)::float8 as balance from wallet where $1::text is null or id = $1`,
      [accountId],
    );
    const { entries, wallets, cards, balance: balanceMinor } = rows[0];
    return { entries, wallets, cards, balanceMinor, findings };
  } finally {
    await client.query('rollback');
  }
}

/** What is paid, by its own table and by the ledger: the same things, the same amounts. Captured holds name what they please. */
function bookedExactly(book: string, paid: { table: string; status: string; kind: string }): string {
  return `with way as materialized (${messages(paid.kind, 'paymentDecided')}),
      booked as (select account_id, reference, amount_minor from ledger_entry e where book = '${book}' and ($1::text is null or account_id = $1)
        and not exists (select from wallet_hold h where h.transfer_id = e.transfer_id)),
      paid as (select account_id, id, amount_minor from ${paid.table} where status = '${paid.status}' and ($1::text is null or account_id = $1))
    select coalesce(p.account_id, b.account_id) as account_id,
      coalesce(p.id, b.reference) || ': ' || coalesce(p.amount_minor, 0) || ' ${paid.status}, ' || coalesce(b.amount_minor, 0) || ' booked' as about
    from paid p full join booked b on b.reference = p.id
    where (p.id is null or b.reference is null or p.amount_minor <> b.amount_minor or p.account_id <> b.account_id)
      and not (p.id is null and b.reference in (select input->'payment'->>'reference' from way))`;
}

/** Messages that their actor has not taken yet. */
function messages(kind: string, command: string): string {
  return `select actor_id, input from message where kind = '${kind}' and command = '${command}'`;
}
