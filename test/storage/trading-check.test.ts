/**
 * The check of the trading books, on correct books and on each kind of damage in the database, and its fold compared with that of the
 * books.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { type BookEntry, foldBook } from '../../src/domains/trading/book.ts';
import { idInMode, type Mode, modes } from '../../src/mode.ts';
import { Database } from '../../src/storage/database.ts';
import { checkTrading, tradingChecks } from '../../src/storage/trading-check.ts';
import { differences, type FoldedBook, foldInto } from '../../src/storage/trading-fold.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { insertNeutralRow } from '../support/neutral-row.ts';

const accountId = 'acct_1';
const tables = ['trading_account', 'trading_entry', 'trading_order', 'trading_fill', 'client_order', 'broker_connection'];
let kept: TestDatabase;
let database: Database;
let client: pg.Client;

before(async () => {
  kept = await testDatabase();
  database = new Database(kept.url, { poolSize: 1 });
  for (const mode of modes) await keepBooks(mode);
  client = new pg.Client({ connectionString: kept.url });
  await client.connect();
  await client.query('create schema kept');
  for (const table of tables) await client.query(`create table kept.${table} as table ${table}`);
});

after(async () => {
  await client.end();
  await database.close();
  await kept.close();
});

type Fill = Extract<BookEntry, { kind: 'fill' }>;

/**
 * A filled order, one of a strategy that is filled in part, one that was cancelled; a connection with a book, and one that was removed. Things of test mode
 * end with a t.
 */
async function keepBooks(mode: Mode): Promise<void> {
  const of = (name: string) => (mode === 'live' ? name : `${name}t`);
  const tradingAccountId = idInMode({ accountId, mode });
  const row = (table: string, values: Record<string, unknown>) => insertNeutralRow(database, table, values);
  const fills: [order: string, Fill][] = [
    ['ord_a', { kind: 'fill', symbol: 'AAPL', side: 'buy', quantity: '3', price: '100.5', commission: '0' }],
    ['ord_a', { kind: 'fill', symbol: 'AAPL', side: 'buy', quantity: '7', price: '100.51', commission: '0.25' }],
    ['ord_b', { kind: 'fill', symbol: 'AAPL', side: 'sell', quantity: '4', price: '101', commission: '0' }],
  ];
  const strategyBook = foldBook([fills[2]![1]]);
  const book = foldBook([{ kind: 'deposit', amount: '100000' }, ...fills.map(([, fill]) => fill)]);
  const order = async (id: string, side: string, quantity: string, filled: string, status: string, clientOrderId: string | null) => {
    const state = { status, quantity, fills: { quantity: filled }, brokerOrderId: of(`venue-${id}`) };
    const named = { id: of(id), clientOrderId: clientOrderId === null ? null : of(clientOrderId) };
    const shared = { account_id: accountId, mode, broker_key: 'embedded', broker_name: 'embedded', filled_by: 'broker', symbol: 'AAPL' };
    await row('trading_order', { ...shared, id: named.id, client_order_id: named.clientOrderId, side, quantity, status, state });
    if (named.clientOrderId === null) return;
    const claim = { trading_account_id: tradingAccountId, client_order_id: named.clientOrderId, order_id: named.id };
    await row('client_order', { id: of(`clo_${id}`), ...claim });
  };
  await order('ord_a', 'buy', '10', '10', 'filled', 'mine-1');
  await order('ord_b', 'sell', '10', '4', 'partially_filled', 'mine-2');
  await order('ord_c', 'buy', '1', '0', 'cancelled', null);
  await row('trading_entry', {
    trading_account_id: tradingAccountId,
    seq: 1,
    broker_key: 'embedded',
    entry: { kind: 'deposit', amount: '100000' },
  });
  for (const [n, [orderId, { kind: _, ...fill }]] of fills.entries())
    await row('trading_fill', {
      ...{
        id: of(`fil_${n}`),
        trading_account_id: tradingAccountId,
        seq: n + 2,
        order_id: of(orderId),
        broker_key: 'embedded',
        key: `k${n}`,
      },
      ...{ ...fill, broker_fill_id: of(`trade-${n}`), strategy_id: orderId === 'ord_b' ? 'stg_1' : null },
    });
  await row('trading_entry', {
    trading_account_id: tradingAccountId,
    seq: 5,
    broker_key: of('brk_gone'),
    entry: { kind: 'adopted_cash', amount: '7' },
  });
  const connection = { account_id: accountId, mode, order_mode: 'paper', filled_by: 'broker', status: 'connected' };
  await row('broker_connection', { ...connection, id: of('brk_here') });
  await row('broker_connection', { ...connection, id: of('brk_gone'), removed_at: new Date(1) });
  const open = { [of('ord_b')]: {} };
  const books = { embedded: { book }, [of('brk_here')]: { book: foldBook([]) } };
  const account = { id: tradingAccountId, account_id: accountId, mode, books, open, entries: 5, watched: true };
  await row('trading_account', { ...account, strategy_books: { 'stg_1/embedded': strategyBook } });
}

