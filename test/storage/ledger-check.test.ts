/** The check of the books, on books written by wallet, cards and orders, and on each kind of damage in the database. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import pg from 'pg';
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { accountActor } from '../../src/domains/accounts/account/account.ts';
import { account } from '../../src/domains/accounts/account/messages.ts';
import { cardActor } from '../../src/domains/commerce/card/card.ts';
import { card, cardIdOf } from '../../src/domains/commerce/card/messages.ts';
import { purchaseOrder } from '../../src/domains/commerce/purchase-order/messages.ts';
import { purchaseOrderActor } from '../../src/domains/commerce/purchase-order/purchase-order.ts';
import { wallet, walletIdOf } from '../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../src/domains/commerce/wallet/wallet.ts';
import { type Mode, modes } from '../../src/mode.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const accountId = 'acct_1';
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
const tablesOfBothModes = tables.slice(0, 6);
let service: TestRuntime;
let client: pg.Client;

before(async () => {
  const accounts = accountActor({ startedTasks: null as never });
  service = await testRuntime([walletActor, cardActor, purchaseOrderActor, accounts] as unknown as AnyActor[]);
  const { actors } = service;
  for (const mode of modes) await keepBooks(mode);
  await service.sql(
    `insert into checkout (id, account_id, user_id, amount_minor, lines, status, created_at, expires_at) values
      ('cs_deposit', $1, 'usr_1', 70000, '[]', 'paid', now(), now()), ('cs_never', $1, 'usr_1', 70000, '[]', 'expired', now(), now())`,
    [accountId],
  );
  const offer = { plan: 'pro', billingPeriod: 'monthly', amountMinor: 4_900, paymentId: 'cs_1', processorId: null } as const;
  await actors.ask(account, accountId, 'changePlan', offer);
  await until(async () => (await service.sql(`select from purchase_order where status = 'complete'`)).length === 2, 'the payments');

  client = new pg.Client({ connectionString: service.url });
  await client.connect();
  await client.query('create schema kept');
  for (const table of tables) await client.query(`create table kept.${table} as table ${table}`);
  for (const mode of modes) {
    await client.query(`create schema ${mode}_only`);
    for (const table of tablesOfBothModes)
      await client.query(
        `create view ${mode}_only.${table} as select * from public.${table} where mode = '${mode}' with local check option`,
      );
  }
});

after(async () => {
  await client.end();
  await service.close();
});

/** Names of things of test mode end with a t. */
const named = (text: string, mode: Mode) => (mode === 'live' ? text : text.replace(/\b(txn_\w+|po_\w+|authz_\d|h\d)/g, '$1t'));

/** The same in both modes: all that wallets, cards, orders and holds may have come to. */
async function keepBooks(mode: Mode): Promise<void> {
  const { actors } = service;
  const of = (text: string) => named(text, mode);
  const walletId = walletIdOf({ accountId, mode });
  const cardId = cardIdOf(walletId, `crd_000000000000000${mode === 'live' ? 1 : 2}`);
  await actors.ask(wallet, walletId, 'deposit', { transferId: of('txn_deposit'), amountMinor: 70_000, source: 'card' });
  await actors.ask(card, cardId, 'create', {
    accountId,
    mode,
    name: 'c',
    last4: '0000',
    numberHash: mode,
    spendLimitMinor: 5_000,
    currency: 'USD',
  });
  for (const [n, amountMinor] of [100, 250, 6_000].entries())
    await actors.ask(card, cardId, 'authorize', { authorizationId: of(`authz_${n}`), amountMinor, merchant: 'm' });
  const place = async (id: string, amountMinor: number) => {
    await actors.ask(purchaseOrder, id, 'create', {
      accountId,
      mode,
      description: 'd',
      amountMinor,
      vendor: 'v',
      autoApproveThresholdMinor: 0,
    });
    await actors.ask(purchaseOrder, id, 'approve', { approvalId: `req_${id}` });
  };
  const expiresAtMs = Date.now() + 600_000;
  for (const id of ['h1', 'h2', 'h3']) await actors.ask(wallet, walletId, 'hold', { id: of(id), amountMinor: 500, expiresAtMs });
  const captured = { to: 'orders', reference: of('h2'), description: 'd' } as const;
  await actors.ask(wallet, walletId, 'capture', { holdId: of('h2'), transferId: of('txn_h2'), ...captured });
  await actors.ask(wallet, walletId, 'release', { holdId: of('h3') });
  await place(of('po_paid'), 1_000);
  await place(of('po_waits'), 500_000);
}

const found = async (about: string | null = null) =>
  (await checkLedger(client, about)).findings.map(({ check, accountId: of, mode, about: what }) => `${of} ${mode}: ${what} (${check})`);

/** Without triggers and without the checks of tables: as the owner of the database could. */
async function behindTheBack(statements: readonly string[], mode?: Mode): Promise<void> {
  await client.query(`set session_replication_role = replica; set search_path = ${mode === undefined ? '' : `${mode}_only, `}public`);
  for (const statement of statements) await client.query(statement);
  await client.query('set session_replication_role = origin; set search_path = public');
}

