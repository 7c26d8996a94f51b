/** `troupe run` against the whole service: its output for a user without a terminal, or for a script. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import test, { type TestContext } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { openAiServer, raw } from '../support/openai-server.ts';
import { type Service, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { noTerminal, troupe, troupeAtTerminal, type Where } from './command.ts';

const sales = resolve('examples/sales.csv');
const mailOrder = 'E-mail a summary of notes.txt to ann@example.com';

async function serviceFor(t: TestContext, env: Record<string, string> = {}): Promise<Service> {
  const database = await testDatabase();
  t.after(() => database.close());
  return startService(t, { ...env, DATABASE_URL: database.url });
}

/** A folder of the person's own, with a small text file in it. */
async function person(t: TestContext, url: string): Promise<Where> {
  const folder = await temporaryFolder('troupe-person-');
  t.after(() => folder.remove());
  await writeFile(join(folder.path, 'notes.txt'), 'Hello there. This is a note about the plan.\n');
  return { url, dataDir: join(folder.path, 'data'), folder: folder.path };
}

/** An address that stays the same whichever port the service has after a restart. */
async function addressInFrontOf(t: TestContext, service: Service): Promise<string> {
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(Number(new URL(service.url).port), '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.after(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
}

function taskIdIn(output: string): string {
  return /task_[0-9a-z]{26}/.exec(output)![0];
}

async function keptKey({ dataDir, url }: Where): Promise<string> {
  return JSON.parse(await readFile(join(dataDir, 'cli.json'), 'utf8')).services[url!].api_key;
}

async function api(where: Where, path: string, json?: unknown): Promise<any> {
  const headers = { Authorization: `Bearer ${await keptKey(where)}`, 'Content-Type': 'application/json' };
  const response = await fetch(
    where.url + path,
    json === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(json) },
  );
  assert.ok(response.ok, `${path}: ${response.status}`);
  return response.json();
}

/** An account, and its API keys. */
async function newAccount(url: string): Promise<{ key(scopes: string[]): Promise<string> }> {
  const post = async (path: string, json: object, token?: string) => {
    const headers = { 'Content-Type': 'application/json', ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(json) });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return (await response.json()) as any;
  };
  const email = `scopes-${process.hrtime.bigint()}@example.com`;
  const { access_token: session } = await post('/v1/auth/register', { email, password: 'a long password 1', name: 'Scopes' });
  return { key: async (scopes) => (await post('/v1/api-keys', { name: 'one', scopes }, session)).key };
}