const checksThatFound = new Set<string>();
const found = async (about: string | null = null) =>
  (await checkTrading(client, about)).findings.map(({ check, accountId: of, mode, about: what }) => {
    checksThatFound.add(check);
    return `${of} ${mode}: ${what} (${check})`;
  });

const cash = `'{embedded,book,cash}'`;
/** The damage to the live books and its finding. The whole finding is compared with the text that a user reads. */
const damages: [what: string, statements: string[], finds: RegExp[]][] = [
  [
    'cash that is a millionth off',
    [
      `update trading_account set books = jsonb_set(books::jsonb, ${cash}, to_jsonb(((books#>>${cash})::numeric + 1000000000000)::text))::json`,
    ],
    [/^acct_1 live: embedded: cash 99398\.680001, journal 99398\.68 \(cash, positions and results of a book/],
  ],
  [
    'a position that no fill made',
    [
      `update trading_account set books = jsonb_set(books::jsonb, '{embedded,book,positions,MSFT}', '{"quantity": "1", "cost": "0"}')::json`,
    ],
    [/embedded: MSFT 1, fills 0 /],
  ],
  [
    'a position of another quantity',
    [`update trading_account set books = jsonb_set(books::jsonb, '{embedded,book,positions,AAPL,quantity}', '"6.000000001"')::json`],
    [/embedded: AAPL 6\.000000001, fills 6 /],
  ],
  [
    'books that are gone',
    [`update trading_account set books = '{}'`],
    [/embedded: the book is missing/, /brk_here: the connection is there, and its book is not \(a connection has a book/],
  ],
  [
    'a book of a connection that was removed',
    [`update trading_account set books = jsonb_set(books::jsonb, '{brk_gone}', books::jsonb->'brk_here')::json`],
    [/brk_gone: cash 0, journal 7/, /brk_gone: the book is there, and its connection is not/],
  ],
  [
    "a strategy's position that its own orders did not make",
    [
      `update trading_account set strategy_books = jsonb_set(strategy_books::jsonb, '{stg_1/embedded,positions,AAPL,quantity}', '"-3"')::json`,
    ],
    [/stg_1 at embedded: AAPL -3, fills -4 /],
  ],
  ["a strategy's book that is gone", [`update trading_account set strategy_books = '{}'`], [/stg_1 at embedded: the book is missing/]],
  [
    'a fill that is missing, with the book made to fit',
    [
      `delete from trading_fill where id = 'fil_2'`,
      `update trading_account set books = jsonb_set(jsonb_set(books::jsonb, ${cash}, to_jsonb(trunc((books#>>${cash})::numeric - 404 * 1e18)::text)),
        '{embedded,book,positions,AAPL}', '{"quantity": "10", "cost": "1005070000000000000000"}')::json`,
      `update trading_account set books = jsonb_set(books::jsonb, '{embedded,book,realised}', '"0"')::json`,
      `update trading_account set strategy_books = '{}'`,
    ],
    [/5 entries, in the journal 4 \(a journal has each/, /ord_b: filled 4 of 10, fills 0 \(an order is filled/],
  ],
  [
    'a fill that is booked a second time under another id',
    [
      `insert into trading_fill select 'fil_9', trading_account_id, 6, order_id, broker_key, strategy_id, symbol, side, quantity, price, commission, 'k9',
        broker_fill_id, position_quantity, at, created_at from trading_fill where id = 'fil_0'`,
      `update trading_account set entries = 6 where id = 'acct_1'`,
    ],
    [/cash .*journal/, /AAPL 6, fills 9/, /trade-0 of embedded: booked 2 times \(a broker's fill/, /ord_a: filled 10 of 10, fills 13/],
  ],
  [
    'a number of the journal that is left out',
    [`update trading_fill set seq = 9 where id = 'fil_2'`],
    [/5 entries, in the journal 5 \(a journal/],
  ],
  [
    'a fill of a foreign order',
    [`update trading_fill set order_id = 'ord_c' where id = 'fil_2'`],
    [/fil_2: sell AAPL, order ord_c is buy AAPL/, /ord_b: filled 4 of 10, fills 0/, /ord_c: filled 0 of 1, fills 4/],
  ],
  [
    'an order that is filled in the list alone',
    [`update trading_order set status = 'filled' where id = 'ord_b'`],
    [/ord_b: filled, is partially_filled/, /ord_b: held open, and has ended/],
  ],
  [
    'an open order that its account has forgotten',
    [`update trading_account set open = '{}' where id = 'acct_1'`],
    [/ord_b: partially_filled, and its account does not hold it open/],
  ],
  [
    'an order that its account holds open though it has ended',
    [`update trading_account set open = '{"ord_b": {}, "ord_c": {}}' where id = 'acct_1'`],
    [/ord_c: held open, and has ended/],
  ],
  [
    'two orders of one client id',
    [`update trading_order set client_order_id = 'mine-1' where id = 'ord_c'`],
    [/mine-1: order ord_a and 1 more, claimed by ord_a/],
  ],
  ['a client id that no order has claimed', [`delete from client_order where id = 'clo_ord_b'`], [/mine-2: order ord_b, claimed by none/]],
  [
    'two orders that are one at the broker',
    [`update trading_order set state = jsonb_set(state::jsonb, '{brokerOrderId}', '"venue-ord_a"')::json where id = 'ord_c'`],
    [/venue-ord_a of embedded: ord_a and 1 more \(a broker's order/],
  ],
  ['an amount that is no number', [`update trading_fill set price = 'NaN' where id = 'fil_2'`], [/The journal has "NaN"/]],
];

test('correct books have no findings, for all accounts and for one, and live and test mode are counted separately', async () => {
  assert.deepEqual(await found(), []);
  const figures = { accounts: 1, orders: 3, openOrders: 1, fills: 3 };
  assert.deepEqual(await checkTrading(client, accountId), { live: figures, test: figures, findings: [], leftOut: [], notices: [] });
  assert.equal((await checkTrading(client, 'acct_2')).live.accounts, 0);
});

test('an order that its broker filled beyond its quantity, and an external one with earlier fills, are no errors of the books', async () => {
  try {
    await client.query(`update trading_order set quantity = '9' where id = 'ord_a'`);
    await client.query(
      `update trading_order set external = true, state = jsonb_set(state::jsonb, '{fills,quantity}', '"1"')::json where id = 'ord_c'`,
    );
    const { findings, notices } = await checkTrading(client, accountId);
    assert.deepEqual(findings, []);
    assert.deepEqual(
      notices.map(({ check, about }) => [about, check]),
      [['ord_a: filled 10 of 9', 'a broker filled more than was ordered']],
    );
  } finally {
    for (const table of tables) await client.query(`delete from ${table}; insert into ${table} select * from kept.${table}`);
  }
});

test('a corporate action changes the books of existing strategies of its broker only', () => {
  const folded = new Map<string, FoldedBook>();
  const buy = { kind: 'fill', symbol: 'AAPL', side: 'buy', quantity: '3', price: '10', commission: '0' } as const;
  foldInto(folded, { broker_key: 'embedded', strategy_id: 'stg_1', entry: buy });
  foldInto(folded, { broker_key: 'brk_1', strategy_id: 'stg_1', entry: buy });
  foldInto(folded, { broker_key: 'embedded', strategy_id: null, entry: { kind: 'split', symbol: 'AAPL', ratio: '2' } });
  const quantities = [...folded].map(([key, { positions }]) => [key, positions.get('AAPL')!.quantity]);
  const expected = { embedded: 6n, 'stg_1/embedded': 6n, brk_1: 3n, 'stg_1/brk_1': 3n };
  assert.deepEqual(
    Object.fromEntries(quantities),
    Object.fromEntries(Object.entries(expected).map(([key, n]) => [key, n * 1_000_000_000n])),
  );
});

for (const [what, statements, finds] of damages) {
  test(`the check finds ${what}`, async () => {
    try {
      // The live rows alone: those of test mode stay right.
      for (const statement of statements)
        await client.query(
          /^update trading_account .* where /s.test(statement) || !/^update trading_account/.test(statement)
            ? statement
            : `${statement} where id = 'acct_1'`,
        );
      const all = await found();
      assert.equal(all.length, finds.length, all.join('\n'));
      for (const [n, words] of finds.entries()) assert.match(all[n]!, words);
      assert.deepEqual(await found(accountId), all);
      assert.deepEqual(await found('acct_2'), [], "another account's books are right");
    } finally {
      for (const table of tables) await client.query(`delete from ${table}; insert into ${table} select * from kept.${table}`);
    }
  });
}

test('every check has found something above', () => {
  assert.deepEqual(new Set(tradingChecks), checksThatFound);
});

const amount = fc.integer({ min: 1, max: 5_000_000 }).map((n) => String(n / 1_000));
const fine = fc
  .bigInt({ min: 1n, max: 9_999_999_999_999n })
  .map((n) => `${n / 1_000_000_000n}.${String(n % 1_000_000_000n).padStart(9, '0')}`);
const symbol = fc.constantFrom('AAPL', 'MSFT', 'META');
const entry: fc.Arbitrary<BookEntry> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('fill' as const),
      symbol,
      side: fc.constantFrom('buy' as const, 'sell' as const),
      quantity: fc.oneof(amount, fine),
      price: fine,
      commission: fc.constantFrom('0', '0.35'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deposit' as const), amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('split' as const), symbol, ratio: fc.constantFrom('2', '0.1', '1.5', '3') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dividend' as const), symbol, amount: fc.constantFrom('0.25', '0.01') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('symbol_change' as const), from: symbol, to: symbol }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('adopted_position' as const),
      symbol,
      quantity: fc.oneof(fine, fc.constant('0')),
      averagePrice: fine,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('adopted_cash' as const), amount }) },
);

test('the fold of the check and that of the books have the same result, to the last digit', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
      const folded = new Map<string, FoldedBook>();
      for (const one of [{ kind: 'deposit', amount: '1' } as const, ...entries])
        foldInto(folded, { broker_key: 'embedded', strategy_id: null, entry: one });
      assert.deepEqual(differences(foldBook([{ kind: 'deposit', amount: '1' }, ...entries]), folded.get('embedded')!), []);
    }),
    { numRuns: 500 },
  );
});
