import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { contentDisposition, type Download, sendFile } from '../../../src/edge/http/download.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import type { FileStore } from '../../../src/storage/files.ts';
import { openLocalFiles } from '../../../src/storage/local-files.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { RawClient, rawRequest } from '../../support/raw-http.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts';

const content = randomBytes(4_000_000);
const files = new Map<string, Download>();
let folder: TemporaryFolder;
let store: FileStore;
let edge: TestEdge;
let torn: () => void = () => {};

const raw = { 200: null };
const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/files/{name}',
    summary: 'Download',
    scope: null,
    responses: raw,
    handler: ({ request, params }) => sendFile(request, store, files.get(params.name)!),
  }),
  route({
    method: 'GET',
    path: '/redirected',
    summary: 'Elsewhere',
    scope: null,
    responses: raw,
    handler: ({ request }) =>
      sendFile(request, { ...store, presignedUrl: async () => 'https://storage.invalid/x?sig=1' }, files.get('big')!, true),
  }),
  route({
    method: 'GET',
    path: '/endless',
    summary: 'Unknown length',
    scope: null,
    responses: raw,
    handler: async () => ({ status: 200, headers: null, body: endless() }),
  }),
  route({
    method: 'GET',
    path: '/unsized',
    summary: 'Unknown length',
    scope: null,
    responses: raw,
    handler: async () => ({ status: 200, headers: null, body: Readable.from([content.subarray(0, 100_000), content.subarray(100_000)]) }),
  }),
  route({
    method: 'GET',
    path: '/short',
    summary: 'Says too much',
    scope: null,
    responses: raw,
    handler: () => ({ status: 200, headers: null, body: Readable.from([Buffer.alloc(10)]), bodyBytes: 20 }),
  }),
  route({
    method: 'GET',
    path: '/long',
    summary: 'Says too little',
    scope: null,
    responses: raw,
    handler: () => ({ status: 200, headers: null, body: Readable.from([Buffer.alloc(10), Buffer.alloc(30)]), bodyBytes: 20 }),
  }),
  route({
    method: 'GET',
    path: '/breaks',
    summary: 'Breaks',
    scope: null,
    responses: raw,
    handler: () => ({ status: 200, headers: null, body: breaking() }),
  }),
];

function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
    destroy(_error, done) {
      torn();
      done(null);
    },
  });
}

function breaking(): Readable {
  let given = false;
  return new Readable({
    read() {
      if (given) this.destroy(new Error('disk'));
      else this.push(Buffer.alloc(1000));
      given = true;
    },
  });
}

before(async () => {
  folder = await temporaryFolder('download-');
  store = await openLocalFiles(folder.path);
  for (const [key, bytes, type] of [
    ['big', content, 'text/csv'],
    ['ten', Buffer.from('0123456789'), 'text/plain'],
    ['empty', Buffer.alloc(0), 'text/plain\r\nX-Evil: 1'],
  ] as const) {
    await store.put(key, Readable.from([bytes]), 10_000_000);
    files.set(key, {
      key,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      fileName: `${key} "ü".csv`,
      type,
    });
  }
  edge = await startEdge(routes);
});
after(async () => {
  await edge.server.close(0);
  await folder.remove();
});

const get = (name: string, headers: Record<string, string> = {}) => fetch(`${edge.url}/files/${name}`, { headers });

