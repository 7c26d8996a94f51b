import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSmtpMail } from '../../../src/providers/mail/smtp.ts';
import { type Behaviour, smtpServer } from './support.ts';

const source = { from: 'Troupe <agent@example.com>', clock: { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) } };
const mail = { to: 'ann@example.org', subject: 'Grüße', text: 'First line\n.\n..two dots\nlast ☺' };

test('a mail arrives once and complete, with one message id', async () => {
  const server = await smtpServer();
  const { detail } = await createSmtpMail({ ...source, url: server.url }).send(mail, 'call_1');
  assert.equal(detail, 'sent to ann@example.org');
  assert.equal(server.mails.length, 1);
  const [message] = server.mails;
  assert.match(message!, /^Message-ID: <call_1@example\.com>\r$/im);
  assert.match(message!, /^To: ann@example\.org\r$/m);
  assert.match(message!, /^Date: Fri, 02 Jan 2026 03:04:05 \+0000\r$/m);
  assert.ok(server.commands.some((line) => line.startsWith('MAIL FROM:<agent@example.com>')));
  const body = message!.slice(message!.indexOf('\r\n\r\n') + 4);
  const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(message!)![1]!;
  const text = encoding === 'base64' ? Buffer.from(body, 'base64').toString() : unquote(body);
  assert.equal(text.replaceAll('\r\n', '\n').trimEnd(), mail.text);
  await server.close();
});

function unquote(text: string): string {
  const bytes = text.replaceAll('=\r\n', '').replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

const surelyNotSent: [string, Behaviour][] = [
  ['421 instead of a greeting', { greeting: '421 too busy' }],
  ['a cut instead of a greeting', { greeting: 'cut' }],
  ['an answer that is not SMTP', { greeting: 'HTTP/1.1 400 Bad Request' }],
  ['a refused hello', { EHLO: '550 go away' }],
  ['a refused sender', { MAIL: '550 no' }],
  ['a refused recipient', { RCPT: '550 no such person' }],
  ['a recipient refused for now', { RCPT: '450 later' }],
  ['a cut after the recipient', { RCPT: 'cut' }],
  ['refused DATA', { DATA: '451 no room' }],
  ['a cut at DATA', { DATA: 'cut' }],
  ['content refused after it was read', { accepted: '554 looks like spam' }],
  ['content refused for now after it was read', { accepted: '421 closing' }],
];
for (const [name, behaviour] of surelyNotSent) {
  test(`${name} is reported as certainly not sent`, async () => {
    const server = await smtpServer(behaviour);
    await assert.rejects(createSmtpMail({ ...source, url: server.url }).send(mail, 'call_1'), { code: 'unavailable' });
    await server.close();
  });
}

const unknownOutcomes: [string, Behaviour][] = [
  ['a cut within the content', { content: 'cut' }],
  ['a cut after the content', { accepted: 'cut' }],
];
for (const [name, behaviour] of unknownOutcomes) {
  test(`${name} is reported as unknown`, async () => {
    const server = await smtpServer(behaviour);
    await assert.rejects(createSmtpMail({ ...source, url: server.url }).send(mail, 'call_1'), { code: 'outcome_unknown' });
    await server.close();
  });
}

test('with an unreachable server a mail is reported as certainly not sent', async () => {
  await assert.rejects(createSmtpMail({ ...source, url: 'smtp://127.0.0.1:1' }).send(mail, 'call_1'), { code: 'unavailable' });
});

test('credentials are used, and never appear in an error', async () => {
  for (const behaviour of [{}, { AUTH: '535 wrong' }]) {
    const server = await smtpServer(behaviour);
    const sending = createSmtpMail({ ...source, url: server.url.replace('//', '//ann:hunter2%21@') }).send(mail, 'call_1');
    if ('AUTH' in behaviour)
      await assert.rejects(sending, (error: Error) => !error.message.includes('hunter2') && error.message.includes('credentials'));
    else await sending;
    const login = server.commands.find((line) => line.startsWith('AUTH PLAIN'))!.split(' ')[2]!;
    assert.equal(Buffer.from(login, 'base64').toString(), '\u0000ann\u0000hunter2!');
    await server.close();
  }
});

test('insisting on encryption sends nothing to a server without it', async () => {
  const server = await smtpServer();
  await assert.rejects(createSmtpMail({ ...source, url: `${server.url}?requireTLS=true` }).send(mail, 'call_1'), { code: 'unavailable' });
  assert.deepEqual(server.mails, []);
  await server.close();
});

test('many mails at once share few connections and all arrive', async () => {
  const server = await smtpServer();
  const provider = createSmtpMail({ ...source, url: server.url });
  await Promise.all(Array.from({ length: 20 }, (_, i) => provider.send(mail, `call_${i}`)));
  assert.equal(server.mails.length, 20);
  assert.ok(server.most() <= 4, `${server.most()} connections`);
  await server.close();
});

test('an address of another kind is refused without repeating it', () => {
  for (const url of ['http://user:hunter2@host', 'hunter2', 'smtp://']) {
    assert.throws(
      () => createSmtpMail({ ...source, url }),
      (error: Error) => error.message.startsWith('SMTP_URL must look like') && !error.message.includes('hunter2'),
    );
  }
});
