import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createEmbeddedMail } from '../../../src/providers/mail/embedded.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mail-'));
});
after(() => rm(directory, { recursive: true }));

const source = { from: 'agent@example.com', clock: { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) } };
const mail = { to: 'ann@example.org', subject: 'Report', text: 'Hello' };

test('a mail is stored as one complete .eml file that only this user can read', async () => {
  const folder = join(directory, 'kept', 'mail');
  const { detail } = await createEmbeddedMail({ ...source, directory: folder }).send(mail, 'call_1');
  assert.match(detail, /^kept as call_1\.eml/);
  assert.deepEqual(await readdir(folder), ['call_1.eml']);
  const path = join(folder, 'call_1.eml');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const message = await readFile(path, 'utf8');
  const [head, body] = message.split('\r\n\r\n');
  const headers = Object.fromEntries(
    head!.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  assert.equal(headers.from, 'agent@example.com');
  assert.equal(headers.to, 'ann@example.org');
  assert.equal(headers.subject, 'Report');
  assert.equal(headers.date, 'Fri, 02 Jan 2026 03:04:05 +0000');
  assert.equal(headers['message-id'], '<call_1@example.com>');
  assert.match(headers['content-type']!, /^text\/plain; charset=utf-8$/);
  assert.equal(body!.trim(), 'Hello');
  assert.doesNotMatch(message, /[^\r]\n/);
});

test('a repeated message id is stored as one file', async () => {
  const folder = join(directory, 'twice');
  const provider = createEmbeddedMail({ ...source, directory: folder });
  await provider.send(mail, 'call_1');
  await provider.send(mail, 'call_1');
  assert.deepEqual(await readdir(folder), ['call_1.eml']);
});

test('a message id cannot name a file elsewhere', async () => {
  const folder = join(directory, 'inside');
  const provider = createEmbeddedMail({ ...source, directory: folder });
  for (const id of ['../../escaped', '/etc/cron.d/x', '..', 'a\r\nBcc: b@c.de', '\u0000', 'x'.repeat(500), ''])
    await provider.send(mail, id);
  const names = await readdir(folder);
  assert.ok(
    names.every((name) => /^[\w.-]{1,124}\.eml$/.test(name)),
    names.join(),
  );
  for (const name of names) assert.doesNotMatch(await readFile(join(folder, name), 'utf8'), /^Bcc/m);
  assert.deepEqual(
    (await readdir(directory)).filter((name) => name.includes('escaped')),
    [],
  );
});

test('mails with line breaks in header fields or with invalid addresses are refused', async () => {
  const folder = join(directory, 'refused');
  const provider = createEmbeddedMail({ ...source, directory: folder });
  const bad = [
    { ...mail, subject: 'Hi\r\nBcc: eve@example.com' },
    { ...mail, subject: 'Hi\nBcc: eve@example.com' },
    { ...mail, subject: 'Hi\u0000' },
    { ...mail, to: 'ann@example.org\r\nBcc: eve@example.com' },
    { ...mail, to: 'ann@example.org, eve@example.com' },
    { ...mail, to: 'ann' },
    { ...mail, to: 'ann@' },
    { ...mail, to: 'ann@localhost' },
    { ...mail, to: '<ann@example.org>' },
    { ...mail, to: `${'a'.repeat(250)}@example.org` },
  ];
  for (const one of bad) await assert.rejects(provider.send(one, 'call_1'), { code: 'unavailable' }, JSON.stringify(one));
  await assert.rejects(readdir(folder), { code: 'ENOENT' });
});

test('a text that looks like headers or a file address stays text', async () => {
  const folder = join(directory, 'text');
  await createEmbeddedMail({ ...source, directory: folder }).send({ ...mail, text: 'Bcc: eve@example.com\n\n/etc/passwd' }, 'call_1');
  const message = await readFile(join(folder, 'call_1.eml'), 'utf8');
  assert.doesNotMatch(message.split('\r\n\r\n')[0]!, /^Bcc/m);
  assert.match(message, /\/etc\/passwd\s*$/);
});

test('if the folder cannot be written, the mail is reported as certainly not sent, and no draft remains', async () => {
  const path = join(directory, 'a-file');
  await writeFile(path, '');
  await assert.rejects(createEmbeddedMail({ ...source, directory: path }).send(mail, 'call_1'), { code: 'unavailable' });
});