test('a file is sent completely, with its type, name, length and tag, and with headers that keep browsers from running it', async () => {
  const response = await get('big');
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), content);
  const { sha256 } = files.get('big')!;
  const expected = {
    'content-type': 'text/csv',
    'content-length': '4000000',
    etag: `"${sha256}"`,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="big ___.csv"; filename*=UTF-8''big%20%22%C3%BC%22.csv`,
    'x-content-type-options': 'nosniff',
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(response.headers.get(name), value, name);
});

test('an empty file is sent, and a type that would break the header is not sent', async () => {
  const response = await get('empty');
  assert.deepEqual(
    [response.status, await response.text(), response.headers.get('content-type'), response.headers.get('x-evil')],
    [200, '', 'application/octet-stream', null],
  );
});

test('HEAD sends all headers and no body', async () => {
  const client = await RawClient.connect(edge.port);
  await client.send('HEAD /files/big HTTP/1.1\r\nHost: a\r\n\r\nGET /files/ten HTTP/1.1\r\nHost: a\r\n\r\n');
  const head = await client.answer({ head: true });
  assert.deepEqual([head?.status, head?.headers.get('content-length'), head?.headers.get('content-type')], [200, '4000000', 'text/csv']);
  client.end();
});

test('a request for one range is answered with that part', async () => {
  for (const [range, part, contentRange] of [
    ['0-0', '0', '0-0'],
    ['2-4', '234', '2-4'],
    ['7-', '789', '7-9'],
    ['-3', '789', '7-9'],
    ['5-100', '56789', '5-9'],
    ['-100', '0123456789', '0-9'],
  ]) {
    const response = await get('ten', { range: `bytes=${range}` });
    assert.deepEqual(
      [response.status, await response.text(), response.headers.get('content-range'), response.headers.get('content-length')],
      [206, part, `bytes ${contentRange}/10`, String(part!.length)],
    );
  }
});

test('a range beyond the file is 416 with the size; an invalid range, or several, is answered with the whole file', async () => {
  for (const range of ['bytes=10-', 'bytes=99-100', 'bytes=-0']) {
    const response = await get('ten', { range });
    assert.deepEqual(
      [response.status, response.headers.get('content-range'), await response.json()],
      [416, 'bytes */10', { detail: 'Range Not Satisfiable' }],
    );
  }
  for (const range of ['bytes=4-2', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,3-4', 'bytes=1', `bytes=${'9'.repeat(30)}-`]) {
    assert.deepEqual([(await get('ten', { range })).status, range], [200, range]);
  }
  assert.equal((await get('empty', { range: 'bytes=0-0' })).status, 416);
});

test('If-None-Match with the current tag is 304, and If-Range with another tag gets the whole file', async () => {
  const etag = `"${files.get('ten')!.sha256}"`;
  for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const response = await get('ten', { 'if-none-match': tag });
    assert.deepEqual([response.status, await response.text(), response.headers.get('etag')], [304, '', etag]);
  }
  assert.equal((await get('ten', { 'if-none-match': '"other"' })).status, 200);
  assert.equal((await get('ten', { range: 'bytes=0-1', 'if-range': etag })).status, 206);
  assert.equal((await get('ten', { range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
});

test('If-Match with another tag is 412 without the file, also for a range; its tag and * get the file', async () => {
  const etag = `"${files.get('ten')!.sha256}"`;
  for (const tag of [etag, `"x", ${etag}`, '*']) assert.equal((await get('ten', { 'if-match': tag })).status, 200, tag);
  for (const tag of ['"x"', `W/${etag}`, 'x', '"x", "y"']) {
    const response = await get('ten', { 'if-match': tag, range: 'bytes=0-1' });
    assert.deepEqual(
      [response.status, await response.text(), response.headers.get('etag')],
      [412, '{"detail":"Precondition Failed"}', etag],
    );
  }
  assert.equal((await get('ten', { 'if-match': '"x"', 'if-none-match': etag })).status, 412);
  assert.equal((await get('ten', { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status, 200, 'files have no such time');
});

test('if the storage has addresses for files, the client is redirected there', async () => {
  const response = await fetch(`${edge.url}/redirected`, { redirect: 'manual' });
  assert.deepEqual([response.status, response.headers.get('location')], [302, 'https://storage.invalid/x?sig=1']);
});

test('no file name can end the header that contains it', () => {
  for (const name of ['a"b', 'a\r\nX: 1', 'a\\b', 'ü\u202e', '\ud800', "a'()*%"]) {
    const value = contentDisposition(name);
    assert.match(value, /^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[\w%.~!-]*$/, JSON.stringify(name));
  }
});

test('a stream of unknown length is sent completely in chunks', async () => {
  const response = await fetch(`${edge.url}/unsized`);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), content);
});

test('a stream that breaks, or is shorter or longer than declared, closes the connection, so that it does not appear complete', async () => {
  for (const path of ['/breaks', '/short', '/long']) {
    await assert.rejects(
      fetch(edge.url + path).then((response) => response.arrayBuffer()),
      path,
    );
  }
  assert.equal((await get('ten')).status, 200);
});

test('when a client disconnects during a download, its source is closed', async () => {
  for (const readsFirst of [true, false]) {
    const closed = new Promise<void>((resolve) => {
      torn = resolve;
    });
    const client = await RawClient.connect(edge.port);
    if (!readsFirst) client.socket.pause();
    await client.send('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
    if (readsFirst) await new Promise((resolve) => client.socket.once('data', resolve));
    else await fetch(`${edge.url}/files/ten`);
    client.socket.resetAndDestroy();
    await closed;
  }
});

test('a reader that pauses gets every byte in order', async () => {
  const client = await RawClient.connect(edge.port);
  client.socket.pause();
  await client.send('GET /files/big HTTP/1.1\r\nHost: a\r\n\r\n');
  for (let i = 0; i < 3; i++) await get('ten');
  client.socket.resume();
  assert.deepEqual((await client.answer())?.body, content);
  client.end();
});

test('a HEAD request for a streamed answer closes the stream unread', async () => {
  const closed = new Promise<void>((resolve) => {
    torn = resolve;
  });
  const answer = await rawRequest(edge.port, 'HEAD /endless HTTP/1.1\r\nHost: a\r\n\r\n', { head: true });
  assert.equal(answer?.status, 200);
  await closed;
});
