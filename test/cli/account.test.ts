/** `troupe account` as an operator starts it, on a real database. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { readAccountOptions } from '../../src/cli/account-options.ts';
import { testDatabase } from '../support/database.ts';
import { startIdentityNode } from '../support/identity-node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { troupe } from './command.ts';

async function operator(t: TestContext, databaseUrl: string) {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  return async (...args: string[]) => {
    const command = troupe(['account', ...args], { folder: folder.path, dataDir: folder.path, env: { DATABASE_URL: databaseUrl } });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr() };
  };
}

test('a change by an operator is confirmed with the value before, can be shown, applies at the nodes, and can be undone', async (t) => {
  const node = await startIdentityNode(t);
  const { access_token: token } = await node.register('Ann@example.com');
  const me = async () => (await (await node.request('GET', '/v1/auth/me', token)).json()) as { account_id: string; plan: string };
  const { account_id: id, plan } = await me();
  assert.equal(plan, 'free');
  const account = await operator(t, node.database.url);

  const set = await account('set', 'ANN@example.com', '--plan', 'business', '--requests-per-minute', '100000', '--credits', '-1');
  assert.deepEqual([set.code, set.error], [0, '']);
  assert.equal(
    set.out,
    `ann@example.com  ${id}
  plan                 free (as subscribed) → business (set by an operator; free is subscribed)
  requests per minute  the plan's → 100000
  credits              the plan's → unlimited
Every running node applies this within a second.
`,
  );
  await node.overrides.poll();
  assert.equal((await me()).plan, 'business');

  const again = await account('set', 'ann@example.com', '--credits=-1', '--plan', 'default', '--json');
  const { before, after, ...head } = JSON.parse(again.out);
  assert.deepEqual(head, { email: 'ann@example.com', account_id: id, subscribed_plan: 'free' });
  const others = { concurrent_requests: null, websockets: null, tasks_limit: null, agent_minutes: null };
  const held = {
    requests_per_minute: 100_000,
    credits: -1,
    ...others,
    concurrent_tasks: null,
    concurrent_agents: null,
    api_keys: null,
    storage_bytes: null,
    storage_files: null,
  };
  assert.deepEqual(
    [before, after],
    [
      { plan: 'business', ...held },
      { plan: null, ...held },
    ],
  );
  await node.overrides.poll();
  assert.equal((await me()).plan, 'free');

  const shown = await account('show', 'ann@example.com');
  assert.match(shown.out, /^ {2}plan {17}free \(as subscribed\)$/m);
  assert.match(shown.out, /^ {2}credits {14}unlimited$/m);
  assert.match(shown.out, /^ {2}websockets {11}the plan's$/m);
  assert.deepEqual(JSON.parse((await account('show', 'ann@example.com', '--json')).out).overrides, after);
});

test('an unregistered address is one line and exit 1', async (t) => {
  const { database } = await startIdentityNode(t);
  const account = await operator(t, database.url);
  for (const action of [
    ['set', 'bob@example.com', '--credits', '5'],
    ['show', 'bob@example.com'],
  ]) {
    const { code, out, error } = await account(...action);
    assert.deepEqual([code, out, error], [1, '', 'No account of this service has the e-mail address bob@example.com\n']);
  }
});

test('an empty or unreachable database is reported in one line without a password', async (t) => {
  const empty = await testDatabase({ empty: true });
  t.after(() => empty.close());
  const unprepared = await (await operator(t, empty.url))('show', 'ann@example.com');
  assert.deepEqual([unprepared.code, unprepared.out], [1, '']);
  assert.match(unprepared.error, /^The tables of this version are missing in the database: start the service once, then try again\n$/);

  const nowhere = await (await operator(t, 'postgres://me:secret@127.0.0.1:1/none'))('set', 'ann@example.com', '--credits', '1');
  assert.equal(nowhere.code, 4);
  assert.match(nowhere.error, /^The database none at 127\.0\.0\.1:1 cannot be used \(.*ECONNREFUSED.*\): check DATABASE_URL\n$/);
});

test('wrong usage is reported before any query, with the usage and exit 2; help needs no database', async (t) => {
  const account = await operator(t, 'postgres://nobody@127.0.0.1:1/none');
  const wrong: [string[], RegExp][] = [
    [[], /Give a command: set or show/],
    [['frob', 'ann@example.com'], /There is no command account "frob"/],
    [['set'], /Give the e-mail address of the account/],
    [['set', 'ann', '--credits', '1'], /"ann" is not an e-mail address/],
    [['set', 'ann@example.com', 'bob@example.com', '--credits', '1'], /Give one account only/],
    [['set', 'ann@example.com'], /Give at least one option to set/],
    [['set', 'ann@example.com', '--credits'], /'--credits <value>' argument missing/],
    [['set', 'ann@example.com', '--credits', '-2'], /--credits must be a whole number from 0 to 9000000000000, -1 for unlimited/],
    [['set', 'ann@example.com', '--websockets', '1.5'], /--websockets must be a whole number/],
    [['set', 'ann@example.com', '--plan', 'gold'], /--plan must be free, pro, power, business, or default/],
    [['set', 'ann@example.com', '--nope', '-1'], /Unknown option '--nope'/],
    [['show', 'ann@example.com', '--plan', 'pro'], /--plan is an option of account set, not of account show/],
  ];
  for (const [args, message] of wrong) assert.throws(() => readAccountOptions(args), { name: 'Failure', kind: 'usage', message });
  const result = await account('set', 'ann@example.com');
  assert.deepEqual([result.code, result.out], [2, '']);
  assert.match(result.error, /^Give at least one option to set\nUsage: npm run troupe -- account set EMAIL/);
  const { code, out } = await account('--help');
  assert.equal(code, 0);
  assert.match(out, /^Usage: npm run troupe -- account set EMAIL/);
});
