import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { webhook } from '../../../../src/domains/webhooks/webhook/messages.ts';
import { until } from '../../../support/until.ts';
import { startWebhookNode } from '../../../support/webhook-node.ts';
import { type Answer, answerWith, startReceiver } from '../../../support/webhook-receiver.ts';

const hourMs = 3_600_000;

test('a committed event is delivered once as its envelope, and the delivery is recorded', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  const { id } = await node.register(receiver.url, { events: ['task.*'] });
  await node.emitEvents([{ taskId: 'task_1', type: 'task.created', n: 1 }, { type: 'plan.changed' }]);
  await node.untilRow(id, ({ cursor }) => cursor === 2, 'the record');
  assert.equal(receiver.received.length, 1);
  const [{ headers, event }] = receiver.received as [any];
  assert.deepEqual([event.seq, event.type, event.account_id, event.data], [1, 'task.created', 'acct_1', { n: 1 }]);
  assert.equal(headers['webhook-id'], event.id);
  assert.equal(headers['content-type'], 'application/json');
  const [record] = await node.deliveries(id);
  assert.deepEqual([record.status, record.attempts, record.response_status, record.id], ['delivered', 1, 200, `whd_${event.id.slice(4)}`]);
});

test('a webhook gets events of cards, orders and the wallet of its own mode, and all others', async (t) => {
  const node = await startWebhookNode(t);
  const of = { live: await startReceiver(t), test: await startReceiver(t) };
  const live = await node.register(of.live.url, { mode: 'live' });
  const trial = await node.register(of.test.url, { mode: 'test' });
  const sly = { mode: 'live', vendor: '"mode":"test"', description: '{"mode":"test"}' };
  await node.emitEvents([
    { type: 'order.created', data: sly },
    { type: 'order.created', data: { ...sly, mode: 'test' } },
    { type: 'wallet.deposited', data: { amount: 1 } },
    { type: 'plan.changed', data: { mode: 'test' } },
  ]);
  for (const { id } of [live, trial]) await node.untilRow(id, ({ cursor, lanes }) => cursor === 4 && lanes.length === 0, 'the deliveries');
  const got = (mode: 'live' | 'test') => of[mode].received.map(({ event }) => event.seq).toSorted();
  assert.deepEqual(
    [got('live'), got('test')],
    [
      [1, 3, 4],
      [2, 4],
    ],
  );
});

test('a failed delivery is retried at its times; only later events of the same task wait', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  const { id } = await node.register(receiver.url);
  const failing =
    (broken: string): Answer =>
    (received, response) =>
      void response.writeHead(received.event.data.n === broken ? 500 : 200).end('sorry');
  receiver.answer = failing('a1');
  await node.emitEvents(['a1', 'b1', 'a2', 'c', 'b2'].map((n) => ({ taskId: n === 'c' ? undefined : `task_${n[0]}`, data: { n } })));
  const names = () => receiver.received.map(({ event }) => event.data.n);
  await node.untilRow(id, ({ cursor, lanes }) => cursor === 5 && lanes.length === 1 && lanes[0]!.failures === 1, 'the failure');
  assert.deepEqual([...names()].sort(), ['a1', 'b1', 'b2', 'c']);
  assert.ok(names().indexOf('b1') < names().indexOf('b2'));
  const failed = (await node.deliveries(id)).find(({ status }) => status === 'failed');
  assert.deepEqual([failed.response_status, failed.response_body, failed.error], [500, 'sorry', 'It answered 500']);

  for (const [waitMs, failures] of [
    [5_000, 2],
    [30_000, 3],
    [120_000, 4],
  ] as const) {
    await node.pass(waitMs - 2_000);
    await node.pass(2_000);
    await node.untilRow(id, ({ lanes }) => lanes[0]?.failures === failures, `failure ${failures}`);
  }
  receiver.answer = answerWith(204);
  await node.emitEvents([{ taskId: 'task_a', data: { n: 'a3' } }]);
  await node.pass(600_000);
  await node.untilRow(id, ({ lanes, cursor }) => lanes.length === 0 && cursor === 6, 'the end of the lane');
  assert.deepEqual(names().slice(4), ['a1', 'a1', 'a1', 'a1', 'a2', 'a3']);
  const ids = receiver.received.filter(({ event }) => event.data.n === 'a1').map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 1);
  assert.deepEqual((await node.deliveries(id)).map(({ attempts, status }) => `${status} ${attempts}`).sort(), [
    'delivered 1',
    'delivered 1',
    'delivered 1',
    'delivered 1',
    'delivered 1',
    'delivered 5',
  ]);
});

