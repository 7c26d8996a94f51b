/** The check of the books on ones that the wallet, cards and orders have written, and on each kind of damage that somebody could do behind their back. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import pg from 'pg';
import { accountActor } from '../../src/actors/account/account.ts';
import { account } from '../../src/actors/account/messages.ts';
import { cardActor } from '../../src/actors/card/card.ts';
import { card, cardIdOf } from '../../src/actors/card/messages.ts';
import { purchaseOrder } from '../../src/actors/purchase-order/messages.ts';
import { purchaseOrderActor } from '../../src/actors/purchase-order/purchase-order.ts';
import type { AnyActor } from '../../src/actors/runtime/define-actor.ts';
import { wallet } from '../../src/actors/wallet/messages.ts';
import { walletActor } from '../../src/actors/wallet/wallet.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { type TestRuntime, testRuntime, until } from '../support/runtime.ts';

const accountId = 'acct_1';
const cardId = cardIdOf(accountId, 'crd_0000000000000001');
const tables = [
  'ledger_entry',
  'wallet',
  'wallet_hold',
  'card',
  'card_authorization',
  'purchase_order',
  'invoice',
  'checkout',
  'timer',
  'message',
];
let service: TestRuntime;
let client: pg.Client;

before(async () => {
  const accounts = accountActor({ startedTasks: null as never });
  service = await testRuntime([walletActor, cardActor, purchaseOrderActor, accounts] as unknown as AnyActor[]);
  const { actors } = service;
  const deposit = (transferId: string, amountMinor: number) =>
    actors.ask(wallet, accountId, 'deposit', { transferId, amountMinor, source: 'card' });
  await deposit('txn_deposit', 70_000);
  await service.sql(
    `insert into checkout (id, account_id, user_id, amount_minor, lines, status, created_at, expires_at) values
      ('cs_deposit', $1, 'usr_1', 70000, '[]', 'paid', now(), now()), ('cs_never', $1, 'usr_1', 70000, '[]', 'expired', now(), now())`,
    [accountId],
  );
  await actors.ask(card, cardId, 'create', {
    accountId,
    name: 'c',
    last4: '0000',
    numberHash: 'h',
    spendLimitMinor: 5_000,
    currency: 'USD',
  });
  for (const [n, amountMinor] of [100, 250, 6_000].entries())
    await actors.ask(card, cardId, 'authorize', { authorizationId: `authz_${n}`, amountMinor, merchant: 'm' });
  const place = async (id: string, amountMinor: number) => {
    await actors.ask(purchaseOrder, id, 'create', { accountId, description: 'd', amountMinor, vendor: 'v', autoApproveThresholdMinor: 0 });
    await actors.ask(purchaseOrder, id, 'approve', { approvalId: `req_${id}` });
  };
  const expiresAtMs = Date.now() + 600_000;
  for (const id of ['h1', 'h2', 'h3']) await actors.ask(wallet, accountId, 'hold', { id, amountMinor: 500, expiresAtMs });
  await actors.ask(wallet, accountId, 'capture', { holdId: 'h2', transferId: 'txn_h2', to: 'orders', reference: 'h2', description: 'd' });
  await actors.ask(wallet, accountId, 'release', { holdId: 'h3' });
  await place('po_paid', 1_000);
  await place('po_waits', 500_000);
  const offer = { plan: 'pro', billingPeriod: 'monthly', amountMinor: 4_900, paymentId: 'cs_1', processorId: null } as const;
  await actors.ask(account, accountId, 'changePlan', offer);
  await until(async () => (await service.sql(`select from purchase_order where status = 'complete'`)).length === 1, 'the payment');

  client = new pg.Client({ connectionString: service.url });
  await client.connect();
  await client.query('create schema kept');
  for (const table of tables) await client.query(`create table kept.${table} as table ${table}`);
});

after(async () => {
  await client.end();
  await service.close();
});

const found = async (about: string | null = null) =>
  (await checkLedger(client, about)).findings.map(({ check, accountId: of, about: what }) => `${of}: ${what} (${check})`);

/** Without triggers and without the checks of tables: as the owner of the database could. */
async function behindTheBack(...statements: string[]): Promise<void> {
  await client.query('set session_replication_role = replica');
  for (const statement of statements) await client.query(statement);
  await client.query('set session_replication_role = origin');
}

