/**
 * Proves the books of trading: what accounts and orders say of themselves against the journal and the fills. All of it is read as of one moment, while the
 * service works. A fill, its order, its journal entry and its book are one commit, so there is no state between them.
 */
import type pg from 'pg';
import { accountModeOf, type Mode, modes } from '../mode.ts';
import type { Finding } from './ledger-check.ts';
import { readableJson } from './readable-json.ts';
import { differences, type FoldedBook, foldInto, type JournalRow, type KeptBook, noBook } from './trading-fold.ts';

export type TradingFigures = { accounts: number; orders: number; openOrders: number; fills: number };
export type TradingReading = {
  live: TradingFigures;
  test: TradingFigures;
  /** The first of each check; empty: the books are right. */
  findings: Finding[];
  leftOut: { check: string; count: number }[];
  /** What brokers did otherwise than they were asked, and what the books show as it is: no error of the books. */
  notices: Finding[];
};

const findingsOfCheck = 20;
const accountsAtOnce = 200;
const rowsAtOnce = 5_000;
const foldCheck = 'cash, positions and results of a book are the fold of its journal and fills';

/** Trading accounts of the account asked for. */
const accounts = `(select * from trading_account where $1::text is null or account_id = $1)`;
const orders = `(select id, account_id, mode, status, symbol, side, quantity, broker_key, filled_by, external, client_order_id, ${readableJson('state')} as state,
  case when mode = 'test' then 'test_' || account_id else account_id end as trading_account_id from trading_order where $1::text is null or account_id = $1)`;
const isOpen = `status in ('submitted', 'accepted', 'partially_filled')`;

