/** No secret is in a log line, also if a library's error, a URL or a field contains one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import fc from 'fast-check';
import nodemailer from 'nodemailer';
import pg from 'pg';
import { loadConfig } from '../src/config.ts';
import { AppError } from '../src/errors.ts';
import { createLog, logConsole } from '../src/log.ts';
import { secretsOf } from '../src/log-secrets.ts';
import { testDatabase } from './support/database.ts';
import { testRedis, withoutRedis } from './support/redis.ts';

const password = 'hunter2/"öde"+salt';

function capture(secrets: string[] = []) {
  const lines: string[] = [];
  return { log: createLog('debug', { node: 'node-a' }, { secrets, write: (line) => void lines.push(line) }), lines };
}

/** What one line says, after the check that it still is one line of JSON. */
function logged(fields: object, message = 'it happened', secrets: string[] = []): { text: string; line: any } {
  const { log, lines } = capture(secrets);
  log.error(fields, message);
  assert.equal(lines.length, 1);
  return { text: lines[0]!, line: JSON.parse(lines[0]!) };
}

test('fields with secret names are masked at any depth, and other fields are not', () => {
  const { line, text } = logged({
    request: { headers: { Authorization: 'Bearer abcdef123', 'x-api-key': 'k-123', accept: 'text/html' } },
    deep: [{ user: { password: 'p "quoted" \\ w', refresh_token: 'r', apiKey: 'a', clientSecret: 's', 'set-cookie': 'c=1' } }],
    key: 'the key',
    inputTokens: 12,
    tokens: 3,
    max_tokens: 400,
  });
  for (const secret of ['abcdef123', 'k-123', 'quoted', '"r"', '"a"', '"s"', 'c=1', 'the key']) assert.ok(!text.includes(secret), secret);
  assert.equal(line.request.headers.accept, 'text/html');
  assert.equal(line.inputTokens, 12);
  assert.equal(line.max_tokens, 400);
  assert.equal(line.node, 'node-a');
});

test('passwords in URLs are masked in messages, stacks and fields, also where the password holds an @', () => {
  const { text } = logged(
    { url: 'postgres://ann:pa@ss@db:5432/x', err: new Error('cannot reach redis://:topsecret@10.0.0.1:6379/0') },
    'smtp://bot:mailpass@mail.example.com failed',
  );
  for (const secret of ['pa@ss', 'topsecret', 'mailpass']) assert.ok(!text.includes(secret), secret);
  for (const kept of ['db:5432/x', '10.0.0.1:6379', 'mail.example.com']) assert.ok(text.includes(kept), kept);
});

test('tokens are recognized by their form: bearer headers, link tokens, keys, refresh tokens, password hashes', () => {
  const secrets = [
    `v4.public.${'a'.repeat(80)}.${'b'.repeat(20)}`,
    `mk_live_${'Z'.repeat(49)}`,
    `mr_${'0'.repeat(26)}_${'q'.repeat(65)}`,
    `cs_${'0'.repeat(26)}.${'q'.repeat(43)}`,
    'sk-abcdefgh12345678',
    '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
  ];
  for (const secret of secrets)
    assert.ok(!logged({ err: new Error(`it was ${secret}, sent as (${secret})`) }).text.includes(secret), secret);
  assert.ok(!logged({ path: '/v1/deliverables/dlvr_1/download?token=abc.def-ghi&x=1' }).text.includes('abc.def'));
  assert.ok(!logged({ note: 'Authorization: Basic dXNlcjpwYXNzd29yZA==' }).text.includes('dXNlcjpw'));
});

test('configured secrets are masked everywhere, also escaped in JSON and decoded', () => {
  const config = loadConfig({
    DATABASE_URL: `postgres://troupe:${encodeURIComponent(password)}@db/troupe`,
    SECRET_KEY: 'a-secret-key-of-more-than-32-characters',
    MODEL_API_KEY: 'model-key-1',
  });
  const { text } = logged(
    { seen: `${password} and ${encodeURIComponent(password)}`, err: new Error('model-key-1') },
    config.secretKey!,
    secretsOf(config),
  );
  for (const secret of [password, JSON.stringify(password).slice(1, -1), encodeURIComponent(password), 'model-key-1', config.secretKey!])
    assert.ok(!text.includes(secret), secret);
});

test('an error is logged with its message, code and causes, without properties that a library added', () => {
  const cause = Object.assign(new Error('inner'), { code: 'ECONNREFUSED', config: { auth: 'xyzzy' } });
  const err = Object.assign(new AppError('unavailable', 'outer', { cause }), { request: { body: 'xyzzy' }, parameters: ['xyzzy'] });
  const { text, line } = logged({ err });
  assert.ok(!text.includes('xyzzy'));
  assert.equal(line.err.message, 'outer');
  assert.equal(line.err.code, 'unavailable');
  assert.equal(line.err.cause.code, 'ECONNREFUSED');
});

