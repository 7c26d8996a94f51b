/** `troupe deploy` against the whole service and a stand-in of Vercel. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { statusesBetween } from '../../src/cli/deploy.ts';
import { testDatabase } from '../support/database.ts';
import { VercelStandIn } from '../support/hosts/vercel-stand-in.ts';
import type { Json } from '../support/json.ts';
import { Caller, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { troupe, type Where } from './command.ts';

const token = 'token-of-the-person-that-deploys';
const site = { 'index.html': '<h1>Hello</h1>', 'css/a b.css': 'h1{}', 'größe.txt': 'x' };

async function folderWith(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder('troupe-site-');
  t.after(() => folder.remove());
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), content);
  }
  return folder.path;
}

test('a folder is published from the command line', { timeout: 240_000 }, async (t) => {
  const database = await testDatabase();
  t.after(() => database.close());
  const host = await VercelStandIn.start(t);
  host.tokens.add(token);
  host.quick = true;
  const places = { VERCEL_API_URL: host.apiUrl, OUTBOUND_ALLOW: '127.0.0.1', DATABASE_URL: database.url };
  const service = await startService(t, places);
  const person = await Caller.register(service);
  await person.json('POST', '/v1/deployments/configs', { name: 'Website', target: 'vercel', credentials: { token } });
  const scopes = ['workspaces.read', 'workspaces.write'];
  const [live, trial] = [await person.program('live', scopes), await person.program('test', scopes)];

  async function where(t: TestContext, caller: Caller, files: Record<string, string> = site): Promise<Where> {
    const folder = await folderWith(t, files);
    return { url: service.url, dataDir: join(folder, '.data'), folder, env: { TROUPE_TOKEN: caller.token } };
  }
  const newest = async (caller: Caller): Promise<Json> => (await caller.json('GET', '/v1/deployments?limit=1')).data[0];

  await t.test('at a host by the name of a configuration: exit 0, the log, and the address as the last line', async (t) => {
    const at = await where(t, live);
    const command = troupe(['deploy', '.', '--config', 'Website'], at);
    assert.equal(await command.exit, 0, command.stderr());
    const { url, status, files } = await newest(live);
    assert.deepEqual([status, files], ['live', 3]);
    assert.equal(command.stdout().trimEnd().split('\n').at(-1), `Live: ${url}`);
    const statuses = command.stdout().matchAll(/^\d\d:\d\d:\d\d {2}(\w+)\n/gm);
    assert.deepEqual(
      Array.from(statuses, ([, status]) => status),
      ['pending', 'building', 'deploying', 'live'],
    );
    assert.match(command.stdout(), /^\d\d:\d\d:\d\d {2}troupe {6}\S/m);
    assert.equal(await (await fetch(`${url}/css/a%20b.css`)).text(), 'h1{}');
    assert.ok(!`${command.stdout()}${command.stderr()}`.includes(token));
    assert.ok(!command.stdout().includes('\x1b'), 'no escape sequences without a terminal');
  });

  await t.test('with a test key as a preview, without hidden files, installed packages and links', async (t) => {
    const at = await where(t, trial, {
      ...site,
      '.env': 'SECRET=1',
      '.git/config': 'x',
      'node_modules/a/a.js': 'x',
      '.well-known/a.txt': 'w',
    });
    await symlink('/etc/passwd', join(at.folder, 'link.txt'));
    const command = troupe(['deploy', at.folder, '--target', 'netlify', '--json'], at);
    assert.equal(await command.exit, 0, command.stderr());
    const { deployment } = JSON.parse(command.stdout().trimEnd().split('\n').at(-1)!);
    assert.equal(deployment.url, `${service.url}/preview/${deployment.id}/`);
    assert.equal(deployment.files, 4);
    assert.equal(await (await fetch(deployment.url)).text(), '<h1>Hello</h1>');
    assert.equal(await (await fetch(`${deployment.url}.well-known/a.txt`)).text(), 'w');
    for (const path of ['.env', 'link.txt', '.git/config']) assert.equal((await fetch(deployment.url + path)).status, 404, path);
    assert.match(command.stderr(), /Left out: .*\.env.*/);
    const lines = command
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // The preview is live before the first poll.
    assert.deepEqual(
      lines.filter(({ type }) => type === 'status').map(({ status }) => status),
      ['pending', 'building', 'deploying', 'live'],
    );
    const again = troupe(['deploy', '--attach', deployment.id], at);
    assert.equal(await again.exit, 0, again.stderr());
    assert.match(again.stdout(), /Live: http/);
  });

  await t.test('not without a matching configuration: exit 2, and nothing is uploaded', async (t) => {
    const at = await where(t, live);
    const before = (await live.json('GET', '/v1/workspaces')).length;
    const unknown = troupe(['deploy', '.', '--target', 'vercel', '--config', 'Other'], at);
    assert.equal(await unknown.exit, 2);
    assert.match(unknown.stderr(), /no deploy configuration of vercel called Other: there are Website/);
    const none = troupe(['deploy', '.', '--target', 'netlify'], at);
    assert.equal(await none.exit, 2);
    assert.match(none.stderr(), /no deploy configuration of netlify/);
    assert.equal((await live.json('GET', '/v1/workspaces')).length, before);
  });

  await t.test('all files of types that workspaces do not accept are named: exit 2, and nothing is sent', async (t) => {
    const at = await where(t, live, { ...site, 'tool.exe': 'MZ', 'lib/a.so': 'x' });
    const before = (await live.json('GET', '/v1/workspaces')).length;
    const command = troupe(['deploy', '.', '--target', 'vercel'], at);
    assert.equal(await command.exit, 2);
    assert.match(command.stderr(), /These 2 files .*nothing was uploaded:\n {2}(lib\/a\.so|tool\.exe)\n {2}(lib\/a\.so|tool\.exe)\n/);
    assert.equal((await live.json('GET', '/v1/workspaces')).length, before);
  });

  await t.test('a folder of 200 files is published, many files in one request', async (t) => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`pages/${n}.html`, `<h1>${n}</h1>`]));
    const command = troupe(['deploy', '.', '--target', 'netlify'], await where(t, trial, { 'index.html': 'x', ...files }));
    assert.equal(await command.exit, 0, command.stderr());
    const { url, files: count } = (await trial.json('GET', '/v1/deployments?limit=1')).data[0];
    assert.equal(count, 201);
    assert.equal(await (await fetch(`${url}pages/199.html`)).text(), '<h1>199</h1>');
  });

  await t.test('a file whose content does not match its name is named: exit 1, and the other files are deleted', async (t) => {
    const at = await where(t, live, { ...site, 'image.png': 'MZ' });
    const command = troupe(['deploy', '.', '--target', 'vercel'], at);
    assert.equal(await command.exit, 1);
    assert.match(command.stderr(), /could not be uploaded\. .*: image\.png\. Allowed/);
    const id = /workspace (ws_\w+)/.exec(command.stderr())![1];
    assert.deepEqual(await live.json('GET', `/v1/workspaces/${id}/files`), []);
  });

  await t.test('a refusal by the host: exit 1 with the text of the host', async (t) => {
    const at = await where(t, live);
    host.tokens.delete(token);
    const command = troupe(['deploy', '.', '--target', 'vercel'], at);
    assert.equal(await command.exit, 1);
    assert.match(command.stderr(), /The deployment failed \(auth\): .*Not authorized/);
    host.tokens.add(token);
  });

  await t.test('Ctrl-C cancels the deployment, also at the host: exit 3', async (t) => {
    const at = await where(t, live);
    host.next = 'none';
    const command = troupe(['deploy', '.', '--target', 'vercel'], at);
    await command.says(/deploying/);
    await until(async () => (await newest(live)).provider_id !== null, 'the deployment at the host');
    command.child.kill('SIGINT');
    assert.equal(await command.exit, 3, command.stderr());
    assert.match(command.stderr(), /Cancelling the deployment/);
    assert.equal((await newest(live)).error.code, 'cancelled');
    await until(() => host.requestsOf(/^PATCH .*\/cancel$/).length > 0, 'the cancellation at the host');
  });
});