/** The damage and its finding. The whole finding is compared with the text that a user reads. */
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
      `insert into ledger_entry select 'txn_again', side, book, account_id, amount_minor, reference, description, created_at, mode from ledger_entry where transfer_id = 'txn_0'`,
      `update wallet set balance_minor = balance_minor - 100`,
    ],
    [/^acct_1: authz_0: 100 approved, 200 booked in 2 transfers/],
  ],
  [
    'an order that was paid twice, with the balance made to fit',
    [
      `insert into ledger_entry select 'txn_again', side, book, account_id, amount_minor, reference, description, created_at, mode from ledger_entry where transfer_id = 'txn_paid'`,
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
  [
    'a hold whose end nobody waits for',
    [`delete from timer where name = 'holds' and actor_id = '$wallet'`],
    [/^acct_1: h1: ends .* and nothing will end it/],
  ],
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
];

/** Of what there is in live mode alone. */
const liveDamages: typeof damages = [
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

/** Between the two modes. */
const crossings: typeof damages = [
  [
    'an order that was paid from the wallet of the other mode, with the balances made to fit',
    [
      `update ledger_entry set mode = 'test' where transfer_id = 'txn_paid'`,
      `update wallet set balance_minor = balance_minor + case mode when 'live' then 1000 else -1000 end`,
    ],
    [/^acct_1 live: po_paid: 1000 complete, 0 booked/, /^acct_1 test: po_paid: 0 complete, 1000 booked/],
  ],
  [
    'a transfer that goes from one mode to the other',
    [`update ledger_entry set mode = 'test' where transfer_id = 'txn_h2' and book <> 'wallet'`],
    [/^acct_1 live: txn_h2: booked in both modes \(a transfer stays in one mode\)$/],
  ],
  [
    'an authorization of the other mode than its card, with all else made to fit',
    [
      `update ledger_entry set mode = 'test' where transfer_id = 'txn_0'`,
      `update card_authorization set mode = 'test' where id = 'authz_0'`,
      `update card set spent_minor = spent_minor - 100 where mode = 'live'`,
      `update wallet set balance_minor = balance_minor + case mode when 'live' then 100 else -100 end`,
    ],
    [/^acct_1 test: authz_0: test, its card crd_\w+ is live of acct_1 \(an authorization has the account and the mode of its card\)$/],
  ],
  [
    'a payment that waits in the wallet of the other mode',
    [
      `update wallet set waiting = (select waiting from kept.wallet where mode = 'live') where mode = 'test'`,
      `update wallet set waiting = '[]' where mode = 'live'`,
    ],
    [/^acct_1 live: po_waits: approved, 500000 will never be paid/, /^acct_1 test: po_waitst: approved, 500000 will never be paid/],
  ],
];

test('books written by the service have no findings, for all accounts and for one', async () => {
  assert.deepEqual(await found(), []);
  assert.deepEqual(await found(accountId), []);
  const books = { entries: 10, wallets: 1, cards: 1, balanceMinor: 68_150 };
  assert.deepEqual(await checkLedger(client, accountId), { live: books, test: books, findings: [], leftOut: [] });
});

for (const mode of modes)
  for (const [what, statements, finds] of mode === 'live' ? [...damages, ...liveDamages] : damages) {
    const own = statements.map((text) => named(text.replace('$wallet', walletIdOf({ accountId, mode })), mode));
    const words = finds.map(({ source }) => new RegExp(named(source.replaceAll('acct_1:', `acct_1 ${mode}:`), mode)));
    finding(`${what}, in ${mode} mode`, own, words, mode);
  }
for (const [what, statements, finds] of crossings) finding(what, statements, finds);

/** @param mode whose rows alone the statements see */
function finding(what: string, statements: string[], finds: RegExp[], mode?: Mode): void {
  test(`the check finds ${what}`, async () => {
    await behindTheBack(statements, mode);
    try {
      const all = await found();
      assert.equal(all.length, finds.length, all.join('\n'));
      for (const [n, words] of finds.entries()) assert.match(all[n]!, words);
      assert.deepEqual(await found(accountId), all);
      assert.deepEqual(await found('acct_2'), [], "another account's books are right");
    } finally {
      await behindTheBack(tables.flatMap((table) => [`delete from ${table}`, `insert into ${table} select * from kept.${table}`]));
    }
    assert.deepEqual(await found(), []);
  });
}

test('text that PostgreSQL cannot read from JSON neither fails the check nor hides a finding', async () => {
  // An escaped NUL, an unpaired surrogate, and escaped backslashes before text that only looks like an escape.
  const text = String.raw`"\u0000 \ud800 \\u0000 \\\u0000 \""`;
  try {
    await behindTheBack([`update wallet set waiting = replace(waiting::text, '"description":"v"', '"description":${text}')::json`]);
    assert.equal((await service.sql(`select from wallet where waiting::text like '%ud800%'`)).length, 2);
    assert.deepEqual(await found(), []);
    await behindTheBack([`update wallet set waiting = replace(waiting::text, '"reference":"po_waits', '"reference":"po_other')::json`]);
    assert.equal((await found()).filter((finding) => finding.includes('will never be paid')).length, 2);
  } finally {
    await behindTheBack([`delete from wallet`, `insert into wallet select * from kept.wallet`]);
  }
});
