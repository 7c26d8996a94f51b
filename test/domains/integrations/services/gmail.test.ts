/** Gmail: a mail is sent once despite failures, and mails of any form are read. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { gmail } from '../../../../src/domains/integrations/services/gmail.ts';
import { sendMail } from '../../../../src/domains/integrations/services/gmail-sending.ts';
import { ServiceFailed } from '../../../../src/domains/integrations/services/service-failure.ts';
import { directCall } from '../../../support/services/direct-call.ts';
import { GmailServer } from '../../../support/services/gmail-server.ts';
import { goodToken } from '../../../support/services/service-row.ts';
import type { Fault } from '../../../support/services/service-stand-in.ts';

const scope = (name: string) => `https://www.googleapis.com/auth/gmail.${name}`;
const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Good morning' };
const noPauses = [0, 0];

test('a mail whose first try was interrupted after Gmail accepted it is not sent again', async (t) => {
  const standIn = await mailbox(t, 'send', 'readonly');
  const first = await sendMail(mail, callAt(standIn), noPauses);
  const repeat = await sendMail(mail, { ...callAt(standIn), isRepeat: true }, noPauses);
  assert.deepEqual(repeat, first);
  assert.equal(standIn.sent.length, 1);
});

test('a mail whose first try never reached Gmail is sent by the repeat', async (t) => {
  const standIn = await mailbox(t, 'send', 'readonly');
  await sendMail(mail, { ...callAt(standIn), isRepeat: true }, noPauses);
  assert.equal(standIn.sent.length, 1);
});

test('two calls with the same content send two mails', async (t) => {
  const standIn = await mailbox(t, 'send');
  await sendMail(mail, callAt(standIn), noPauses);
  await sendMail(mail, callAt(standIn, 'call-2'), noPauses);
  assert.equal(new Set(standIn.sent.map(({ messageId }) => messageId)).size, 2);
});

test('a connection that may only send does not repeat a mail that may have been sent, and says so', async (t) => {
  const standIn = await mailbox(t, 'send');
  standIn.meet(/send$/, 'lost');
  await assert.rejects(sendMail(mail, callAt(standIn), noPauses), /Do not send it again by yourself/);
  await assert.rejects(sendMail(mail, { ...callAt(standIn), isRepeat: true }, noPauses), /its delivery is uncertain/);
  assert.equal(standIn.sent.length, 1);
});

const faults: Fault[] = ['cut', 'lost', { status: 503, json: { error: { code: 503, message: 'Backend Error', status: 'UNAVAILABLE' } } }];
/** One life of the node: what its requests meet, and whether it ends before the result is recorded. */
const life = fc.record({
  sends: fc.array(fc.constantFrom<Fault | null>(null, ...faults), { maxLength: 3 }),
  searches: fc.array(fc.constantFrom<Fault | null>(null, ...faults), { maxLength: 3 }),
  isKilled: fc.boolean(),
});

test('for any failures and kills there is at most one mail, and exactly one after a success', async (t) => {
  const standIn = await mailbox(t, 'send', 'readonly');
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      standIn.mails.length = 0;
      let isRepeat = false;
      for (const { sends, searches, isKilled } of lives) {
        standIn.faults = [
          ...sends.flatMap((fault) => (fault === null ? [] : [{ path: /\/send$/, fault }])),
          ...searches.flatMap((fault) => (fault === null ? [] : [{ path: /\/messages$/, fault }])),
        ];
        const sent: { id: string } | null = await sendMail(mail, { ...callAt(standIn), isRepeat }, noPauses).catch((error: unknown) => {
          if (error instanceof ServiceFailed) return null;
          throw error;
        });
        assert.ok(standIn.sent.length <= 1, `${standIn.sent.length} mails`);
        if (sent !== null)
          assert.deepEqual(
            [sent.id],
            standIn.sent.map(({ id }) => id),
          );
        if (!isKilled) break;
        isRepeat = true;
      }
    }),
    { numRuns: 30 },
  );
});

