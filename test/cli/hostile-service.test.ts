/** A busy, faulty or hostile service: none of its answers can write outside the folder, control the terminal, or create two tasks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { createClient } from '../../src/cli/client.ts';
import { safeFileName, saveDeliverables } from '../../src/cli/deliverables.ts';
import { oneLine, plainText } from '../../src/cli/plain-text.ts';
import { openEventSocket } from '../../src/cli/socket.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, n: number) => void;

async function serverThat(t: TestContext, answer: Answer) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response, requests.push(request));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const notices: string[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  return { requests, notices, client: createClient({ url, token: 'secret-token', signal, notice: (line) => void notices.push(line) }) };
}

const json = (response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}) =>
  void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));

const hostileNames = [
  '../../escape.txt',
  '/etc/passwd',
  '..\\..\\escape.txt',
  '..',
  '.',
  '',
  '.bashrc',
  '-rf',
  'CON.txt',
  'nul',
  'a\0b.txt',
  'line\nbreak.txt',
  '\x1b[2Jclear.md',
  'evil\u202etxt.exe',
  `${'ä'.repeat(300)}.md`,
  'C:\\x.txt',
  'half \ud800 a pair.md',
  'trailing. . ',
];

test('every hostile name becomes the name of one plain, visible file', () => {
  for (const name of hostileNames) {
    const safe = safeFileName(name);
    assert.ok(safe.length > 0 && Buffer.byteLength(safe) <= 255, JSON.stringify(name));
    assert.doesNotMatch(safe, /[/\\<>:"|?*\p{Cc}\u202a-\u202e]|^[.-]|[. ]$/u, JSON.stringify(name));
    assert.doesNotMatch(safe, /^(con|nul)(\.|$)/i);
  }
  assert.equal(safeFileName('Bericht für März.md'), 'Bericht für März.md');
});

test('hostile deliverables are all saved inside the folder, without replacing existing files or following links', async (t) => {
  const folder = await temporaryFolder('troupe-out-');
  t.after(() => folder.remove());
  const out = join(folder.path, 'a', 'out');
  const names = ['report.md', 'report.md', 'link.md', ...hostileNames];
  const { client } = await serverThat(t, ({ url }, response) => {
    if (url!.includes('/download')) return void response.end(`content of ${url!.split('/').at(-2)}`);
    json(response, 200, names.map((name, i) => ({ id: `dlvr_${i}`, name })).reverse());
  });
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'report.md'), 'mine');
  await symlink(join(folder.path, 'target.md'), join(out, 'link.md'));
  const paths = await saveDeliverables(client, 'task_1', out, new AbortController().signal);
  assert.equal(paths.length, names.length);
  assert.equal(await readFile(join(out, 'report.md'), 'utf8'), 'mine');
  assert.deepEqual(paths.slice(0, 3), [join(out, 'report-2.md'), join(out, 'report-3.md'), join(out, 'link-2.md')]);
  assert.equal(await readFile(paths[1]!, 'utf8'), 'content of dlvr_1');
  assert.deepEqual(await readdir(folder.path), ['a']);
  assert.deepEqual(await readdir(join(folder.path, 'a')), ['out']);
  assert.equal((await readdir(out)).length, names.length + 2);
});

test('a name with folders is saved in these folders; if a file or a link is in their place, it is saved under one name', async (t) => {
  const folder = await temporaryFolder('troupe-out-');
  t.after(() => folder.remove());
  const out = join(folder.path, 'out');
  await mkdir(join(folder.path, 'elsewhere'));
  await mkdir(out);
  await writeFile(join(out, 'file'), 'mine');
  await symlink(join(folder.path, 'elsewhere'), join(out, 'link'));
  await symlink(join(folder.path, 'nowhere'), join(out, 'dead'));
  const names = [
    'index.html',
    'assets/css/app.css',
    'dead/x.html',
    'file/a.html',
    'link/b.html',
    'link/c/d.html',
    'a/../../e.html',
    'assets/.env',
  ];
  const { client } = await serverThat(t, ({ url }, response) => {
    if (url!.includes('/download')) return void response.end('x');
    json(response, 200, names.map((name, i) => ({ id: `dlvr_${i}`, name })).reverse());
  });
  const paths = await saveDeliverables(client, 'task_1', out, new AbortController().signal);
  const expected = [
    'index.html',
    'assets/css/app.css',
    'dead_x.html',
    'file_a.html',
    'link_b.html',
    'link_c_d.html',
    'a_.._.._e.html',
    'assets_.env',
  ];
  assert.deepEqual(
    paths,
    expected.map((path) => join(out, path)),
  );
  assert.deepEqual(await readdir(join(folder.path, 'elsewhere')), []);
});

test('an interrupted download is repeated, and no incomplete file remains', async (t) => {
  const folder = await temporaryFolder('troupe-out-');
  t.after(() => folder.remove());
  let downloads = 0;
  const { client } = await serverThat(t, ({ url }, response) => {
    if (!url!.includes('/download')) return json(response, 200, [{ id: 'dlvr_1', name: 'data.csv' }]);
    if (++downloads > 1) return void response.end('whole');
    response.writeHead(200, { 'Content-Length': '1000' }).write('half', () => response.destroy());
  });
  await saveDeliverables(client, 'task_1', folder.path, new AbortController().signal);
  assert.deepEqual(await readdir(folder.path), ['data.csv']);
  assert.equal(await readFile(join(folder.path, 'data.csv'), 'utf8'), 'whole');
});

test('a creation is repeated under the same key if its answer was lost or the first request still runs', async (t) => {
  const { client, requests } = await serverThat(t, (_, response, n) => {
    if (n === 1) return void response.destroy();
    if (n === 2) return json(response, 409, { detail: 'The first request with this Idempotency-Key is still running' });
    json(response, 201, { id: 'task_1' });
  });
  assert.deepEqual(await client.request('POST', '/v1/tasks', { json: { prompt: 'x' } }), { id: 'task_1' });
  const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
  assert.deepEqual([requests.length, keys.size], [3, 1]);
});

test('after 429 the client waits as long as requested and reports it; too long waits are refused', async (t) => {
  const { client, notices } = await serverThat(t, ({ url }, response, n) => {
    if (url === '/long') return json(response, 429, { detail: 'Slow down' }, { 'Retry-After': '86400' });
    if (n === 1) return json(response, 429, { detail: 'Slow down' }, { 'Retry-After': '0' });
    json(response, 200, { ok: true });
  });
  assert.deepEqual(await client.request('GET', '/short'), { ok: true });
  assert.match(notices[0]!, /Too many requests: waiting 1 s/);
  await assert.rejects(client.request('GET', '/long'), /try again after 86400 s/);
});

test('refusals are one line without control characters and never contain the token', async (t) => {
  const { client } = await serverThat(t, ({ url }, response) => {
    if (url === '/402') return json(response, 402, { detail: 'Plan \x1b[31mexhausted\nnow' });
    if (url === '/422') return json(response, 422, { detail: [{ loc: ['body', 'config', 'max_agents'], msg: 'Too many', type: 'x' }] });
    if (url === '/html') return void response.end('<html>');
    if (url === '/moved') return void response.writeHead(301, { Location: 'https://elsewhere.example/' }).end();
    response.writeHead(500, { 'X-Request-Id': 'req_1' }).end('{{{');
  });
  const said = async (path: string) => {
    const error = (await client.request('GET', path, { retries: 0 }).catch((reason) => reason)) as Error;
    assert.doesNotMatch(error.message, /[\x00-\x1f]|secret-token/);
    return error.message;
  };
  assert.match(await said('/402'), /plan does not allow this \(Plan exhausted now\)/);
  assert.match(await said('/422'), /refuses the request as invalid \(config\.max_agents: Too many\)/);
  assert.match(await said('/html'), /answers, but is not a Troupe service/);
  assert.match(await said('/moved'), /redirects to https:\/\/elsewhere\.example\//);
  assert.match(await said('/500'), /The service failed .* request id req_1/);
});

test('a stream that is closed while it connects ends once, as lost', async (t) => {
  const { client, requests } = await serverThat(t, () => {});
  const leaving = new AbortController();
  const opening = openEventSocket(client.url, {
    token: 't',
    topics: ['task:task_1'],
    isChosen: () => true,
    resumeFrom: 0,
    signal: leaving.signal,
  });
  leaving.abort();
  assert.equal(await opening, 'lost');
  assert.equal(
    await openEventSocket(client.url, { token: 't', topics: ['task:task_1'], isChosen: () => true, resumeFrom: 0, signal: leaving.signal }),
    'lost',
  );
  assert.equal(requests.length, 0);
});

test('text of agents cannot move the cursor, be invisible, or change the direction of a line', () => {
  assert.equal(plainText('a\x1b[2Jb\x1b]0;title\x07c\rd\u009b31me\u202ef\0'), 'abc\ndef');
  assert.equal(oneLine('two\nlines\tand more'), 'two lines and more');
  assert.equal(oneLine('x'.repeat(500), 10), `${'x'.repeat(9)}…`);
});