/** What is done, and what is found. The whole finding is what a person reads. */
const damages: [what: string, statements: string[], finds: RegExp[]][] = [
  [
    'a balance that is one cent off',
    ['update wallet set balance_minor = balance_minor + 1'],
    [/^acct_1: balance 68151, entries 68150 \(a wallet's balance is the sum of its entries\)$/],
  ],
  [
    'one side of a transfer that is missing',
    [`delete from ledger_entry where transfer_id = 'txn_0' and side = 'credit'`],
    [/^acct_1: txn_0: 1 entries sum to -100 \(every transfer/, /authz_0: 100 approved, 0 booked/],
  ],
  [
    'a whole transfer that is missing, with the balance made to fit',
    [`delete from ledger_entry where transfer_id = 'txn_0'`, `update wallet set balance_minor = balance_minor + 100`],
    [/^acct_1: authz_0: 100 approved, 0 booked \(an authorization is approved exactly when it is booked, once\)$/],
  ],
  [
    'an amount that was changed on both sides, with the balance made to fit',
    [
      `update ledger_entry set amount_minor = amount_minor * 2 where transfer_id = 'txn_paid'`,
      `update wallet set balance_minor = balance_minor - 1000`,
    ],
    [/^acct_1: po_paid: 1000 complete, 2000 booked \(an order is complete/],
  ],
  [
    'an authorization that was entered twice, with the balance made to fit',
    [
      `insert into ledger_entry select 'txn_again', side, book, account_id, amount_minor, reference, description, created_at from ledger_entry where transfer_id = 'txn_0'`,
      `update wallet set balance_minor = balance_minor - 100`,
    ],
    [/^acct_1: authz_0: 100 approved, 200 booked in 2 transfers/],
  ],
  [
    'an order that was paid twice, with the balance made to fit',
    [
      `insert into ledger_entry select 'txn_again', side, book, account_id, amount_minor, reference, description, created_at from ledger_entry where transfer_id = 'txn_paid'`,
      `update wallet set balance_minor = balance_minor - 1000`,
    ],
    [/^acct_1: po_paid: 1000 complete, 2000 booked in 2 transfers \(an order is complete exactly when it is booked, once\)$/],
  ],
  [
    'a payment for an order that nobody approved',
    [`update purchase_order set status = 'pending', approved_at = null, completed_at = null where id = 'po_paid'`],
    [/^acct_1: po_paid: 0 complete, 1000 booked/],
  ],
  [
    'a wallet that is gone',
    ['delete from wallet'],
    [/balance 0, entries 68150/, /h1: open 500, in its wallet 0/, /po_waits: approved, 500000 will never be paid/],
  ],
  [
    'what a card has spent that is off',
    ['update card set spent_minor = spent_minor - 1'],
    [/^acct_1: crd_\w+: spent 349 of 5000, approved 350 \(what a card has spent/],
  ],
  [
    'a hold that its wallet does not know any more',
    [`update wallet set holds = '{}', held_minor = 0`],
    [
      /held 0, open holds 500|h1: open 500, in its wallet 0/,
      /h1: open 500, in its wallet 0 \(an open hold stands in its wallet, which frees it in time\)$/,
    ],
  ],
  ['a hold whose end nobody waits for', [`delete from timer where name = 'holds'`], [/^acct_1: h1: ends .* and nothing will end it/]],
  ['what is held that is off', ['update wallet set held_minor = held_minor + 1'], [/^acct_1: held 501, open holds 500/]],
  [
    'a captured hold that was not booked',
    [`delete from ledger_entry where transfer_id = 'txn_h2'`, 'update wallet set balance_minor = balance_minor + 500'],
    [/^acct_1: h2: held 500, booked 0 \(a captured hold is booked as it was held\)$/],
  ],
  [
    'an approved order that its wallet has forgotten',
    [`update wallet set waiting = '[]'`],
    [/^acct_1: po_waits: approved, 500000 will never be paid \(an approved order that is not paid waits in its wallet\)$/],
  ],
  [
    'a deposit that was paid and not booked',
    [`delete from ledger_entry where transfer_id = 'txn_deposit'`],
    [
      /^acct_1: balance 68150, entries -1850/,
      /^acct_1: cs_deposit: paid, 70000 asked for, 0 booked \(a deposit by a payment processor is paid exactly when it is booked\)$/,
    ],
  ],
  [
    'a deposit that was booked and not paid',
    [`update checkout set status = 'mismatched' where id = 'cs_deposit'`],
    [/^acct_1: cs_deposit: mismatched, 70000 asked for, 70000 booked/],
  ],
  [
    'a deposit that was booked as more than was paid',
    [`update checkout set amount_minor = 69999 where id = 'cs_deposit'`],
    [/^acct_1: cs_deposit: paid, 69999 asked for, 70000 booked/],
  ],
  [
    'an invoice that is not what it says',
    ['update invoice set amount_minor = amount_minor - 1'],
    [/^acct_1: inv_.*: 4899, lines 4900 \(an invoice is the sum of its lines\)$/],
  ],
];

test('books that were written by the service are right, for all and for one account', async () => {
  assert.deepEqual(await found(), []);
  assert.deepEqual(await found(accountId), []);
  const { entries, wallets, cards, balanceMinor } = await checkLedger(client, accountId);
  assert.deepEqual({ entries, wallets, cards, balanceMinor }, { entries: 10, wallets: 1, cards: 1, balanceMinor: 68_150 });
});

for (const [what, statements, finds] of damages)
  test(`the check finds ${what}`, async () => {
    await behindTheBack(...statements);
    try {
      const all = await found();
      assert.equal(all.length, finds.length, all.join('\n'));
      for (const [n, words] of finds.entries()) assert.match(all[n]!, words);
      assert.deepEqual(await found(accountId), all);
      assert.deepEqual(await found('acct_2'), [], "another account's books are right");
    } finally {
      await behindTheBack(...tables.flatMap((table) => [`delete from ${table}`, `insert into ${table} select * from kept.${table}`]));
    }
    assert.deepEqual(await found(), []);
  });
