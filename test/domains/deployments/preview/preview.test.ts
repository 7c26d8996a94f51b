/** Previews over HTTP, with rows as deployments store them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { previewRoutes } from '../../../../src/domains/deployments/routes/preview.ts';
import { Concurrency } from '../../../../src/edge/limits/concurrency.ts';
import { RequestLimits } from '../../../../src/edge/limits/limits.ts';
import { OwnRates } from '../../../../src/edge/limits/own-rates.ts';
import { newId } from '../../../../src/ids.ts';
import { Database } from '../../../../src/storage/database.ts';
import { openLocalFiles } from '../../../../src/storage/local-files.ts';
import { testDatabase } from '../../../support/database.ts';
import { startEdge, type TestEdge } from '../../../support/http-edge.ts';
import { productSchemaWith } from '../../../support/product-schema.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const accountId = newId('acct_', null);
const counts = { entitlements: { of: () => assert.fail('nobody is known') }, rates: new OwnRates(), concurrency: new Concurrency() };
let database: Database;
let edge: TestEdge;
const ends: (() => unknown)[] = [];
let put: (key: string, content: string) => Promise<unknown>;

before(async () => {
  const server = await testDatabase();
  const folder = await temporaryFolder();
  database = new Database(server.url, { schema: productSchemaWith([]) });
  const files = await openLocalFiles(join(folder.path, 'files'));
  put = (key, content) => files.put(key, Readable.from([content]), 1_000_000);
  edge = await startEdge(previewRoutes({ database, files }), { limits: new RequestLimits({ ...counts, anonymousPerMinute: 60 }) });
  ends.push(
    () => folder.remove(),
    () => server.close(),
    () => database.close(),
    () => edge.server.close(0),
  );
});

after(async () => {
  for (const end of ends.reverse()) await end();
});

type Files = Record<string, string | { type: string; content: string }>;

async function preview(files: Files, { mode = 'test', status = 'live' } = {}): Promise<string> {
  const [id, snapshot] = [newId('dep_', accountId), newId('snap_', accountId)];
  await database.read({
    text: `insert into deployment (id, account_id, mode, workspace_id, target, status, step, snapshot_id, site_id, log_lines, created_at)
      values ($1, $2, $3, 'ws_1', 'vercel', $4, 'ended', 'snap_source', $5, 0, now())`,
    values: [id, accountId, mode, status, snapshot],
  });
  for (const [path, file] of Object.entries(files)) {
    const { type, content } = typeof file === 'string' ? { type: 'text/html', content: file } : file;
    const key = `ws_1/wsf_1/${newId('x_', null)}`;
    await put(key, content);
    await database.read({
      text: `insert into snapshot_file (snapshot_id, path, account_id, type, size_bytes, sha256, content_key) values ($1, $2, $3, $4, $5, 'x', $6)`,
      values: [snapshot, path, accountId, type, Buffer.byteLength(content), key],
    });
  }
  return id;
}

const get = (path: string, init: RequestInit = {}) => fetch(edge.url + path, { redirect: 'manual', ...init });

test('a page and the files below it are served without a token, sandboxed and without caching', async () => {
  const id = await preview({
    'index.html': '<h1>Ü</h1>',
    'css/a b.css': { type: 'text/css', content: 'h1{}' },
    'app.js': { type: 'text/javascript', content: '1' },
    'a.png': { type: 'image/png', content: 'png' },
    empty: { type: 'text/plain', content: '' },
  });
  for (const prefix of ['/v1', '']) {
    const response = await get(`${prefix}/preview/${id}/?x=1`);
    assert.equal(response.status, 200);
    assert.equal(await response.text(), '<h1>Ü</h1>');
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(response.headers.get('content-security-policy'), 'sandbox allow-scripts');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('set-cookie'), null);
    assert.equal(response.headers.get('etag'), null);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
  }
  for (const [path, type, content] of [
    ['index.html', 'text/html; charset=utf-8', '<h1>Ü</h1>'],
    ['css/a%20b.css', 'text/css; charset=utf-8', 'h1{}'],
    ['app.js', 'text/javascript; charset=utf-8', '1'],
    ['a.png', 'image/png', 'png'],
    ['empty', 'text/plain; charset=utf-8', ''],
  ] as const) {
    const response = await get(`/preview/${id}/${path}`);
    assert.deepEqual([response.status, response.headers.get('content-type'), await response.text()], [200, type, content], path);
    const head = await get(`/preview/${id}/${path}`, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, String(Buffer.byteLength(content)), '']);
  }
});

test('only GET and HEAD are answered', async () => {
  const id = await preview({ 'index.html': 'x' });
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await get(`/preview/${id}/index.html`, { method });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
  }
});

test('an address of a folder without the final slash is redirected to the one with it', async () => {
  const id = await preview({ 'index.html': 'x', 'docs/index.html': 'docs', 'list/a.txt': 'a' });
  for (const [from, to] of [
    [`/preview/${id}`, `/preview/${id}/`],
    [`/v1/preview/${id}?a=b`, `/v1/preview/${id}/?a=b`],
    [`/preview/${id}/docs`, `/preview/${id}/docs/`],
    [`/preview/${id}/list`, `/preview/${id}/list/`],
  ] as const) {
    const response = await get(from);
    assert.deepEqual([response.status, response.headers.get('location')], [308, to]);
  }
  assert.equal(await (await get(`/preview/${id}/docs/`)).text(), 'docs');
});

test('a folder without index.html is a list of its files, with escaped names that link to the files', async () => {
  const id = await preview({
    'a.txt': { type: 'text/plain', content: 'a' },
    'sub/b c.txt': { type: 'text/plain', content: 'b' },
    'javascript:alert(1)': { type: 'text/plain', content: 'js' },
    '<img src=x>.txt': { type: 'text/plain', content: 'img' },
  });
  const response = await get(`/preview/${id}/`);
  const text = await response.text();
  assert.equal(response.headers.get('content-security-policy'), 'sandbox allow-scripts');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.ok(!text.includes('<img'), text);
  const links = [...text.matchAll(/href="([^"]+)"/g)].map((match) => match[1]!);
  assert.equal(links.length, 4);
  for (const link of links) {
    const url = new URL(link, `${edge.url}/preview/${id}/`);
    assert.equal((await fetch(url)).status, 200, link);
  }
  assert.deepEqual(
    [...(await (await get(`/preview/${id}/sub/`)).text()).matchAll(/href="([^"]+)"/g)].map((match) => match[1]),
    ['./b%20c.txt'],
  );
});

test('files that are missing, not live, of live mode or outside the preview are 404', async () => {
  const id = await preview({ 'index.html': 'x', 'sub/a.txt': 'y' });
  const [pending, live] = [
    await preview({ 'index.html': 'x' }, { status: 'deploying' }),
    await preview({ 'index.html': 'x' }, { mode: 'live' }),
  ];
  const empty = await preview({});
  for (const path of [
    ...[`${id}/no.html`, `${id}/no/`, `${id}//index.html`, `${id}/..%2fx`, `${id}/sub/a.txt/`, `${id}/%00`, `${id}/%ff`],
    ...[`${pending}/`, `${live}/`, `${live}/index.html`, live, `${empty}/`, 'dep_no/', 'dep_no', 'x/', `ws_1/index.html`],
  ])
    assert.equal((await get(`/preview/${path}`)).status, 404, path);
});

test('a name is found in every normal form of its letters', async () => {
  const id = await preview({ 'über.html': 'x' });
  for (const name of ['über.html', 'über.html'.normalize('NFD')])
    assert.equal((await get(`/preview/${id}/${encodeURIComponent(name)}`)).status, 200);
});

test('a page of 200 files loads at once, from an address with 60 requests a minute at other endpoints', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `images/${n}.svg`);
  const id = await preview(Object.fromEntries(names.map((name) => [name, name])));
  const answers = await Promise.all(names.map((name) => fetch(`${edge.url}/preview/${id}/${name}`)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.ok(Number(answers[0]!.headers.get('x-ratelimit-limit')) >= 1_200);
  assert.deepEqual(await Promise.all(answers.map((answer) => answer.text())), names);
});
