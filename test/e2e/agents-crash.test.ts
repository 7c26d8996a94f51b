/** Agents whose service is killed (-9) while an approval is pending, and during a call that cannot be undone. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import test from 'node:test';
import type { Approval } from '../support/bodies.ts';
import { callTool, finish } from '../support/openai-server.ts';
import type { Scope } from '../support/scope.ts';
import { endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import type { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';

test('a pending approval is still pending after the service was killed, and can be decided once', { timeout: 300_000 }, async (t) => {
  const mails = await mailServer(t, 'takes');
  const { service, caller, begin } = await scriptedService(t, { SMTP_URL: mails.url });
  await mails.verify(caller);
  const mail = callTool('send_email', { to: 'ann@example.com', subject: 'After the crash', body: 'Hello' });
  const { id } = await begin('survive', turns(mail, finish('sent')));
  const approval = await untilApproval();
  await service.kill();
  await service.restart();
  assert.deepEqual(await untilApproval(), approval);
  const path = `/v1/agents/${approval.agent_id}/approve/${approval.id}`;
  assert.equal((await caller.fetch('POST', path, { approved: true })).status, 200);
  await service.kill();
  await service.restart();
  assert.equal((await caller.fetch('POST', path, { approved: true })).status, 409);
  const task = await caller.untilTask(id, endStatuses);
  assert.equal(task.status, 'complete');
  assert.ok(mails.taken() <= 1, 'never twice');

  async function untilApproval(): Promise<Approval> {
    let approvals: Approval[] = [];
    await until(async () => {
      ({ approvals } = await caller.json('GET', `/v1/tasks/${id}`));
      return approvals.length > 0;
    }, 'an approval');
    return approvals[0]!;
  }
});

test('after a kill while the mail server delays its answer, the mail is not sent twice and the agent gets an unknown outcome', {
  timeout: 300_000,
}, async (t) => {
  const mails = await mailServer(t, 'hangs');
  const { service, caller, begin, requestsOf } = await scriptedService(t, { SMTP_URL: mails.url });
  await mails.verify(caller);
  const mail = callTool('send_email', { to: 'ann@example.com', subject: 'Once', body: 'Hello' });
  const { id } = await begin('unknown', turns(mail, finish('its delivery is uncertain')), { autonomy_level: 100 });
  await mails.first;
  await service.kill();
  await service.restart();
  const task = await caller.untilTask(id, endStatuses);
  assert.equal(task.status, 'complete');
  assert.equal(mails.taken(), 1);
  assert.match(JSON.stringify(requestsOf('unknown').at(-1)!.body.messages), /outcome is unknown/);
  const { data } = await caller.json('GET', `/v1/tasks/${id}/events?limit=100`);
  const results = data.filter((event: { type: string }) => event.type === 'agent.tool_result');
  assert.deepEqual([results[0].data.is_error, results.length], [true, 2]);
});

/** Speaks enough SMTP to accept mails; `hangs` accepts those of agents without an answer. Only these are counted. */
async function mailServer(t: Scope, manner: 'takes' | 'hangs') {
  const first = Promise.withResolvers<void>();
  const verification = Promise.withResolvers<string>();
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let inMail = false;
    let text = '';
    let rest = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 test');
    socket.on('data', (chunk) => {
      rest += chunk;
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (inMail) {
          text += line.endsWith('=') ? line.slice(0, -1) : `${line}\n`;
          if (line !== '.') continue;
          inMail = false;
          const isAgents = /^From: .*agents@/m.test(text);
          if (isAgents) {
            taken++;
            first.resolve();
          } else verification.resolve(/^v4\.public\.\S+$/m.exec(text.replaceAll('=3D', '='))![0]);
          text = '';
          if (!isAgents || manner === 'takes') say('250 taken');
        } else if (/^DATA/i.test(line)) {
          inMail = true;
          say('354 go on');
        } else if (/^QUIT/i.test(line)) say('221 bye');
        else say('250 yes');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as { port: number };
  /** Follows the mail that was sent at the registration. */
  const verify = async (caller: Caller) => {
    const token = await verification.promise;
    assert.equal((await caller.fetch('POST', '/v1/auth/verify-email', { token })).status, 200);
  };
  return { url: `smtp://127.0.0.1:${port}`, first: first.promise, taken: () => taken, verify };
}