test('an error that is its own cause, one with a thousand errors in it and one of ten megabytes are logged in bounded space', () => {
  const own: Error & { cause?: unknown } = new Error('me');
  own.cause = own;
  const many = new AggregateError(Array.from({ length: 1_000 }, (_, i) => new Error(`number ${i}`)));
  for (const err of [own, many, new Error('x'.repeat(10_000_000)), 'just a text', null, { password: 'plain' }])
    assert.ok(logged({ err }).text.length < 200_000);
});

test('errors of ioredis about a refused password contain no password', { skip: withoutRedis }, async (t) => {
  const { client } = await testRedis(t);
  const refused: any = await client.call('auth', 'ann', password).catch((error) => error);
  assert.deepEqual(refused.command.args, ['ann', password], 'what makes these errors dangerous');
  assertSilent({ err: refused });
  assertSilent({ err: new AppError('unavailable', 'Redis is away', { cause: refused }) });
});

test('errors of pg about a refused connection, a wrong password and a constraint contain no secret', async (t) => {
  const database = await testDatabase();
  t.after(() => database.close());
  const url = new URL(database.url);
  url.password = encodeURIComponent(password);
  const refused = new pg.Client({ connectionString: `postgres://ann:${encodeURIComponent(password)}@127.0.0.1:1/none` });
  assertSilent({ err: await refused.connect().catch((error) => error) });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('create table vault (name text check (length(name) < 3))');
  const broken = await client.query('insert into vault values ($1)', [password]).catch((error) => error);
  await client.end();
  assert.match(broken.detail, /hunter2/);
  assertSilent({ err: broken });
});

test('errors of nodemailer about a refused login contain no password', async (t) => {
  const server = net.createServer((socket) => {
    socket.write('220 ready\r\n');
    socket.on('data', (chunk) => {
      const line = chunk.toString();
      if (line.startsWith('EHLO')) socket.write('250-here\r\n250 AUTH PLAIN LOGIN\r\n');
      else socket.write(`535 no: ${line.trim()} is wrong\r\n`);
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port,
    secure: false,
    ignoreTLS: true,
    auth: { user: 'ann', pass: password },
  });
  const err = await transport.sendMail({ from: 'a@example.com', to: 'b@example.com', text: 'x' }).catch((error) => error);
  transport.close();
  assert.ok(err instanceof Error);
  assertSilent({ err });
  // This server quotes what it was sent, in which the password can be recognised only by comparing.
  const sent = Buffer.from(`\0ann\0${password}`).toString('base64');
  assert.match((err as Error).message, new RegExp(sent.slice(0, 8)));
  const config = loadConfig({ SMTP_URL: `smtp://ann:${encodeURIComponent(password)}@127.0.0.1:${port}` });
  assert.ok(!logged({ err }, 'refused', secretsOf(config)).text.includes(sent));
});

test('errors of new URL about an invalid URL do not contain it', () => {
  try {
    new URL(`redis://ann:${password}@[bad`);
    assert.fail('it should not parse');
  } catch (err) {
    assertSilent({ err });
  }
});

test('a secret in any nesting and quoting is masked, and the line stays valid JSON', () => {
  const secret = fc
    .string({ minLength: 8, maxLength: 30, unit: 'binary' })
    .filter((text) => text.trim().length >= 8 && !'[secret]'.includes(text));
  const wrap = fc.constantFrom(
    (text: string) => ({ password: text }),
    (text: string) => ({ a: { b: [{ access_token: text }] } }),
    (text: string) => ({ err: new Error(`before ${text} after`) }),
    (text: string) => ({ err: new Error('outer', { cause: new Error(text) }) }),
    (text: string) => ({ body: JSON.stringify({ api_key: text }) }),
  );
  fc.assert(
    fc.property(secret, wrap, (text, around) => {
      const shown = logged(around(text), 'it happened', [text]);
      assert.ok(!shown.text.includes(JSON.stringify(text).slice(1, -1)));
    }),
    { numRuns: 300 },
  );
});

test('what a library prints is one line of the log, of bounded length, with secrets masked', () => {
  const { log, lines } = capture([password]);
  const printed: Partial<Console> = {};
  logConsole(log, printed as Console);
  printed.warn!(`tool '%s' is left out`, 'x\n{"level":"error"}', { token: password }, new Error(password));
  printed.log!('long'.repeat(10_000));
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.equal(line.trimEnd().split('\n').length, 1);
    assert.ok(line.length < 3_000 && !line.includes('hunter2'), line);
    assert.equal(JSON.parse(line).level, 'warn');
  }
  assert.match(JSON.parse(lines[0]!).output, /^tool 'x\n/);
});

test('of what a library prints under its name, quotations of other servers are left out', () => {
  const { log, lines } = capture();
  const printed: Partial<Console> = {};
  logConsole(log, printed as Console);
  printed.warn!("[mcp-sdk] excluding tool 'secret-of-a-customer' from tools/list: invalid x-mcp-header");
  assert.equal(JSON.parse(lines[0]!).output, '[mcp-sdk] excluding tool ');
});

function assertSilent(fields: object): void {
  const { text } = logged(fields);
  for (const form of [password, JSON.stringify(password).slice(1, -1), encodeURIComponent(password), 'hunter2'])
    assert.ok(!text.includes(form), `${form} in ${text}`);
}
