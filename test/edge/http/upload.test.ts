import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Type from 'typebox';
import { maxFileBytes } from '../../../src/edge/http/multipart.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import type { FileStore } from '../../../src/storage/files.ts';
import { openLocalFiles } from '../../../src/storage/local-files.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { RawClient, rawRequest } from '../../support/raw-http.ts';

const File = Type.Object({ name: Type.String(), type: Type.String(), size: Type.Integer(), sha256: Type.String() });
let directory: string;
let store: FileStore;
let edge: TestEdge;
/** Called with the result of each upload's handler. */
let settled: (outcome: string) => void = () => {};
let entered: () => void = () => {};
let uploads = 0;

const routes: AnyRoute[] = [
  route({
    method: 'POST',
    path: '/files',
    summary: 'Upload',
    scope: null,
    body: 'multipart',
    responses: { 201: File },
    async handler({ receiveFile }) {
      entered();
      try {
        const file = await receiveFile(async ({ name, type, content }) => ({
          name,
          type,
          ...(await store.put(`f${++uploads}`, content, maxFileBytes)),
        }));
        settled('stored');
        return { status: 201, json: { name: file.name, type: file.type, size: file.sizeBytes, sha256: file.sha256 } };
      } catch (error) {
        settled((error as { code: string }).code);
        throw error;
      }
    },
  }),
  route({
    method: 'POST',
    path: '/refuses',
    summary: 'Refuses',
    scope: null,
    body: 'multipart',
    responses: { 201: File },
    handler: ({ receiveFile }) => receiveFile(() => Promise.reject(new TypeError('disk on fire'))),
  }),
  route({
    method: 'GET',
    path: '/health',
    summary: 'Health',
    scope: null,
    responses: { 200: Type.Any() },
    handler: () => ({ status: 200, json: {} }),
  }),
];

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'upload-'));
  store = await openLocalFiles(directory);
  edge = await startEdge(routes);
});
after(async () => {
  await edge.server.close(0);
  await rm(directory, { recursive: true });
});

/** No incomplete file remains; `stored` lists the files. */
async function folder(): Promise<string[]> {
  assert.deepEqual(await readdir(join(directory, '.incoming')), []);
  return (await readdir(directory)).filter((name) => name !== '.incoming');
}

const head = (length: number | 'chunked', boundary = 'xx'): string =>
  `POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\n${length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}\r\n\r\n`;
