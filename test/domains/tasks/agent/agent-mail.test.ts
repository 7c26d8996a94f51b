import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyActor } from '../../../../src/actors/define-actor.ts';
import { throttleActor } from '../../../../src/domains/identity/throttle/throttle.ts';
import { type AgentMailParts, agentMail } from '../../../../src/domains/tasks/agent/agent-mail.ts';
import { mailsPerDay } from '../../../../src/plans.ts';
import type { Mail } from '../../../../src/providers/mail/port.ts';
import { testRuntime } from '../../../support/runtime.ts';
import type { Scope } from '../../../support/scope.ts';

const written = { to: 'bob@example.com', subject: 'Hi', text: 'The text\n' };

/** An account whose user is ann@example.com, on the free plan. */
async function mailer(t: Scope, { verified = true, reachesPeople = true } = {}) {
  const node = await testRuntime([throttleActor] as unknown as AnyActor[]);
  t.after(() => node.close());
  const sent: { mail: Mail; id: string }[] = [];
  const profile = { email: 'ann@example.com', emailVerified: verified };
  const actors = {
    ask: (...args: Parameters<typeof node.actors.ask>) => node.actors.ask(...args),
    query: async ({ kind }: { kind: string }) => (kind === 'user' ? profile : null),
  };
  const parts = {
    actors,
    database: { read: async () => ({ rows: [{ id: 'usr_1' }] }) },
    mail: { send: async (mail: Mail, id: string) => ({ detail: `sent ${sent.push({ mail, id })}` }) },
    from: 'Troupe agent <agents@troupe.example>',
    reachesPeople,
  } as unknown as AgentMailParts;
  const send = (n: number, mode: 'live' | 'test' = 'live') => agentMail(parts, { accountId: 'acct_1', mode }, `call_${n}`).send(written);
  return { sent, send };
}

test("a mail of an agent has the agents' sender address, names the user for whom it was written, and has that user as Reply-To", async (t) => {
  const { sent, send } = await mailer(t);
  assert.deepEqual(await send(1), { detail: 'sent 1' });
  const [{ mail, id }] = sent as [{ mail: Mail; id: string }];
  assert.deepEqual(
    [mail.to, mail.from, mail.replyTo, id],
    ['bob@example.com', 'Troupe agent <agents@troupe.example>', 'ann@example.com', 'call_1'],
  );
  assert.equal(mail.text, 'The text\n\n-- \nAn AI agent wrote this on behalf of ann@example.com. Answers go to that address.\n');
});

test('for any number of concurrent calls, no more mails are sent within 24 hours than the plan allows', async (t) => {
  const { sent, send } = await mailer(t);
  const outcomes = await Promise.allSettled(Array.from({ length: 3 * mailsPerDay.free }, (_, n) => send(n)));
  assert.equal(sent.length, mailsPerDay.free);
  const refused = outcomes.filter((one) => one.status === 'rejected');
  for (const { reason } of refused) assert.match(reason.message, /allows its agents 10 mails in 24 hours.* Nothing was sent/);
});

test('an unverified account and a test key send no mails; mails that are only stored are neither counted nor refused', async (t) => {
  const unverified = await mailer(t, { verified: false });
  await assert.rejects(unverified.send(1), /not verified.*Nothing was sent/);
  const { sent, send } = await mailer(t);
  assert.match((await send(1, 'test')).detail, /^not sent/);
  assert.deepEqual([...unverified.sent, ...sent], []);
  const kept = await mailer(t, { verified: false, reachesPeople: false });
  for (let n = 0; n < 2 * mailsPerDay.free; n++) await kept.send(n);
  assert.equal(kept.sent.length, 2 * mailsPerDay.free);
});