test('a webhook whose delivery fails for 24 hours is disabled, with an event and a mail; enabled again it gets new events', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  const other = await startReceiver(t);
  receiver.answer = answerWith(503);
  const { id } = await node.register(receiver.url, { events: ['task.*'] });
  await node.register(other.url, { events: ['webhook.disabled'] });
  await node.emitEvents([{ taskId: 'task_1', n: 1 }]);
  for (let failures = 1; (await node.row(id))!.status === 'active'; failures++) {
    await node.untilRow(id, ({ lanes, status }) => status === 'disabled' || lanes[0]?.failures === failures, `failure ${failures}`);
    assert.ok(failures < 40);
    await node.pass(hourMs);
  }
  const attempts = receiver.received.length;
  assert.ok(attempts >= 24, `${attempts} attempts`);
  await until(() => other.received.length === 1, 'the event');
  assert.deepEqual(other.received[0]!.event.data, { webhook_id: id, reason: 'failing' });
  const row = (await node.row(id))!;
  assert.deepEqual([row.disabledReason, row.lanes], ['failing', []]);
  assert.equal((await node.deliveries(id))[0].next_attempt_at, null);

  await node.emitEvents([{ taskId: 'task_1', n: 2 }]);
  receiver.answer = answerWith(200);
  await node.actors.ask(webhook, id, 'change', { status: 'active', cursor: 3 });
  await node.emitEvents([{ taskId: 'task_1', n: 3 }]);
  await until(() => receiver.received.length > attempts, 'a delivery');
  await node.untilRow(id, ({ cursor }) => cursor === 4, 'the record');
  assert.deepEqual(
    receiver.received.slice(attempts).map(({ event }) => event.data.n),
    [3],
  );
});

test('a receiver that answers 410 gets no more requests', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  receiver.answer = answerWith(410);
  const { id } = await node.register(receiver.url);
  await node.emitEvents([{ taskId: 'task_1' }, { taskId: 'task_1' }]);
  await node.untilRow(id, ({ status, disabledReason }) => status === 'disabled' && disabledReason === 'gone', 'the end');
  assert.equal(receiver.received.length, 1);
});

test('the mail about a disabled webhook is retried five times while the mail server is unreachable, until the webhook is enabled', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  receiver.answer = answerWith(410);
  node.mailServer.isAway = true;
  const { tries } = node.mailServer;
  const disable = async () => {
    const before = tries.length;
    const { id } = await node.register(receiver.url);
    await node.emitEvents([{ taskId: 'task_1' }]);
    await node.untilRow(id, ({ status }) => status === 'disabled', 'the end');
    await until(async () => tries.length > before, 'the first try');
    return id;
  };
  /** The clock advances to the next try. */
  const nextTry = async () => {
    const before = tries.length;
    await until(
      async () => {
        await node.pass(10_000);
        await node.fireTimers();
        return tries.length > before;
      },
      `try ${before + 1}`,
    );
  };
  const timers = async () => (await node.database.read({ text: `select from timer where name = 'tell user'` })).rows.length;

  await disable();
  await nextTry();
  assert.ok(tries.length >= 2 && node.mails.length === 0);
  node.mailServer.isAway = false;
  await nextTry();
  assert.deepEqual(
    node.mails.map(({ to, subject }) => [to, subject]),
    [['ann@example.com', 'A webhook was disabled']],
  );
  assert.deepEqual(new Set(tries), new Set([tries[0]]), 'under one Message-ID');
  await until(async () => (await timers()) === 0, 'no further try');

  node.mailServer.isAway = true;
  tries.length = 0;
  await disable();
  for (let n = 1; n < 5; n++) if (tries.length < 5) await nextTry();
  await until(async () => (await timers()) === 0, 'the last try');
  assert.equal(tries.length, 5);

  const id = await disable();
  await until(async () => (await timers()) === 1, 'the first try');
  await node.actors.ask(webhook, id, 'change', { status: 'active', cursor: 100 });
  await node.pass(hourMs);
  await node.fireTimers();
  await until(async () => (await timers()) === 0, 'the timer');
  assert.equal(tries.length, 6);
});