const part = (name: string, content: string | Buffer, fileName: string | null = 'a.csv', boundary = 'xx'): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === null ? '' : `; filename="${fileName}"`}\r\nContent-Type: text/csv\r\n\r\n`,
    ),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
const end = Buffer.from('--xx--\r\n');
const upload = (...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return rawRequest(edge.port, Buffer.concat([Buffer.from(head(body.length)), body]));
};

function form(content: Buffer, name = 'sales.csv'): FormData {
  const data = new FormData();
  data.append('note', 'before');
  data.append('file', new Blob([content], { type: 'text/csv' }), name);
  data.append('note', 'after');
  return data;
}

test('an upload is stored as it was sent, with the name it was given', async () => {
  const content = randomBytes(3_000_000);
  for (const name of ['sales.csv', '../../etc/passwd', 'ü and "quotes".csv', 'a\\b.csv']) {
    const response = await fetch(`${edge.url}/files`, { method: 'POST', body: form(content, name) });
    const stored = (await response.json()) as { name: string; size: number };
    assert.deepEqual([response.status, stored.size], [201, content.length]);
    if (!name.includes('"')) assert.equal(stored.name, name);
  }
});

test('an empty file is stored', async () => {
  const answer = await upload(part('file', ''), end);
  assert.deepEqual([answer?.status, JSON.parse(answer!.body.toString()).size], [201, 0]);
});

test('a form without the file or with a text in its place is 422 for the field', async () => {
  const before = await folder();
  for (const parts of [[part('other', 'x'), end], [end], [part('file', 'x', null), end], [part('file', 'x', ''), end]]) {
    const answer = await upload(...parts);
    assert.equal(answer?.status, 422);
    assert.deepEqual(JSON.parse(answer!.body.toString()).detail[0].loc, ['body', 'file']);
  }
  assert.equal(
    (await rawRequest(edge.port, 'POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=xx\r\n\r\n'))?.status,
    422,
  );
  assert.deepEqual(await folder(), before);
});

test('two files are refused and neither is stored', async () => {
  const before = await folder();
  assert.equal((await upload(part('file', 'one'), part('file', 'two'), end))?.status, 422);
  assert.equal((await upload(part('file', 'x'.repeat(500_000)), part('file', 'y'.repeat(500_000)), end))?.status, 422);
  assert.deepEqual(await folder(), before);
});

test('a malformed or incomplete form is 400 and nothing is stored', async () => {
  const before = await folder();
  const cases = [
    [part('file', 'x'.repeat(10_000))],
    [part('file', 'x').subarray(0, 40)],
    [part('file', 'x'), Buffer.from('--xx')],
    [Buffer.from('no form at all')],
    [...Array.from({ length: 30 }, () => part('field', 'x', null)), part('file', 'x'), end],
  ];
  for (const parts of cases) {
    const answer = await upload(...parts);
    assert.equal(answer?.status, 400, Buffer.concat(parts).toString('latin1').slice(0, 60));
  }
  const answer = await rawRequest(
    edge.port,
    'POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; x=y\r\nContent-Length: 2\r\n\r\nxx',
  );
  assert.equal(answer?.status, 400);
  assert.deepEqual(await folder(), before);
});

test('another content type is 415', async () => {
  const response = await fetch(`${edge.url}/files`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  assert.equal(response.status, 415);
});

test('a file over 50 MiB is refused by its Content-Length before it is sent', async () => {
  const answer = await rawRequest(edge.port, head(maxFileBytes + 1_000_000));
  assert.equal(answer?.status, 413);
});

test('a file over 50 MiB in chunks is refused while it is read, and nothing is stored', async () => {
  const before = await folder();
  const outcome = new Promise<string>((resolve) => {
    settled = resolve;
  });
  const client = await RawClient.connect(edge.port);
  const chunk = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  await client.send(head('chunked'));
  await client.send(chunk(part('file', '').subarray(0, -2)));
  const megabyte = Buffer.alloc(2 ** 20);
  const answered = client.answer();
  let gone = false;
  client.socket.once('close', () => {
    gone = true;
  });
  for (let i = 0; i < 52 && !gone; i++) await client.send(chunk(megabyte));
  assert.equal((await answered)?.status, 413);
  assert.equal(await outcome, 'payload_too_large');
  client.end();
  assert.deepEqual(await folder(), before);
});

test('a file of exactly 50 MiB is accepted, one byte more is not', async () => {
  const exact = await fetch(`${edge.url}/files`, { method: 'POST', body: form(Buffer.alloc(maxFileBytes)) });
  assert.equal(exact.status, 201);
  await exact.arrayBuffer();
  const before = await folder();
  const over = await fetch(`${edge.url}/files`, { method: 'POST', body: form(Buffer.alloc(maxFileBytes + 1)) });
  assert.equal(over.status, 413);
  assert.deepEqual(await folder(), before);
});

test('uploads aborted at any point leave nothing behind', async () => {
  const before = await folder();
  const whole = Buffer.concat([Buffer.from(head(2_000_000)), part('file', Buffer.alloc(1_900_000))]);
  for (const cut of [50, 300, 1_000, 300_000, 1_500_000]) {
    const outcome = new Promise<string>((resolve) => {
      settled = resolve;
    });
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const client = await RawClient.connect(edge.port);
    await client.send(whole.subarray(0, cut));
    // Cut inside its head, a request never reaches the handler.
    if (cut > 200) await inside;
    client.socket.resetAndDestroy();
    if (cut > 200) assert.equal(await outcome, 'bad_request');
  }
  assert.deepEqual(await folder(), before);
});

test('a failing store is answered with 500, the rest of the upload is discarded, and the next request is served', async () => {
  const response = await fetch(`${edge.url}/refuses`, { method: 'POST', body: form(randomBytes(5_000_000)) });
  assert.deepEqual([response.status, await response.json()], [500, { detail: 'Internal Server Error' }]);
  assert.equal((await fetch(`${edge.url}/health`)).status, 200);
});

test('ten uploads at once do not mix', async () => {
  const contents = Array.from({ length: 10 }, () => randomBytes(400_000));
  const { createHash } = await import('node:crypto');
  const answers = await Promise.all(
    contents.map(
      async (content) => (await (await fetch(`${edge.url}/files`, { method: 'POST', body: form(content) })).json()) as { sha256: string },
    ),
  );
  assert.deepEqual(
    answers.map((answer) => answer.sha256),
    contents.map((content) => createHash('sha256').update(content).digest('hex')),
  );
});