/** Each gives rows of `account_id`, `mode` and `about`: what is wrong. `$1` is the account, or null for all. */
const checks: readonly { check: string; sql: string }[] = [
  {
    check: 'a journal has each of its numbers once',
    sql: `with booked as (select trading_account_id, count(*) as n, count(distinct seq) as numbers, min(seq) as first, max(seq) as last from (
        select trading_account_id, seq from trading_entry union all select trading_account_id, seq from trading_fill) e group by 1)
      select t.account_id, t.mode, t.entries || ' entries, in the journal ' || coalesce(b.n, 0) || case when b.numbers < b.n then ', some twice' else '' end as about
      from ${accounts} t left join booked b on b.trading_account_id = t.id
      where coalesce(b.n, 0) <> t.entries or b.numbers <> b.n or b.first <> 1 or b.last <> t.entries`,
  },
  {
    check: 'a connection has a book as long as it is there',
    sql: `with kept as (select t.account_id, t.mode, k.key as id from ${accounts} t, json_object_keys(t.books) k(key) where k.key <> 'embedded'),
        due as (select c.account_id, c.mode, c.id from broker_connection c where c.removed_at is null and ($1::text is null or c.account_id = $1))
      select coalesce(k.account_id, d.account_id) as account_id, coalesce(k.mode, d.mode) as mode, coalesce(k.id, d.id)
        || case when k.id is null then ': the connection is there, and its book is not' else ': the book is there, and its connection is not' end as about
      from kept k full join due d on d.id = k.id and d.account_id = k.account_id and d.mode = k.mode where k.id is null or d.id is null`,
  },
  {
    check: 'a fill belongs to an order of its account, symbol and side',
    sql: `select t.account_id, t.mode, f.id || ': ' || f.side || ' ' || f.symbol || ', order ' || coalesce(o.id || ' is ' || o.side || ' ' || o.symbol, 'missing') as about
      from ${accounts} t join trading_fill f on f.trading_account_id = t.id left join ${orders} o on o.id = f.order_id
      where o.id is null or o.trading_account_id <> t.id or o.symbol <> f.symbol and not exists (select from trading_entry e
        where e.trading_account_id = t.id and ${readableJson('e.entry')}->>'kind' = 'symbol_change') or o.side <> f.side or o.broker_key <> f.broker_key`,
  },
  {
    check: "a broker's fill is booked once",
    sql: `select t.account_id, t.mode, f.broker_fill_id || ' of ' || f.broker_key || ': booked ' || count(*) || ' times' as about
      from ${accounts} t join trading_fill f on f.trading_account_id = t.id where f.broker_fill_id is not null
      group by 1, 2, f.broker_key, f.broker_fill_id, f.side having count(*) > 1`,
  },
  {
    // Earlier fills of an external order are in the position that was taken over. A broker may fill more than was ordered: see the notices.
    check: 'an order is filled by what its fills sum up to, and not beyond its quantity',
    sql: `with filled as (select order_id, sum(quantity::numeric) as quantity from trading_fill group by 1)
      select o.account_id, o.mode, o.id || ': filled ' || (o.state->'fills'->>'quantity') || ' of ' || o.quantity || ', fills ' || coalesce(f.quantity, 0) as about
      from ${orders} o left join filled f on f.order_id = o.id
      where ((o.state->'fills'->>'quantity')::numeric < coalesce(f.quantity, 0)
          or (o.state->'fills'->>'quantity')::numeric > coalesce(f.quantity, 0) and not o.external
          or coalesce(f.quantity, 0) > o.quantity::numeric and o.filled_by <> 'broker')
        and not exists (select from trading_entry e where e.trading_account_id = o.trading_account_id and ${readableJson('e.entry')}->>'kind' = 'split' and ${readableJson('e.entry')}->>'symbol' = o.symbol)`,
  },
  {
    check: 'an order is listed with the status that it has, and is filled when all of it is',
    sql: `select account_id, mode, id || ': ' || status || ', is ' || (state->>'status') as about from ${orders} o
      where status <> state->>'status' or status = 'filled' and (state->'fills'->>'quantity')::numeric < (state->>'quantity')::numeric`,
  },
  {
    check: 'an account holds open what has not ended, and nothing else',
    sql: `with held as (select t.account_id, t.mode, t.id as trading_account_id, k.key as id from ${accounts} t, json_object_keys(t.open) k(key) where t.open::text <> '{}'),
        due as (select account_id, mode, id, status, trading_account_id from ${orders} o where ${isOpen})
      select coalesce(h.account_id, d.account_id) as account_id, coalesce(h.mode, d.mode) as mode,
        coalesce(h.id, d.id) || case when h.id is null then ': ' || d.status || ', and its account does not hold it open' else ': held open, and has ended' end as about
      from held h full join due d on d.id = h.id and d.trading_account_id = h.trading_account_id where h.id is null or d.id is null`,
  },
  {
    check: 'a client order id has one order, which claimed it',
    sql: `select o.account_id, o.mode, o.client_order_id || ': order ' || min(o.id) || case when count(*) > 1 then ' and ' || count(*) - 1 || ' more' else '' end
        || ', claimed by ' || coalesce(min(c.order_id), 'none') as about
      from ${orders} o left join client_order c on c.trading_account_id = o.trading_account_id and c.client_order_id = o.client_order_id
      where o.client_order_id is not null group by o.account_id, o.mode, o.client_order_id having count(*) > 1 or min(c.order_id) is distinct from min(o.id)`,
  },
  {
    check: "a broker's order is one order here",
    sql: `select account_id, mode, (state->>'brokerOrderId') || ' of ' || broker_key || ': ' || min(id) || ' and ' || count(*) - 1 || ' more' as about
      from ${orders} o where filled_by = 'broker' and state->>'brokerOrderId' is not null group by 1, 2, broker_key, state->>'brokerOrderId' having count(*) > 1`,
  },
];

const overfilled = {
  check: 'a broker filled more than was ordered',
  sql: `select account_id, mode, id || ': filled ' || (state->'fills'->>'quantity') || ' of ' || quantity as about from ${orders} o
    where filled_by = 'broker' and not external and (state->'fills'->>'quantity')::numeric > quantity::numeric`,
};

/** Text of what the check proves. */
export const tradingChecks: readonly string[] = [foldCheck, ...checks.map(({ check }) => check)];

/**
 * Reads on a connection of its own, on which nothing else is asked meanwhile.
 *
 * @param accountId null: the books of all accounts
 */
export async function checkTrading(client: pg.Client, accountId: string | null): Promise<TradingReading> {
  await client.query('begin transaction isolation level repeatable read read only');
  try {
    const findings: Finding[] = [];
    const leftOut: TradingReading['leftOut'] = [];
    const note = (check: string, found: Omit<Finding, 'check'>[], all: number) => {
      findings.push(...found.map((one) => ({ check, ...one })));
      if (all > found.length) leftOut.push({ check, count: all - found.length });
    };
    const folds = await checkFolds(client, accountId);
    note(foldCheck, folds.slice(0, findingsOfCheck), folds.length);
    const run = async (sql: string) => {
      const { rows } = await client.query(
        `select account_id, mode, about, (count(*) over ())::float8 as all_found from (${sql}) found order by account_id, mode, about limit ${findingsOfCheck}`,
        [accountId],
      );
      const found = rows.map((row) => ({ accountId: row.account_id, mode: row.mode, about: row.about }));
      return { found, all: rows[0]?.all_found ?? 0 };
    };
    for (const { check, sql } of checks) {
      const { found, all } = await run(sql);
      note(check, found, all);
    }
    const notices = (await run(overfilled.sql)).found.map((one) => ({ check: overfilled.check, ...one }));
    return { ...(await figures(client, accountId)), findings, leftOut, notices };
  } finally {
    await client.query('rollback');
  }
}