test('a draft whose first try was interrupted is not created twice', async (t) => {
  const standIn = await mailbox(t, 'compose');
  const draft = gmail.tools.find(({ name }) => name === 'draft_email')!;
  const first = await draft.run(mail, callAt(standIn));
  assert.deepEqual(await draft.run(mail, { ...callAt(standIn), isRepeat: true }), first);
  assert.equal(standIn.drafts.length, 1);
});

test('no address, subject or body can add a header or a recipient', async (t) => {
  const standIn = await mailbox(t, 'send');
  const send = gmail.tools.find(({ name }) => name === 'send_email')!;
  for (const wrong of [
    { ...mail, to: 'ann@example.com\r\nBcc: eve@example.com' },
    { ...mail, to: 'Ann <ann@example.com>' },
    { ...mail, to: 'ann@example.com,' },
    { ...mail, subject: 'Hello\r\nBcc: eve@example.com' },
  ])
    await assert.rejects(send.run(wrong, callAt(standIn)), ServiceFailed);
  assert.equal(standIn.requests.length, 0);
  await send.run({ ...mail, body: 'Bcc: eve@example.com\r\n\r\n.\r\nTo: eve@example.com' }, callAt(standIn));
  const names = standIn.sent[0]!.payload.headers.map(({ name }: { name: string }) => name);
  assert.ok(!names.includes('Bcc'), names.join());
});

test('mails of any form are read: nested parts, foreign character sets, no text at all, and one deleted meanwhile', async (t) => {
  const standIn = await mailbox(t, 'readonly');
  const read = gmail.tools.find(({ name }) => name === 'read_emails')!;
  const latin = standIn.receive({ from: 'a@example.com', subject: 'latin', parts: { 'text/plain': '' } });
  latin.payload.headers = [{ name: 'content-type', value: 'text/plain; charset="iso-8859-1"' }];
  latin.payload.body = { data: Buffer.from('Grüße', 'latin1').toString('base64url') };
  const unknown = standIn.receive({ from: 'a@example.com', subject: 'unknown', parts: { 'text/plain': 'as it is' } });
  unknown.payload.headers = [{ name: 'Content-Type', value: 'text/plain; charset=x-none' }];
  const nested = standIn.receive({ from: 'a@example.com', subject: 'nested', parts: { 'text/plain': 'deep' } });
  nested.payload = { mimeType: 'multipart/mixed', headers: [], parts: [{ mimeType: 'multipart/alternative', parts: [nested.payload] }] };
  let deep = { mimeType: 'text/plain', body: { data: 'aGk' }, parts: [] as object[] };
  for (let n = 0; n < 100; n += 1) deep = { ...deep, parts: [deep] };
  standIn.receive({ from: 'a@example.com', subject: 'bottomless', parts: { 'text/plain': 'x' } }).payload = deep;
  const bare = standIn.receive({ from: 'a@example.com', subject: 'bare', parts: { 'text/plain': 'x' } });
  delete bare.payload;
  bare.payload = { headers: [] };
  const { id: gone } = standIn.receive({ from: 'a@example.com', subject: 'gone', parts: { 'text/plain': 'x' } });
  standIn.meet(new RegExp(`/messages/${gone}$`), {
    status: 404,
    json: { error: { code: 404, message: 'Not found', status: 'NOT_FOUND' } },
  });
  const { emails } = (await read.run({}, callAt(standIn))) as { emails: { body: string }[] };
  assert.deepEqual(
    emails.map(({ body }) => body),
    ['the first words', 'the first words', 'deep', 'as it is', 'Grüße'],
  );
});

async function mailbox(t: { after(end: () => unknown): void }, ...scopes: string[]): Promise<GmailServer> {
  const standIn = await GmailServer.start(t);
  standIn.tokens.set(goodToken, scopes.map(scope));
  return standIn;
}

function callAt({ apiUrl }: GmailServer, callId = 'call-1') {
  return directCall(gmail, { apiUrl, token: goodToken, callId });
}
