/** `troupe ledger check` as an operator runs it: output and exit code for correct books, for some errors and for very many. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { ledger as command } from '../../src/cli/ledger.ts';
import { loadConfig } from '../../src/config.ts';
import { ledgerChecks } from '../../src/storage/ledger-check.ts';
import { startIdentityNode } from '../support/identity-node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { troupe } from './command.ts';

type Ended = { code: number | null; out: string; error: string };

async function ledger(t: TestContext, databaseUrl: string) {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  return async (...args: string[]) => {
    const command = troupe(['ledger', ...args], { folder: folder.path, dataDir: folder.path, env: { DATABASE_URL: databaseUrl } });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr() };
  };
}

test('consistent books exit with 0, others with 1: some of each kind are named, all are counted; an unknown account with one line', async (t) => {
  const node = await startIdentityNode(t);
  await node.register('ann@example.com');
  const check = await ledger(t, node.database.url);
  const invoices = `insert into invoice (id, account_id, plan, billing_period, amount_minor, status, period_start, period_end, created_at, lines, payment_id)
    select 'inv_' || n, 'acct_' || n, 'pro', 'monthly', 1, 'paid', now(), now(), now(), '[{"amountMinor": 0}]', 'cs_' || n from generate_series(10, 64) n`;
  await node.database.read({ name: 'wrong_invoices', text: invoices, values: [] });
  const asked = [['check'], ['check', '--json'], ['check', '--account', 'Ann@example.com'], ['check', '--account', 'bob@example.com']];
  const [wrong, json, hers, nobodys] = (await Promise.all(asked.map((args) => check(...args)))) as [Ended, Ended, Ended, Ended];
  assert.equal(wrong.code, 1);
  const lines = wrong.out.trimEnd().split('\n');
  assert.match(lines[0]!, /^The books have errors: /);
  assert.deepEqual(
    [lines[2], lines.length, lines.at(-1)],
    ['  acct_10  inv_10: 1, lines 0 (an invoice is the sum of its lines)', 23, '  … and 35 more (an invoice is the sum of its lines)'],
  );
  const { ok, findings, left_out } = JSON.parse(json.out);
  assert.deepEqual([ok, findings.length, left_out], [false, 20, [{ check: 'an invoice is the sum of its lines', count: 35 }]]);
  assert.deepEqual(hers, { code: 0, out: 'The books are correct: 0 entries, 0 wallets with 0.00 USD, 0 cards\n', error: '' });
  assert.deepEqual(nobodys, { code: 1, out: '', error: 'No account of this service has the e-mail address bob@example.com\n' });
});

test('wrong usage exits with 2, an unreachable database with 4 and one line; the help lists all checks', async (t) => {
  const check = await ledger(t, 'postgres://me:secret@127.0.0.1:1/none');
  const [used, nowhere, help] = (await Promise.all([check('prove'), check('check'), check('check', '--help')])) as [Ended, Ended, Ended];
  assert.deepEqual([used.code, used.out], [2, '']);
  assert.match(used.error, /^Give the command: check\nUsage: npm run troupe -- ledger check/);
  const config = loadConfig({});
  for (const args of [[], ['check', 'ann@example.com'], ['check', '--account'], ['check', '--nope']])
    await assert.rejects(command(args, config), { name: 'Failure', kind: 'usage' }, args.join(' '));
  assert.deepEqual([nowhere.code, nowhere.out], [4, '']);
  assert.match(nowhere.error, /^The database none at 127\.0\.0\.1:1 cannot be used \(.*ECONNREFUSED.*\): check DATABASE_URL\n$/);
  assert.deepEqual([help.code, help.error], [0, '']);
  for (const proved of ledgerChecks) assert.ok(help.out.includes(`\n  - ${proved}\n`), proved);
});
