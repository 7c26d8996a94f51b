/** Failing uploads at the real service: each is refused as the contract says, and neither a row nor a file remains. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { leftBehind } from '../support/described-service.ts';
import { type RawAnswer, RawClient } from '../support/raw-http.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const maxFileBytes = 50 * 2 ** 20;
const boundary = 'a-boundary';

type Site = { service: Service; caller: Caller; port: number; path: string };

test('a failing upload is refused as the contract says and leaves nothing', { timeout: 240_000 }, async (t) => {
  const site = await openSite(t);
  await site.caller.upload(idOf(site), 'kept.txt', 'this one stays');
  const before = await leftBehind(site.service);

  await t.test('a form without a proper file is 422 or 400', () => refusesForms(site));
  await t.test('a name that leads outside is 422', () => refusesNames(site));
  await t.test('contents that do not match the name are 415', () => refusesContents(site));
  await t.test('one byte over 50 MiB is 413, while it is read', () => refusesTooLong(site));
  await t.test('an interrupted upload leaves nothing', () => breaksOff(site));
  await t.test('connections that send nothing, or invalid data, affect no other', () => staysResponsive(site));

  await settled(site, before);
  assert.equal((await site.caller.json('GET', `${site.path}?limit=100`)).length, 1, 'only the good one is listed');
  assert.doesNotMatch(
    site.service.output(),
    /unhandled promise rejection|unexpectedly|\n\s+at /,
    'the log holds no unhandled rejection and no stack',
  );
});

async function openSite(t: TestContext): Promise<Site> {
  const service = await startService(t);
  const caller = await Caller.register(service);
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'uploads' });
  return { service, caller, port: Number(new URL(service.url).port), path: `/v1/workspaces/${id}/files` };
}

function idOf({ path }: Site): string {
  return path.split('/')[3]!;
}

async function refusesForms(site: Site): Promise<void> {
  const file = part('file', 'a.txt', 'some text');
  const sound = form(file);
  const cases: [string, Buffer, number][] = [
    ['no part at all', form(), 422],
    ['another field name', form(part('upload', 'a.txt', 'x')), 422],
    ['a field that is no file', form('content-disposition: form-data; name="file"\r\n\r\ntext'), 422],
    ['an empty file name', form(part('file', '', 'x')), 422],
    ['two files', form(file, part('file', 'b.txt', 'more')), 422],
    ['ten files', form(...Array(10).fill(file)), 422],
    ['a hundred fields', form(...Array(100).fill(part('x', null, 'y')), file), 400],
    ['no closing boundary', sound.subarray(0, -4), 400],
    ['headers without an end', Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"`), 400],
    ['headers of 100 KB', form(`x-filler: ${'x'.repeat(100_000)}\r\n${file}`), 422],
    ['nothing but the boundary', Buffer.from(`--${boundary}--\r\n`), 422],
    ['nothing', Buffer.alloc(0), 422],
    ['no form', Buffer.from('just some text'), 400],
    ['another boundary', Buffer.from(sound.toString().replaceAll(boundary, 'other')), 400],
  ];
  for (const [what, body, status] of cases) refused(await upload(site, body), [status, status === 400 ? 422 : 400], what);
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', `multipart/form-data; boundary=${'b'.repeat(300)}`]) {
    refused(await upload(site, sound, { 'content-type': type }), [400, 415, 422], type.slice(0, 60));
  }
  for (const type of ['', 'application/json', 'text/csv', `multipart/mixed; boundary=${boundary}`, 'application/x-www-form-urlencoded']) {
    refused(await upload(site, sound, { 'content-type': type }), [415], type);
  }
}

async function refusesNames(site: Site): Promise<void> {
  const names = [
    '../a.txt',
    '..\\a.txt',
    '/etc/a.txt',
    'a/b.txt',
    'a\\b.txt',
    '..',
    '.',
    'a\u0001.txt',
    'a\u007f.txt',
    `${'x'.repeat(300)}.txt`,
    `${'é'.repeat(150)}.txt`,
    ' ',
    '....//a.txt',
    'C:\\a.txt',
  ];
  for (const name of names) refused(await upload(site, form(part('file', name, 'x'))), [422], JSON.stringify(name).slice(0, 40));
  const encoded = `content-disposition: form-data; name="file"; filename*=UTF-8''..%2f..%2fa.txt\r\n\r\nx`;
  refused(await upload(site, form(encoded)), [422], 'an encoded name');
}

async function refusesContents(site: Site): Promise<void> {
  const program = Buffer.concat([Buffer.from('MZ\x90\x00\x03\x00\x00\x00', 'latin1'), Buffer.alloc(400, 0)]);
  const elf = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01\x00', 'latin1'), Buffer.alloc(400, 1)]);
  for (const [name, content] of [
    ['report.csv', program],
    ['report.txt', elf],
    ['a.json', 'not json {'],
    ['a.jsonl', 'not json'],
    ['a.tsv', 'PK\x03\x04'],
    ['a.png', 'GIF89a'],
    ['a.pdf', 'plain text'],
    ['a.docx', 'PK\x03\x04'],
    ['a.exe', program],
    ['a', 'x'],
    ['a.html', program],
    ['a.gif', '<script>'],
    ['a.csv.exe', 'a,b'],
    ['a.svg', '<html></html>'],
    ['a.zip', 'PK\x03\x04'],
    ['a.xlsx', program],
    ['.csv', 'a,b'],
  ] as const) {
    refused(await upload(site, form(part('file', name, content))), [415, 422], name);
  }
}

async function refusesTooLong(site: Site): Promise<void> {
  const head = Buffer.from(`--${boundary}\r\n${part('file', 'long.csv', '')}`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const row = Buffer.from('a,b,c\n'.repeat(10_000));
  const content = Buffer.alloc(maxFileBytes + 1, row);
  refused(await upload(site, Buffer.concat([head, content, tail])), [413], 'with its length');

  // Without an end and without a length: it is interrupted while it is sent. TCP may lose the answer to a sender that continues.
  const endless = await begin(site, { 'transfer-encoding': 'chunked' });
  const chunk = Buffer.alloc(1 << 20, row);
  await sendChunk(endless, head);
  let answered: RawAnswer | null | undefined;
  const answer = endless.answer().then((value) => (answered = value));
  for (let sent = 0; sent < 80 && answered === undefined; sent++) await sendChunk(endless, chunk);
  await answer;
  assert.notEqual(answered, undefined, 'it is not read for ever');
  if (answered) refused(answered, [413], 'without an end');
  endless.end();

  const claimed = await begin(site, { 'content-length': String(10 ** 12) });
  await claimed.send(head);
  refused(await claimed.answer(), [413], 'a claim of a terabyte, before it is sent');
  claimed.end();
}

async function breaksOff(site: Site): Promise<void> {
  const body = form(part('file', 'broken.csv', Buffer.alloc(3 << 20, 'a,b,c\n')));
  for (const sentBytes of [0, 10, 90, 200, 70_000, 1 << 20, body.length - 3]) {
    for (const headers of [{ 'content-length': String(body.length) }, { 'content-length': String(body.length + 1_000) }]) {
      const client = await begin(site, headers as Record<string, string>);
      await client.send(body.subarray(0, sentBytes));
      client.end();
    }
  }
  // Ends its side only, and waits for an answer that cannot come.
  const half = await begin(site, { 'content-length': String(body.length) });
  await half.send(body.subarray(0, 100_000));
  half.socket.end();
  await half.closed();

  const short = await begin(site, { 'content-length': '40' });
  await short.send(body.subarray(0, 40));
  refused(await short.answer(), [400, 422], 'shorter by its own word than it is');
  short.end();
}

async function staysResponsive(site: Site): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 60 }, () => RawClient.connect(site.port)));
  const openings = [
    '',
    'G',
    'GET /v1/tasks HT',
    'POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Le',
    '\x16\x03\x01\x02\x00\x01',
    'SSH-2.0-x\r\n',
    '\r\n\r\n',
    '\0\0\0\0',
  ];
  await Promise.all(clients.map((client, i) => client.send(openings[i % openings.length]!)));
  for (let i = 0; i < 20; i++) assert.equal((await fetch(`${site.service.url}/health/live`)).status, 200);
  await site.caller.json('GET', '/v1/workspaces');
  for (const client of clients) client.end();
}

/** Resolves when interrupted uploads have been detected and cleaned up. */
async function settled({ service }: Site, before: Record<string, unknown>): Promise<void> {
  let now = {};
  await until(async () => {
    now = await leftBehind(service);
    return JSON.stringify(now) === JSON.stringify(before);
  }, 'the cleanup').catch(() => assert.deepEqual(now, before, 'refused uploads leave no row and no file'));
}