test('redirects, a private address behind a name, a gigabyte, a cut answer and a damaged encoding do no harm', async (t) => {
  const inside = await startReceiver(t);
  const names: Record<string, string> = {
    'receiver.test': '127.0.0.1',
    'inside.test': '127.0.0.2',
    'mapped.test': '::ffff:169.254.169.254',
  };
  const resolve = async (name: string) => [{ address: names[name]!, family: names[name]!.includes(':') ? 6 : 4 }];
  const node = await startWebhookNode(t, { allow: ['127.0.0.1'], resolve });
  const receiver = await startReceiver(t);
  let sentBytes = 0;
  const block = Buffer.alloc(65_536);
  const answers: Record<string, Answer> = {
    redirect: answerWith(302, { location: inside.url.replace('127.0.0.1', '127.0.0.2') }),
    badRedirect: answerWith(307, { location: 'http://[' }),
    gigabyte(_request, response) {
      response.writeHead(200, { 'content-length': String(2 ** 30) });
      const more = () => {
        while (!response.destroyed && sentBytes < 2 ** 30) {
          sentBytes += block.length;
          if (!response.write(block)) return void response.once('drain', more);
        }
      };
      more();
    },
    cut: (_request, response) => void response.writeHead(200, { 'content-length': '100' }).write('abc', () => response.destroy()),
    damaged: answerWith(200, { 'content-encoding': 'gzip' }, 'no gzip'),
    nul: answerWith(500, {}, 'a\0b'),
  };
  receiver.answer = (received, response) => answers[received.path.slice(1)]!(received, response);
  const at = (path: string, host = '127.0.0.1') => receiver.url.replace('127.0.0.1', host).replace(/hook$/, path);
  const urls = {
    ...Object.fromEntries(Object.keys(answers).map((path) => [path, at(path)])),
    inside: at('x', 'inside.test'),
    mapped: at('x', 'mapped.test'),
  };
  const ids = await Promise.all(Object.entries(urls).map(async ([name, url]) => [name, (await node.register(url)).id] as const));
  await node.emitEvents([{ taskId: 'task_1' }]);
  const outcome: Record<string, string> = {};
  for (const [name, id] of ids) {
    await until(async () => (await node.deliveries(id)).length === 1, name);
    const [{ status, error, response_body: body }] = await node.deliveries(id);
    outcome[name] = `${status}: ${error ?? `${body.length} characters`}`;
    assert.ok(body === null || !body.includes('\0'));
  }
  assert.deepEqual(outcome, {
    redirect: 'failed: It answered 302; redirects are not followed',
    badRedirect: 'failed: It answered 307; redirects are not followed',
    gigabyte: 'delivered: 1024 characters',
    cut: `failed: ${new URL(receiver.url).host} could not be reached: the connection was cut`,
    damaged: 'delivered: 7 characters',
    nul: 'failed: It answered 500',
    inside: 'failed: inside.test is not a public address; it may not be reached from here',
    mapped: 'failed: mapped.test is not a public address; it may not be reached from here',
  });
  assert.equal(inside.received.length, 0);
  assert.ok(sentBytes < 2 ** 27, `${sentBytes} bytes were taken`);
});