test('a state is printed as soon as a poll has it, also where the event stream never answers', async (t) => {
  const upgrades: string[] = [];
  const states = ['deploying', 'live'];
  const server = createServer((request, response) => {
    const isLog = request.url!.includes('/logs');
    const state = {
      id: 'dep_1',
      status: states.length > 1 ? states.shift() : states[0],
      url: 'http://site',
      error: null,
      target: 'vercel',
    };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(isLog ? { data: [], has_more: false } : state));
  });
  server.on('upgrade', ({ url }) => void upgrades.push(url!));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = await folderWith(t, {});
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const command = troupe(['deploy', '--attach', 'dep_1', '--json'], {
    url,
    dataDir: folder,
    folder,
    env: { TROUPE_TOKEN: 'token-of-this-test' },
  });
  assert.equal(await command.exit, 0, command.stderr());
  const printed = command
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    printed.map(({ type, status }) => [type, status]),
    [
      ['status', 'deploying'],
      ['status', 'live'],
      ['result', undefined],
    ],
  );
  assert.deepEqual(upgrades, [], 'no stream is needed');
});

test('statuses that pass between two polls are printed, and those of a failure only where a poll has seen them', async () => {
  const deployment = { id: 'dep_1', url: null, error: null, target: 'vercel' };
  const between = (last: string, next: string) => statusesBetween({ ...deployment, status: last }, { ...deployment, status: next });
  assert.deepEqual(between('pending', 'live'), ['building', 'deploying']);
  assert.deepEqual(between('pending', 'deploying'), ['building']);
  assert.deepEqual([between('pending', 'building'), between('live', 'live'), between('pending', 'failed')], [[], [], []]);
});
