/** `troupe trading` as a user runs it: an account and its orders, halting and resuming, the check of the books, wrong usage. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { trading as command } from '../../src/cli/trading.ts';
import { loadConfig } from '../../src/config.ts';
import { Database } from '../../src/storage/database.ts';
import { tradingChecks } from '../../src/storage/trading-check.ts';
import { testDatabase } from '../support/database.ts';
import { insertNeutralRow } from '../support/neutral-row.ts';
import { Caller, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { troupe } from './command.ts';

type Ended = { code: number | null; out: string; error: string };

async function trading(t: TestContext, databaseUrl: string) {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  return async (...args: string[]): Promise<Ended> => {
    const command = troupe(['trading', ...args], { folder: folder.path, dataDir: folder.path, env: { DATABASE_URL: databaseUrl } });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr() };
  };
}

test('for correct trading books the exit code is 0, for others 1 with their errors', async (t) => {
  const kept = await testDatabase();
  t.after(() => kept.close());
  const check = await trading(t, kept.url);
  assert.deepEqual(await check('check'), {
    code: 0,
    out: 'The trading books are correct: 0 accounts, 0 orders, 0 of them open, 0 fills\n',
    error: '',
  });
  const database = new Database(kept.url, { poolSize: 1 });
  t.after(() => database.close());
  const account = { id: 'acct_1', account_id: 'acct_1', mode: 'live', books: {}, open: { ord_1: {} }, entries: 2 };
  await insertNeutralRow(database, 'trading_account', account);
  const [wrong, json] = (await Promise.all([check('check'), check('check', '--json')])) as [Ended, Ended];
  assert.deepEqual(
    [wrong.code, wrong.out.trimEnd().split('\n')],
    [
      1,
      [
        'The trading books have errors: 1 accounts, 0 orders, 0 of them open, 0 fills',
        '  acct_1  2 entries, in the journal 0 (a journal has each of its numbers once)',
        '  acct_1  ord_1: held open, and has ended (an account holds open what has not ended, and nothing else)',
      ],
    ],
  );
  const { ok, accounts, open_orders, findings } = JSON.parse(json.out);
  assert.deepEqual([json.code, ok, accounts, open_orders, findings.length], [1, false, 1, 0, 2]);
});

test('a user sees account and orders with a token, and halts and resumes after signing in', { timeout: 240_000 }, async (t) => {
  const kept = await testDatabase();
  t.after(() => kept.close());
  const service = await startService(t, { DATABASE_URL: kept.url });
  const person = await Caller.register(service, 'ann');
  const key = await person.program('live', ['trading.read', 'trading.write']);
  const order = { symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'limit', limit_price: 1, time_in_force: 'gtc' };
  const { id } = await key.json('POST', '/v1/trading/orders', order);
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const run = async (args: string[], input?: string): Promise<Ended> => {
    const command = troupe(['trading', ...args], { folder: folder.path, dataDir: folder.path, url: service.url, input });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr() };
  };
  const asKey = ['--token', key.token];
  const asAnn = ['--email', 'ann@example.com'];
  const password = 'a long enough password\n';

  const [account, orders, json, refused] = await Promise.all([
    run(['account', ...asKey]),
    run(['orders', '--symbol', 'AAPL', ...asKey]),
    run(['orders', '--status', 'filled', '--json', ...asKey]),
    run(['halt', ...asKey]),
  ]);
  assert.deepEqual([account.code, account.error], [0, '']);
  assert.match(account.out, /^PAPER {2}embedded\n {2}trading {11}open\n {2}cash {14}100000\.00 USD\n/);
  assert.match(account.out, /the day's result {2}0\.00 USD of -2500\.00 USD\n/);
  assert.match(orders.out, new RegExp(`^\\S+ ${id} PAPER embedded: buy 1 AAPL limit limit 1, accepted\\n$`));
  assert.deepEqual([json.code, JSON.parse(json.out).total], [0, 0]);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /^The token does not allow this/);

  const halted = await run(['halt', '--reason', 'a drill', ...asAnn], password);
  assert.equal(halted.code, 0, halted.error);
  assert.match(halted.out, new RegExp(`^Trading is halted since \\S+\\. 1 orders cancelled: ${id}\\n$`));
  assert.match((await run(['account', ...asKey])).out, /trading {11}halted/);
  const resumed = await run(['resume', '--json', ...asAnn], password);
  assert.deepEqual([resumed.code, JSON.parse(resumed.out)], [0, { halted: false }]);
  assert.deepEqual(await run(['halt', ...asAnn], 'wrong\n'), { code: 1, out: '', error: 'Email, password or code is wrong\n' });
  assert.match((await run(['halt', ...asAnn])).error, /^No password was given/);

  const books = await command(['check'], loadConfig({ DATABASE_URL: kept.url }));
  assert.equal(books, 0);
  const database = new Database(kept.url, { poolSize: 1 });
  t.after(() => database.close());
  const { rows } = await database.read({ name: 'open_sessions', text: "select from session where status = 'active'", values: [] });
  assert.equal(rows.length, 1, 'the command signs out');
});

test('wrong usage exits with 2, an unreachable database with 4 and one line; the help lists all checks', async (t) => {
  const check = await trading(t, 'postgres://me:secret@127.0.0.1:1/none');
  const [nowhere, help] = (await Promise.all([check('check'), check('--help')])) as [Ended, Ended];
  assert.deepEqual([nowhere.code, nowhere.out], [4, '']);
  assert.match(nowhere.error, /^The database none at 127\.0\.0\.1:1 cannot be used/);
  assert.deepEqual([help.code, help.error], [0, '']);
  for (const proved of tradingChecks) assert.ok(help.out.includes(`\n  - ${proved}\n`), proved);
  const config = loadConfig({});
  const wrong = [
    [],
    ['buy'],
    ['check', 'all'],
    ['check', '--token', 'x'],
    ['halt', '--account', 'a'],
    ['orders', '--limit', '0'],
    ['account', '--url', 'nowhere'],
    ['halt', '--email', 'a@example.com', '--token', 'x'],
  ];
  for (const args of wrong) await assert.rejects(command(args, config), { name: 'Failure', kind: 'usage' }, args.join(' '));
});