/** The address of a server that takes requests and never answers. */
async function hangingReceiver(t: TestContext): Promise<string> {
  const hanging: Socket[] = [];
  const server = createServer((socket) => void hanging.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of hanging) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a receiver that hangs delays neither other webhooks nor other tasks', async (t) => {
  // Longer than the test may take: delivered events have not waited for it.
  const node = await startWebhookNode(t, { timeoutMs: 300_000 });
  const receiver = await startReceiver(t);
  receiver.answer = (received, response) => received.event.data.n !== 'slow' && void response.end();
  const { id: dead } = await node.register(await hangingReceiver(t));
  const { id } = await node.register(receiver.url);
  await node.emitEvents([{ taskId: 'task_slow', data: { n: 'slow' } }]);
  for (let n = 0; n < 20; n++) await node.emitEvents([{ taskId: `task_${n}`, n }]);
  await until(() => receiver.received.length === 21, 'all events');
  await node.untilRow(id, ({ cursor, lanes }) => cursor === 21 && lanes.length === 1, 'the record');
  assert.equal((await node.deliveries(dead)).length, 0);
});

test('a delivery without an answer fails at its time limit', async (t) => {
  const node = await startWebhookNode(t, { timeoutMs: 300 });
  const { id } = await node.register(await hangingReceiver(t));
  await node.emitEvents([{ taskId: 'task_a' }]);
  await until(async () => (await node.deliveries(id)).length > 0, 'the failure');
  assert.match((await node.deliveries(id))[0].error, /did not answer within 0.3 s/);
});

test('deliveries interrupted by a crash are repeated under the same id, reported ones are not', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  const { id } = await node.register(receiver.url);
  const release: (() => void)[] = [];
  await node.emitEvents([{ taskId: 'task_a', data: { n: 'delivered' } }]);
  await node.untilRow(id, ({ cursor, lanes }) => cursor === 1 && lanes.length === 0, 'the record');
  receiver.answer = (_received, response) => void release.push(() => response.end());
  await node.emitEvents([
    { taskId: 'task_a', data: { n: 'interrupted' } },
    { taskId: 'task_a', data: { n: 'later' } },
  ]);
  await until(() => receiver.received.length === 2, 'the second');
  await node.crash();
  receiver.answer = answerWith(200);
  await until(() => receiver.received.length === 4, 'the third');
  assert.deepEqual(
    receiver.received.map(({ event }) => event.data.n),
    ['delivered', 'interrupted', 'interrupted', 'later'],
  );
  assert.equal(receiver.received[1]!.headers['webhook-id'], receiver.received[2]!.headers['webhook-id']);
  for (const end of release) end();
});

test('after an orderly stop no delivery is repeated, and waiting lanes continue', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  // The next try comes with the clock of the test, however long this takes.
  receiver.answer = (received, response) =>
    void (received.event.data.n === 0 ? response.writeHead(500, { 'retry-after': '3600' }) : response).end();
  const { id } = await node.register(receiver.url);
  await node.emitEvents([0, 1, 2, 3].map((n) => ({ taskId: `task_${n % 2}`, n })));
  await until(() => receiver.received.length === 3, 'three');
  await node.restart();
  await node.emitEvents([{ taskId: 'task_1', n: 5 }]);
  await until(() => receiver.received.length === 4, 'the next');
  receiver.answer = answerWith(200);
  await node.pass(hourMs);
  await node.untilRow(id, ({ cursor, lanes }) => cursor === 5 && lanes.length === 0, 'the end');
  const names = receiver.received.map(({ event }) => event.data.n);
  assert.deepEqual(
    [names.slice(0, 3).sort(), names.slice(3)],
    [
      [0, 1, 3],
      [5, 0, 2],
    ],
  );
});

