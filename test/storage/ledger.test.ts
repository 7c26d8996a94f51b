/** Changes of the ledger that the database itself refuses, and what the check of the books finds when these rules are bypassed. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { Database } from '../../src/storage/database.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { testDatabase } from '../support/database.ts';

async function open(t: TestContext): Promise<pg.Client> {
  const server = await testDatabase();
  const database = new Database(server.url);
  await database.migrate();
  await database.close();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await server.close();
  });
  return client;
}

type Entry = [transfer: string, side: string, book: string, minor: number, account?: string];

async function enter(client: pg.Client, ...entries: Entry[]): Promise<void> {
  const rows = entries.map(
    ([transfer, side, book, minor, account = 'a']) =>
      `('${transfer}', '${side}', '${book}', '${account}', ${minor}, 'authz_${transfer}', 'd', now())`,
  );
  await client.query(`insert into ledger_entry values ${rows.join(', ')}`);
}

const deposit: Entry[] = [
  ['t1', 'credit', 'wallet', 500],
  ['t1', 'debit', 'deposits', -500],
];
const refused = { code: '23514' };

test('a transfer without two entries of one account that sum to zero is refused, with all transfers of its statement', async (t) => {
  const client = await open(t);
  const good: Entry[] = [
    ['t2', 'credit', 'wallet', 1],
    ['t2', 'debit', 'deposits', -1],
  ];
  await assert.rejects(enter(client, deposit[0]!, ...good), refused);
  await assert.rejects(enter(client, deposit[0]!, ['t1', 'debit', 'deposits', -499]), refused);
  await assert.rejects(enter(client, deposit[0]!, ['t1', 'debit', 'deposits', -500, 'b']), refused);
  await assert.rejects(enter(client, ['t1', 'credit', 'wallet', 0], ['t1', 'debit', 'deposits', 0]), refused);
  await assert.rejects(enter(client, ['t1', 'credit', 'wallet', -500], ['t1', 'debit', 'deposits', 500]), refused);
  await assert.rejects(enter(client, ['t1', 'credit', 'mattress', 500], deposit[1]!), refused);
  await enter(client, ...deposit, ...good);
});

test('a transfer has one mode, a hold keeps its mode, and a wallet has the mode of its id', async (t) => {
  const client = await open(t);
  const sides = (modes: string[]) =>
    modes.map(
      (mode, i) =>
        `('t1', '${i === 0 ? 'credit' : 'debit'}', '${i === 0 ? 'wallet' : 'deposits'}', 'a', ${i === 0 ? 5 : -5}, 'r', 'd', now(), '${mode}')`,
    );
  for (const modes of [
    ['live', 'test'],
    ['test', 'live'],
    ['other', 'other'],
  ])
    await assert.rejects(client.query(`insert into ledger_entry values ${sides(modes).join()}`), refused, modes.join());
  await client.query(`insert into ledger_entry values ${sides(['test', 'test']).join()}`);
  await client.query(
    `insert into wallet_hold (account_id, id, mode, amount_minor, status, created_at) values ('a', 'h', 'test', 1, 'open', now())`,
  );
  await assert.rejects(client.query(`update wallet_hold set mode = 'live'`), refused);
  const wallet = (id: string, mode: string) =>
    client.query(
      `insert into wallet (id, mode, currency, balance_minor, held_minor, per_transaction_minor, daily_minor, monthly_minor, timezone, spend_day, day_spent_minor, month_spent_minor, holds, waiting, updated_at)
        values ($1, $2, 'USD', 0, 0, 0, 0, 0, 'UTC', '', 0, 0, '{}', '[]', now())`,
      [id, mode],
    );
  await assert.rejects(wallet('acct_1', 'test'), refused);
  await assert.rejects(wallet('test_acct_1', 'live'), refused);
  await wallet('test_acct_1', 'test');
});

test('ledger entries are never changed, deleted or repeated', async (t) => {
  const client = await open(t);
  await enter(client, ...deposit);
  for (const statement of [
    `update ledger_entry set amount_minor = amount_minor * 2`,
    `update ledger_entry set description = 'x'`,
    `delete from ledger_entry`,
    `truncate ledger_entry`,
  ])
    await assert.rejects(client.query(statement), refused, statement);
  await assert.rejects(enter(client, ...deposit), { code: '23505' });
  await assert.rejects(
    client.query(`insert into ledger_entry select * from ledger_entry on conflict (transfer_id, side) do update set amount_minor = 7`),
    refused,
  );
});

test('a hold is closed once', async (t) => {
  const client = await open(t);
  await client.query(`insert into wallet_hold values ('a', 'h', 5, 'open', null, now(), null)`);
  await client.query(`update wallet_hold set status = 'released', resolved_at = now()`);
  await assert.rejects(client.query(`update wallet_hold set status = 'captured', transfer_id = 't'`), refused);
  await assert.rejects(client.query(`delete from wallet_hold`), refused);
});

test('the check finds nothing in correct books and names each difference in others', async (t) => {
  const client = await open(t);
  const found = async (account: string | null = null) =>
    (await checkLedger(client, account)).findings.map(({ check, accountId }) => `${accountId}: ${check}`);
  const wallet = (id: string, balance: number, held = 0) =>
    client.query(
      `insert into wallet values ('${id}', 'USD', ${balance}, ${held}, 1, 1, 1, 'UTC', '2026-01-01', 0, 0, '{}', '[]', now())
        on conflict (id) do update set balance_minor = excluded.balance_minor, held_minor = excluded.held_minor`,
    );
  await enter(client, ...deposit, ['t2', 'debit', 'wallet', -200], ['t2', 'credit', 'cards', 200]);
  await wallet('a', 300);
  await client.query(`insert into card values ('c', 'a', 'n', '0', 'h', 1000, 200, 'USD', 'active', now())`);
  await client.query(`insert into card_authorization values ('authz_t2', 'c', 'a', 200, 'm', 'approved', null, now())`);
  assert.deepEqual(await found(), []);

  await wallet('a', 301);
  assert.deepEqual(await found(), ["a: a wallet's balance is the sum of its entries"]);
  assert.deepEqual(await found('b'), []);
  await wallet('a', 300, 10);
  assert.deepEqual(await found('a'), ['a: what a wallet holds back is the sum of its open holds']);
  await wallet('a', 300);
  await client.query('update card set spent_minor = 199');
  assert.deepEqual(await found(), [
    'a: what a card has spent is the sum of its approved authorizations without what went back, within its limit',
  ]);
  await client.query('update card set spent_minor = 200');
  await client.query(`update card_authorization set status = 'declined', decline_reason = 'card_frozen'`);
  assert.equal((await found()).length, 2, 'booked and not approved, and spent without being approved');
  await client.query(`update card_authorization set status = 'approved', decline_reason = null`);
  await enter(client, ['t3', 'debit', 'wallet', -100], ['t3', 'credit', 'orders', 100]);
  await wallet('a', 200);
  assert.deepEqual(await found(), ['a: an order is complete exactly when it is booked, once']);
  await client.query(
    `insert into message values ('m', 1, 'purchase_order', 'po_1', 'paymentDecided', '{"payment":{"reference":"authz_t3"}}', now())`,
  );
  assert.deepEqual(await found(), [], 'what is on its way is no difference');
  await client.query('alter table ledger_entry disable trigger ledger_stands');
  await client.query(`update ledger_entry set amount_minor = 201 where transfer_id = 't2' and side = 'credit'`);
  assert.ok((await found()).includes('a: every transfer has two entries that sum to zero'));
});