function part(field: string, name: string | null, content: string | Buffer): string {
  const file = name === null ? '' : `; filename="${name}"`;
  const text = typeof content === 'string' ? content : content.toString('latin1');
  return `content-disposition: form-data; name="${field}"${file}\r\n\r\n${text}`;
}

function form(...parts: string[]): Buffer {
  return Buffer.from(`${parts.map((text) => `--${boundary}\r\n${text}\r\n`).join('')}--${boundary}--\r\n`, 'latin1');
}

async function begin({ port, path, caller }: Site, headers: Record<string, string>): Promise<RawClient> {
  const client = await RawClient.connect(port);
  client.socket.on('error', () => {});
  const all = {
    host: 'a',
    authorization: `Bearer ${caller.token}`,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`]));
  await client.send(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return client;
}

async function upload(site: Site, body: Buffer, headers: Record<string, string> = {}): Promise<RawAnswer | null> {
  const client = await begin(site, { 'content-length': String(body.length), ...headers });
  void client.send(body);
  const answer = await client.answer();
  client.end();
  return answer;
}

function sendChunk(client: RawClient, bytes: Buffer): Promise<void> {
  return client.send(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
}

function refused(answer: RawAnswer | null, statuses: number[], what: string): void {
  assert.ok(answer !== null, `${what}: an answer comes`);
  const text = answer.body.toString('utf8');
  assert.ok(statuses.includes(answer.status), `${what}: ${answer.status} ${text}`);
  const { detail } = JSON.parse(text);
  assert.ok(typeof detail === 'string' ? detail.length > 3 : detail[0].loc[0] === 'body', text);
  assert.ok(answer.headers.get('x-request-id'));
}