test('thousands of events for a dead receiver need a bounded row, and all are delivered in order when it answers again', {
  timeout: 240_000,
}, async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  receiver.answer = answerWith(500, { 'retry-after': '3600' });
  const { id } = await node.register(receiver.url);
  const tasks = 200;
  for (let page = 0; page < 10; page++) {
    await node.emitEvents(Array.from({ length: tasks }, (_, i) => ({ taskId: `task_${i}`, data: { task: i, page } })));
  }
  await node.untilRow(id, ({ lanes }) => lanes.length === 128 && lanes.every(({ failures }) => failures === 1), 'full lanes');
  assert.ok((await node.row(id))!.cursor < 10 * tasks);
  receiver.answer = answerWith(200);
  await node.pass(hourMs);
  await node.untilRow(id, ({ cursor, lanes }) => cursor === 10 * tasks && lanes.length === 0, 'the end');
  const pages = new Map<number, number[]>();
  for (const { event } of receiver.received.slice(128))
    pages.set(event.data.task, [...(pages.get(event.data.task) ?? []), event.data.page]);
  assert.equal(pages.size, tasks);
  for (const seen of pages.values()) assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('a test event and a replay are delivered once each, also to a disabled webhook', async (t) => {
  const node = await startWebhookNode(t);
  const receiver = await startReceiver(t);
  const { id } = await node.register(receiver.url);
  await node.emitEvents([{ taskId: 'task_1', n: 1 }]);
  await node.untilRow(id, ({ cursor }) => cursor === 1, 'the record');
  await node.actors.ask(webhook, id, 'change', { status: 'disabled', cursor: 1 });
  const sent = await node.actors.ask(webhook, id, 'test', null);
  await node.untilRow(id, ({ asked }) => asked.length === 0, 'the test');
  const [record] = (await node.deliveries(id)).filter(({ type }) => type === 'webhook.test');
  assert.deepEqual([record.id, record.status, receiver.received[1]!.event.type], [sent.id, 'delivered', 'webhook.test']);

  receiver.answer = answerWith(500);
  const { webhook_id: _, ...first } = (await node.deliveries(id)).find(({ type }) => type === 'task.running');
  const again = {
    id: first.id,
    seq: Number(first.seq),
    type: first.type,
    status: first.status,
    attempts: first.attempts,
    createdAt: first.created_at,
  };
  await node.actors.ask(webhook, id, 'replay', {
    ...again,
    responseStatus: 200,
    responseBody: '',
    error: null,
    durationMs: 1,
    attemptedAt: first.attempted_at,
    nextAttemptAt: null,
  } as any);
  await node.untilRow(id, ({ asked }) => asked.length === 0, 'the replay');
  assert.equal(receiver.received[2]!.body, receiver.received[0]!.body);
  assert.equal(receiver.received[2]!.headers['webhook-id'], receiver.received[0]!.headers['webhook-id']);
  const replayed = (await node.deliveries(id)).find(({ type }) => type === 'task.running');
  assert.deepEqual([replayed.status, replayed.attempts, replayed.next_attempt_at], ['failed', 2, null]);
});

test('approvals are delivered under the subscribed name', async (t) => {
  const node = await startWebhookNode(t);
  const receivers = await Promise.all([0, 1, 2].map(() => startReceiver(t)));
  const wanted = [['agent.approval_needed'], ['approval.required', 'agent.approval_needed'], ['agent.*']];
  for (const [i, receiver] of receivers.entries()) await node.register(receiver.url, { events: wanted[i] });
  await node.emitEvents([{ taskId: 'task_1', type: 'approval.required', data: { approval_id: 'appr_1' } }]);
  await until(() => receivers.every(({ received }) => received.length === 1), 'all');
  assert.deepEqual(
    receivers.map(({ received }) => received[0]!.event.type),
    ['agent.approval_needed', 'approval.required', 'agent.approval_needed'],
  );
  assert.equal(new Set(receivers.map(({ received }) => received[0]!.event.seq)).size, 1);
});
