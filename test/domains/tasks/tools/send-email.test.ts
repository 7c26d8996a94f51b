import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkArguments } from '../../../../src/domains/tasks/tools/check-arguments.ts';
import type { AgentMail } from '../../../../src/domains/tasks/tools/port.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { sendEmail } from '../../../../src/domains/tasks/tools/send-email.ts';
import { AppError } from '../../../../src/errors.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

function postbox(failure?: Error) {
  const sent: object[] = [];
  const mailer: AgentMail = {
    async send(mail) {
      sent.push(mail);
      if (failure) throw failure;
      return { detail: 'posted' };
    },
  };
  const context = { ...toolContext(memoryWorkspace()), mail: mailer };
  const send = async (args: object) =>
    (await runTool(sendEmail, args, context, (error) => assert.fail(String(error)))) as { result: any; isError: boolean };
  return { sent, send };
}

const mail = { to: 'ann@example.com', subject: 'Hi', body: 'Text' };

test('a mail is sent on behalf of the account, and the agent gets the outcome', async () => {
  const { sent, send } = postbox();
  assert.deepEqual(await send({ ...mail, to: ' ann@example.com ' }), {
    result: { to: 'ann@example.com', subject: 'Hi', status: 'posted' },
    isError: false,
  });
  assert.deepEqual(sent, [{ to: 'ann@example.com', subject: 'Hi', text: 'Text' }]);
});

test('the tool needs approval and is not repeatable', () => {
  assert.deepEqual([sendEmail.highConsequence, sendEmail.repeatable], [true, false]);
});

const bad: [string, object][] = [
  ['no address', { to: 'ann' }],
  ['several addresses', { to: 'ann@example.com, bob@example.com' }],
  ['several addresses by semicolon', { to: 'ann@example.com;bob@example.com' }],
  ['a header in the address', { to: 'ann@example.com\r\nBcc: eve@example.com' }],
  ['a header in the subject', { subject: 'Hi\r\nBcc: eve@example.com' }],
  ['a folded header in the subject', { subject: 'Hi\n\tBcc: eve@example.com' }],
  ['a command in the address', { to: 'ann@example.com>\r\nDATA' }],
  ['a null character in the text', { body: 'a\u0000b' }],
  ['an empty subject', { subject: '' }],
  ['a subject of a thousand characters', { subject: 'x'.repeat(1000) }],
];
test('an address or subject that no mail can have does not match the schema, so no person is asked about it', () => {
  for (const [name, change] of bad) assert.equal('body' in change || !checkArguments(sendEmail, { ...mail, ...change }).ok, true, name);
  assert.equal(checkArguments(sendEmail, mail).ok, true);
});

for (const [name, change] of bad) {
  test(`${name} is refused and nothing is sent`, async () => {
    const { sent, send } = postbox();
    assert.equal((await send({ ...mail, ...change })).isError, true);
    assert.deepEqual(sent, []);
  });
}

test('the result of a failed mail says whether it was certainly not sent or has an unknown outcome', async () => {
  const surely = await postbox(new AppError('unavailable', 'The mail server refused the mail (550)')).send(mail);
  assert.match(surely.result.error, /refused the mail \(550\)\. It was not sent\./);
  const unknown = await postbox(new AppError('outcome_unknown', 'The mail server broke off')).send(mail);
  assert.match(unknown.result.error, /Do not send it again/);
});