async function checkFolds(client: pg.Client, accountId: string | null): Promise<Omit<Finding, 'check'>[]> {
  const found: Omit<Finding, 'check'>[] = [];
  for (let after = ''; ; ) {
    const { rows } = await client.query<KeptBooks & { id: string }>(
      `select id, books, strategy_books from ${accounts} t where id > $2 order by id limit ${accountsAtOnce}`,
      [accountId, after],
    );
    if (rows.length === 0) return found;
    after = rows.at(-1)!.id;
    const folded = await foldJournals(
      client,
      rows.map(({ id }) => id),
    );
    for (const { id, ...books } of rows) {
      const owner = accountModeOf(id);
      const wrong = folded.faults.get(id);
      if (wrong !== undefined) found.push({ ...owner, about: wrong });
      else for (const about of wrongBooks(books, folded.books.get(id) ?? new Map())) found.push({ ...owner, about });
    }
  }
}

type KeptBooks = { books: Record<string, { book: KeptBook }>; strategy_books: Record<string, KeptBook> };

/** The book of a connection that was removed is deleted; its journal stays, and so do the books of strategies there. */
function wrongBooks({ books, strategy_books: ofStrategies }: KeptBooks, folded: Map<string, FoldedBook>): string[] {
  const kept = new Map([...Object.entries(books).map(([key, { book }]) => [key, book] as const), ...Object.entries(ofStrategies)]);
  const wrong = [...kept].flatMap(([key, book]) => differences(book, folded.get(key) ?? noBook).map((about) => `${nameOf(key)}: ${about}`));
  const missing = [...folded.keys()].filter((key) => !kept.has(key) && (key === 'embedded' || key.includes('/')));
  return [...wrong, ...missing.map((key) => `${nameOf(key)}: the book is missing`)];
}

function nameOf(key: string): string {
  return key.replace('/', ' at ');
}

/** Journals are read in pieces, as one may have millions of fills. */
async function foldJournals(client: pg.Client, ids: string[]) {
  const books = new Map<string, Map<string, FoldedBook>>();
  const faults = new Map<string, string>();
  await client.query(
    `declare journal no scroll cursor for
      select trading_account_id as id, seq, broker_key, null as strategy_id, entry from trading_entry where trading_account_id = any($1)
      union all select trading_account_id, seq, broker_key, strategy_id, json_build_object('kind', 'fill', 'symbol', symbol, 'side', side, 'quantity', quantity,
        'price', price, 'commission', commission) from trading_fill where trading_account_id = any($1)
      order by 1, 2`,
    [ids],
  );
  for (;;) {
    const { rows } = await client.query<JournalRow & { id: string }>(`fetch ${rowsAtOnce} from journal`);
    if (rows.length === 0) break;
    for (const row of rows) {
      const own = books.get(row.id) ?? new Map<string, FoldedBook>();
      books.set(row.id, own);
      try {
        foldInto(own, row);
      } catch (error) {
        faults.set(row.id, (error as Error).message);
      }
    }
  }
  await client.query('close journal');
  return { books, faults };
}

async function figures(client: pg.Client, accountId: string | null): Promise<Record<Mode, TradingFigures>> {
  const { rows } = await client.query(
    `select m.mode, (select count(*) from ${accounts} t where t.mode = m.mode)::float8 as accounts,
      (select count(*) from ${orders} o where o.mode = m.mode)::float8 as orders,
      (select count(*) from ${orders} o where o.mode = m.mode and ${isOpen})::float8 as "openOrders",
      (select count(*) from trading_fill f join ${accounts} t on t.id = f.trading_account_id where t.mode = m.mode)::float8 as fills
    from unnest($2::text[]) m(mode)`,
    [accountId, modes],
  );
  return Object.fromEntries(rows.map(({ mode, ...counts }) => [mode, counts])) as Record<Mode, TradingFigures>;
}