test('a person without an account', { timeout: 480_000 }, async (t) => {
  const service = await serviceFor(t);

  await t.test(
    'gets the report of a CSV as a file, a plain log, and exit 0; only this user can read the key, and it is never shown',
    async (t) => {
      const where = await person(t, service.url);
      const command = troupe(['run', 'Analyse sales.csv and tell me what stands out', '--file', sales], where);
      assert.equal(await command.exit, 0, command.stderr());
      const id = taskIdIn(command.stderr());
      const saved = join(where.folder, 'troupe-out', id);
      assert.deepEqual((await readdir(saved)).sort(), ['analysis.json', 'chart.svg', 'report.md']);
      assert.match(await readFile(join(saved, 'report.md'), 'utf8'), /119 rows, 7 columns/);
      const log = command.stdout();
      assert.match(log, /^\d\d:\d\d:\d\d {2}task {10}created\n/);
      assert.match(log, /plan: analyst "/);
      assert.match(log, /analyst {7}profile_table path: sales\.csv\n/);
      assert.match(log, /delivered report\.md \(/);
      assert.match(log, /119 rows, 7 columns/);
      assert.ok(log.includes(join(saved, 'report.md')));
      assert.ok(!log.includes('\x1b'), 'no escape sequences without a terminal');
      assert.equal((await stat(join(where.dataDir, 'cli.json'))).mode & 0o777, 0o600);
      assert.ok(!`${log}${command.stderr()}`.includes(await keptKey(where)));
    },
  );

  await t.test('has the same account in the next run, and existing files are not replaced', async (t) => {
    const where = await person(t, service.url);
    const first = troupe(['run', 'Summarise notes.txt', '--file', 'notes.txt', '--out', 'results'], where);
    assert.equal(await first.exit, 0, first.stderr());
    const before = await readdir(join(where.folder, 'results'));
    assert.ok(before.length > 0);
    const again = troupe(['run', '--attach', taskIdIn(first.stderr()), '--out', 'results'], where);
    assert.equal(await again.exit, 0, again.stderr());
    assert.match(again.stdout(), /task {10}complete/);
    assert.doesNotMatch(again.stderr(), /Created the account/);
    assert.equal((await readdir(join(where.folder, 'results'))).length, before.length * 2);
  });

  await t.test('a key without the scopes of agents is told which scope is missing for what, also with --yes and --no', async (t) => {
    const where = await person(t, service.url);
    const account = await newAccount(service.url);
    const forTasks = ['tasks.read', 'tasks.write', 'workspaces.read', 'workspaces.write'];
    const withKey = async (scopes: string[]) => ({ ...where, env: { TROUPE_TOKEN: await account.key([...forTasks, ...scopes]) } });

    for (const decision of ['--yes', '--no']) {
      const refused = troupe(['run', mailOrder, '--file', 'notes.txt', decision, '--cancel-on-interrupt'], await withKey([]));
      await refused.says(/steps of agents are not shown.*agents\.read/);
      await refused.says(/agents\.write[\s\S]*curl -X POST/);
      refused.child.kill('SIGINT');
      await refused.exit;
    }
    const decides = troupe(['run', mailOrder, '--file', 'notes.txt', '--yes'], await withKey(['agents.write']));
    assert.equal(await decides.exit, 0, decides.stderr());
    assert.match(decides.stderr(), /steps of agents are not shown.*agents\.read/);
  });

  await t.test('--yes approves requests of agents, --no rejects them', async (t) => {
    const where = await person(t, service.url);
    const yes = troupe(['run', mailOrder, '--file', 'notes.txt', '--yes'], where);
    assert.equal(await yes.exit, 0, yes.stderr());
    assert.match(yes.stdout(), /approved: send_email/);
    const no = troupe(['run', mailOrder, '--file', 'notes.txt', '--no', '--json'], where);
    assert.equal(await no.exit, 0, no.stderr());
    const lines = no
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.ok(lines.some(({ type, data }) => type === 'approval.rejected' && data.reason === 'Rejected by --no'));
    assert.deepEqual(lines.at(-1), {
      type: 'result',
      task_id: taskIdIn(no.stderr()),
      status: 'complete',
      error: null,
      pause_reason: null,
      files: [],
    });
    const seqs = lines.slice(0, -1).map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
      'each event once, in order',
    );
  });

  await t.test(
    'without a terminal the output says how to decide elsewhere; after Ctrl-C the task continues; --attach follows it',
    async (t) => {
      const where = await person(t, service.url);
      const command = troupe(['run', mailOrder, '--file', 'notes.txt'], where);
      await command.says(/curl -X POST \S+\/v1\/agents\/agnt_\w+\/approve\/appr_\w+ /);
      assert.match(command.stderr(), /to: ann@example\.com/);
      command.child.kill('SIGINT');
      assert.equal(await command.exit, 130);
      const id = taskIdIn(command.stderr());
      assert.ok(command.stderr().includes(`--attach ${id}`));
      assert.equal((await api(where, `/v1/tasks/${id}`)).status, 'running');
      const attached = troupe(['run', '--attach', id, '--no'], where);
      assert.equal(await attached.exit, 0, attached.stderr());
      assert.match(attached.stdout(), /rejected: send_email/);
    },
  );

  await t.test('--cancel-on-interrupt cancels the task on Ctrl-C, and the exit code says cancelled', async (t) => {
    const where = await person(t, service.url);
    const command = troupe(['run', mailOrder, '--file', 'notes.txt', '--cancel-on-interrupt'], where);
    await command.says('waits for your approval');
    command.child.kill('SIGINT');
    assert.equal(await command.exit, 3, command.stderr());
    assert.equal((await api(where, `/v1/tasks/${taskIdIn(command.stderr())}`)).status, 'cancelled');
  });

  await t.test('missing files, folders and files with equal names are refused before anything is created', async (t) => {
    const where = await person(t, service.url);
    for (const [args, words] of [
      [['--file', 'nowhere.csv'], /nowhere\.csv does not exist/],
      [['--file', sales, '--file', '.'], /is a folder/],
      [['--file', sales, '--file', sales], /Two files have the name sales\.csv/],
      [['--schema', 'notes.txt'], /cannot be read as JSON/],
      [['--out', 'notes.txt'], /is not a folder/],
    ] as const) {
      const command = troupe(['run', 'Analyse it', ...args], where);
      assert.equal(await command.exit, 2);
      assert.match(command.stderr(), words);
    }
    assert.deepEqual(await readdir(where.folder), ['notes.txt'], 'not even an account was made');
  });

  await t.test('a field that the service refuses is named', async (t) => {
    const where = await person(t, service.url);
    const command = troupe(['run', 'x'.repeat(32_001)], where);
    assert.equal(await command.exit, 1);
    assert.match(command.stderr(), /refuses the request as invalid \(prompt: /);
  });

  await t.test('an uploaded file that the service refuses is named, and no task is created', async (t) => {
    const where = await person(t, service.url);
    await writeFile(join(where.folder, 'größe.csv'), 'a,b\n1,2\n');
    await writeFile(join(where.folder, 'tool.exe'), 'MZ\0\0');
    const command = troupe(['run', 'Look at these', '--file', 'größe.csv', '--file', 'tool.exe'], where);
    assert.equal(await command.exit, 1);
    assert.match(command.stderr(), /tool\.exe could not be uploaded/);
    assert.equal((await api(where, '/v1/tasks')).total, 0);
    const [workspace] = await api(where, '/v1/workspaces');
    assert.deepEqual(await api(where, `/v1/workspaces/${workspace.id}/files`), []);
  });

  await t.test('a key that is no longer known is replaced by a new account, with a notice', async (t) => {
    const where = await person(t, service.url);
    const first = troupe(['run', 'Write hello to hello.txt'], where);
    await first.exit;
    const path = join(where.dataDir, 'cli.json');
    const kept = JSON.parse(await readFile(path, 'utf8'));
    kept.services[service.url].api_key = `${kept.services[service.url].api_key.slice(0, -1)}!`;
    await writeFile(path, JSON.stringify(kept));
    const second = troupe(['run', 'Write hello to hello.txt'], where);
    assert.equal(await second.exit, 0, second.stderr());
    assert.match(second.stderr(), /does not know the account cli-\w+@localhost\.localdomain any more/);
    const refused = troupe(['run', 'Hello', '--token', 'mk_live_nonsense'], where);
    assert.equal(await refused.exit, 1);
    assert.match(refused.stderr(), /does not accept the token/);
  });

  await t.test(
    'in a terminal the user answers y or n, with a reason; after any other answer the question is repeated',
    { skip: noTerminal },
    async (t) => {
      const where = await person(t, service.url);
      const yes = troupeAtTerminal(['run', mailOrder, '--file', 'notes.txt'], where);
      await yes.says('Approve? [y/n]');
      assert.match(yes.stdout(), /to: ann@example\.com/);
      yes.type('perhaps\r');
      await yes.says(/Approve\? \[y\/n\][\s\S]*Approve\? \[y\/n\]/);
      yes.type('y\r');
      assert.equal(await yes.exit, 0, yes.stdout());
      assert.match(yes.stdout(), /approved: send_email/);
      const no = troupeAtTerminal(['run', mailOrder, '--file', 'notes.txt'], where);
      await no.says('Approve? [y/n]');
      no.type('n\r');
      await no.says('Reason for the agent');
      no.type('Not today\r');
      assert.equal(await no.exit, 0, no.stdout());
      assert.match(no.stdout(), /rejected: send_email \(Not today\)/);
    },
  );

  await t.test('in a terminal Ctrl-C ends a question, and Ctrl-D leaves it open for a later attach', { skip: noTerminal }, async (t) => {
    const where = await person(t, service.url);
    const command = troupeAtTerminal(['run', mailOrder, '--file', 'notes.txt'], where);
    await command.says('Approve? [y/n]');
    command.type('\x04');
    await command.says('waits for your approval');
    const id = taskIdIn(command.stdout());
    const other = troupeAtTerminal(['run', '--attach', id], where);
    await other.says('Approve? [y/n]');
    other.type('\x03');
    assert.equal(await other.exit, 130, other.stdout());
    const decider = troupe(['run', '--attach', id, '--yes'], where);
    assert.equal(await decider.exit, 0);
    assert.equal(await command.exit, 0, command.stdout());
  });

  await t.test('an approval given elsewhere ends the question', { skip: noTerminal }, async (t) => {
    const where = await person(t, service.url);
    const command = troupeAtTerminal(['run', mailOrder, '--file', 'notes.txt'], where);
    await command.says('Approve? [y/n]');
    const other = troupe(['run', '--attach', taskIdIn(command.stdout()), '--yes'], where);
    assert.equal(await other.exit, 0, other.stderr());
    assert.equal(await command.exit, 0, command.stdout());
    assert.match(command.stdout(), /decided elsewhere/);
  });

  await t.test('in a terminal some lines are redrawn; NO_COLOR removes the colours', { skip: noTerminal }, async (t) => {
    const where = await person(t, service.url);
    const colourful = troupeAtTerminal(['run', 'Analyse sales.csv', '--file', sales], where);
    assert.equal(await colourful.exit, 0, colourful.stdout());
    assert.match(colourful.stdout(), /\x1b\[\d+A/);
    assert.match(colourful.stdout(), /\x1b\[32m/);
    const plain = troupeAtTerminal(['run', 'Analyse sales.csv', '--file', sales], { ...where, env: { NO_COLOR: '1' } });
    assert.equal(await plain.exit, 0, plain.stdout());
    assert.match(plain.stdout(), /\x1b\[\d+A/);
    assert.doesNotMatch(plain.stdout(), /\x1b\[[\d;]*m/);
  });

  await t.test('after a restart of the service the task is followed further, with every event once', async (t) => {
    const where = await person(t, await addressInFrontOf(t, service));
    const command = troupe(['run', mailOrder, '--file', 'notes.txt', '--json'], where);
    await command.says('waits for your approval');
    await service.kill();
    await command.says('Connection to the service lost');
    await service.restart();
    await command.says('Connected to the service again');
    const id = taskIdIn(command.stderr());
    const [approval] = (await api(where, `/v1/tasks/${id}`)).approvals;
    await api(where, `/v1/agents/${approval.agent_id}/approve/${approval.id}`, { approved: true });
    assert.equal(await command.exit, 0, command.stderr());
    const printed = command.stdout().trimEnd().split('\n').slice(0, -1);
    const history = (await api(where, `/v1/tasks/${id}/events?limit=100`)).data;
    assert.deepEqual(
      printed.map((line) => JSON.parse(line).id),
      history.map((event: { id: string }) => event.id),
    );
  });
});

test('a task whose model refuses every request fails, and the exit code is 1', { timeout: 240_000 }, async (t) => {
  const model = await openAiServer(() =>
    raw(400, 'application/json', '{"error":{"message":"no such model","type":"invalid_request_error"}}'),
  );
  t.after(() => model.close());
  const service = await serviceFor(t, { MODEL_BASE_URL: model.url, MODEL_NAME: 'none', MODEL_API_KEY: 'k', OUTBOUND_ALLOW: '127.0.0.0/8' });
  const command = troupe(['run', 'Say hello'], await person(t, service.url));
  assert.equal(await command.exit, 1, command.stderr());
  assert.match(command.stderr(), /The task failed: /);
});
