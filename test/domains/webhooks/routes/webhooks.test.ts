import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { webhookRoutes } from '../../../../src/domains/webhooks/routes/webhooks.ts';
import type { Principal } from '../../../../src/edge/auth/principal.ts';
import { createIdempotency } from '../../../../src/edge/idempotency.ts';
import { noLog } from '../../../../src/log.ts';
import { IdempotencyKeys } from '../../../../src/storage/idempotency-keys.ts';
import { Secrets } from '../../../../src/storage/secrets.ts';
import { startEdge } from '../../../support/http-edge.ts';
import type { Json } from '../../../support/json.ts';
import { insertNeutralRow } from '../../../support/neutral-row.ts';
import { eventCatalogue } from '../../../support/product-events.ts';
import { until } from '../../../support/until.ts';
import { secrets, startWebhookNode } from '../../../support/webhook-node.ts';
import { answerWith, startReceiver } from '../../../support/webhook-receiver.ts';

type Delivery = { event_type: string; status: string; response_status: number | null; attempts: number };

const dayMs = 24 * 3_600_000;
const principal = (accountId: string, scopes: Principal['scopes']): Principal => ({
  accountId,
  userId: 'usr_1',
  kind: scopes === 'all' ? 'session' : 'api_key',
  scopes,
  mode: 'live',
  id: `id of ${accountId}`,
});
const principals: Record<string, Principal> = {
  ann: principal('acct_1', 'all'),
  tasks: principal('acct_1', new Set(['tasks.read'])),
  bob: principal('acct_2', 'all'),
};

async function startWebhookEdge(t: TestContext) {
  const node = await startWebhookNode(t);
  const { actors, database, clock, outbound } = node;
  const edge = await startEdge(
    webhookRoutes({ actors, database, eventCatalogue, secrets, clock, checkUrl: (url) => outbound.check(url) }),
    {
      authenticate: (request) => principals[request.header('authorization').slice('Bearer '.length)] ?? null,
      around: createIdempotency({
        keys: new IdempotencyKeys(database, clock),
        secrets: new Secrets('x'.repeat(32)),
        log: noLog,
        repeating: (commandIds) => actors.repeated.begin(commandIds),
      }),
    },
  );
  t.after(() => edge.server.close(1_000));
  const call = async (method: string, path: string, body?: unknown, token = 'ann', headers: Record<string, string> = {}) => {
    const response = await fetch(`${edge.url}/v1/api-keys/webhooks${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? null : (JSON.parse(text) as Json) };
  };
  return { node, call };
}

test('deliveries of a registered webhook verify with the secret that is shown once; after its deletion the webhook is 404', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const receiver = await startReceiver(t);
  await node.emitEvents([{ type: 'task.created' }]);
  const made = await call('POST', '', { url: receiver.url, events: ['task.completed', 'task.completed', 'agent.*'] });
  assert.equal(made.status, 201);
  const { secret, ...shown } = made.json;
  assert.match(shown.id, /^wh_[0-9a-z]{26}$/);
  assert.deepEqual([shown.url, shown.events, shown.status], [receiver.url, ['task.completed', 'agent.*'], 'pending']);
  await until(async () => (await call('GET', `/${shown.id}`)).json.status === 'active', 'the answer to the challenge');
  shown.status = 'active';
  assert.deepEqual((await call('GET', '')).json, { data: [shown], has_more: false, total: 1 });
  const { rows } = await node.database.read({ text: 'select row_to_json(w)::text as kept from webhook w', values: [] });
  assert.ok(!rows[0].kept.includes(secret.slice('whsec_'.length)));

  await node.emitEvents([{ type: 'task.created' }, { type: 'task.completed', taskId: 'task_1' }]);
  await until(() => receiver.received.length === 1, 'the delivery');
  const [{ body, headers, event }] = receiver.received as [any];
  assert.deepEqual(new Webhook(secret).verify(body, headers), event);
  const [, timestamp, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-troupe-signature'])!;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  assert.equal(signature, createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex'));

  assert.equal((await call('DELETE', `/${shown.id}`)).status, 204);
  await node.emitEvents([{ type: 'task.completed', taskId: 'task_1' }]);
  assert.equal((await call('GET', `/${shown.id}`)).status, 404);
  assert.equal((await call('DELETE', `/${shown.id}`)).status, 404);
  assert.equal((await call('GET', '')).json.total, 0);
  assert.equal(receiver.received.length, 1);
});

test('a webhook is 404 for other accounts', async (t) => {
  const { call } = await startWebhookEdge(t);
  const { id } = (await call('POST', '', { url: 'https://93.184.215.14/x', events: ['*'] })).json;
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { status: 'disabled' }],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['GET', '/deliveries/whd_1'],
    ['POST', '/deliveries/whd_1/replay'],
  ] as const) {
    assert.equal((await call(method, `/${id}${path}`, body, 'bob')).status, 404, `${method} ${path}`);
    assert.equal((await call(method, `/${id}${path}`, body, 'nobody')).status, 401, `${method} ${path}`);
  }
  assert.equal((await call('GET', '', undefined, 'bob')).json.total, 0);
});

test('a key registers webhooks only for events it may read, and cannot change others', async (t) => {
  const { call } = await startWebhookEdge(t);
  const url = 'https://93.184.215.14/x';
  const register = async (events: string[], token: string) => (await call('POST', '', { url, events }, token)).status;
  assert.equal(await register(['task.created', 'task.*', 'deliverable.created', 'webhook.disabled'], 'tasks'), 201);
  for (const name of ['*', 'agent.*', 'agent.approval_needed', 'approval.required', 'wallet.deposited', 'plan.changed', 'trade.filled'])
    assert.equal(await register(['task.created', name], 'tasks'), 403, name);
  const { id } = (await call('POST', '', { url, events: ['*'] })).json;
  assert.equal((await call('GET', '', undefined, 'tasks')).json.total, 1);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ] as const)
    assert.equal((await call(method, `/${id}${path}`, undefined, 'tasks')).status, 403, `${method} ${path}`);
  const own = (await call('GET', '', undefined, 'tasks')).json.data[0].id;
  assert.equal((await call('PATCH', `/${own}`, { events: ['*'] }, 'tasks')).status, 403);
  assert.equal((await call('PATCH', `/${own}`, { events: ['task.failed'] }, 'tasks')).json.events[0], 'task.failed');
});

test('forbidden addresses and unknown events are refused; every event type is accepted', async (t) => {
  const { call } = await startWebhookEdge(t);
  for (const url of [
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest',
    'http://metadata.google.internal/',
    'http://0.0.0.0:1/',
    'http://2852039166/',
    'ftp://example.com/',
    'https://user:pass@example.com/',
    'example.com',
    '',
  ]) {
    const { status, json } = await call('POST', '', { url, events: ['*'] });
    assert.deepEqual([status, json.detail[0].loc], [422, ['body', 'url']], url);
  }
  const url = 'https://example.com/x';
  for (const events of [[], ['task'], ['tasks.*'], ['task.created '], ['task.exploded'], ['**'], [1]])
    assert.equal((await call('POST', '', { url, events })).status, 422, JSON.stringify(events));
  assert.equal((await call('POST', '', { url, events: eventCatalogue.types })).status, 201);
});

test('for a day after a rotation the old secret verifies too, then only the new one; a repeated request rotates once', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const receiver = await startReceiver(t);
  const { id, secret: old } = (await call('POST', '', { url: receiver.url, events: ['*'] })).json;
  const rotate = () => call('POST', `/${id}/rotate-secret`, undefined, 'ann', { 'idempotency-key': 'once' });
  const { secret } = (await rotate()).json;
  assert.equal((await rotate()).json.secret, secret);
  assert.notEqual(secret, old);
  await node.emitEvents([{ taskId: 'task_1' }]);
  await until(() => receiver.received.length === 1, 'the first');
  const [{ body, headers }] = receiver.received as [any];
  for (const known of [old, secret]) new Webhook(known).verify(body, headers);
  assert.equal(headers['x-troupe-signature'].split('v1=').length, 3);

  node.clock.advance(dayMs);
  await node.emitEvents([{ taskId: 'task_1' }]);
  await until(() => receiver.received.length === 2, 'the second');
  const later = receiver.received[1]!;
  assert.equal((later.headers['webhook-signature'] as string).split(' ').length, 1);
  assert.equal((later.headers['x-troupe-signature'] as string).split('v1=').length, 2);
});

test('each of several rotations keeps its old secret for a day, and one too many is refused with the time when it is possible', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const receiver = await startReceiver(t);
  const { id, secret } = (await call('POST', '', { url: receiver.url, events: ['*'] })).json;
  const secrets = [secret];
  const rotate = async () => {
    const answer = await call('POST', `/${id}/rotate-secret`);
    if (answer.status === 200) secrets.push(answer.json.secret);
    return answer;
  };
  /** Whether the next delivery has a signature of each secret, oldest first. The library refuses the test's later times. */
  const verifies = async () => {
    const before = receiver.received.length;
    await node.emitEvents([{ taskId: 'task_1' }]);
    await until(() => receiver.received.length > before, 'the delivery');
    const { body, headers } = receiver.received.at(-1) as any;
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const signatures = headers['webhook-signature'].split(' ');
    return secrets.map((known) => signatures.includes(new Webhook(known).sign(headers['webhook-id'], at, body)));
  };
  assert.equal((await rotate()).status, 200);
  const possibleAt = new Date(node.clock.nowMs() + dayMs);
  node.clock.advance(60_000);
  for (let n = 0; n < 3; n++) assert.equal((await rotate()).status, 200);
  assert.deepEqual(await verifies(), [true, true, true, true, true]);
  const refused = await rotate();
  assert.equal(refused.status, 409);
  const namedMs = Date.parse(/possible after (\S+)$/.exec(refused.json.detail)![1]!);
  assert.ok(Math.abs(namedMs - possibleAt.getTime()) < 60_000, refused.json.detail);

  node.clock.advance(namedMs - node.clock.nowMs());
  assert.equal((await rotate()).status, 200);
  assert.deepEqual(await verifies(), [false, true, true, true, true, true]);
  node.clock.advance(dayMs);
  assert.deepEqual(await verifies(), [false, false, false, false, false, true]);
});

test('deliveries are listed newest first, in pages and by status, and sent again by hand', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const receiver = await startReceiver(t);
  receiver.answer = (received, response) =>
    void response.writeHead(received.event.data.n === 2 ? 404 : 200, { 'retry-after': '3600' }).end('seen');
  const { id } = (await call('POST', '', { url: receiver.url, events: ['*'] })).json;
  for (const n of [1, 2, 3]) await node.emitEvents([{ taskId: `task_${n}`, n }]);
  // The lane of the refused event remains; the others end with their deliveries.
  await node.untilRow(id, ({ cursor, lanes }) => cursor === 3 && lanes.length === 1 && lanes[0]!.failures === 1, 'the records');
  const { data } = (await call('GET', `/${id}/deliveries`)).json;
  assert.deepEqual(
    data.map((one: Delivery) => [one.event_type, one.status, one.response_status, one.attempts]),
    [
      ['task.running', 'delivered', 200, 1],
      ['task.running', 'failed', 404, 1],
      ['task.running', 'delivered', 200, 1],
      ['webhook.challenge', 'delivered', 200, 1],
    ],
  );
  const total = data.length;
  const failed = (await call('GET', `/${id}/deliveries?status=failed`)).json.data;
  assert.deepEqual(failed, [data[1]]);
  assert.deepEqual([failed[0].response_body, failed[0].error, typeof failed[0].next_attempt_at], ['seen', 'It answered 404', 'string']);
  assert.deepEqual((await call('GET', `/${id}/deliveries?limit=1&offset=1`)).json, { data: [data[1]], has_more: true, total });
  assert.deepEqual((await call('GET', `/${id}/deliveries/${failed[0].id}`)).json, failed[0]);
  assert.equal((await call('GET', `/${id}/deliveries/whd_none`)).status, 404);
  assert.equal((await call('GET', `/${id}/deliveries?status=lost`)).status, 422);

  receiver.answer = answerWith(200);
  const replayed = await call('POST', `/${id}/deliveries/${failed[0].id}/replay`);
  assert.deepEqual([replayed.status, replayed.json.status], [200, 'pending']);
  await node.untilRow(id, ({ lanes, asked }) => lanes.length === 0 && asked.length === 0, 'the replay');
  const after = (await call('GET', `/${id}/deliveries/${failed[0].id}`)).json;
  assert.deepEqual([after.status, after.attempts, after.next_attempt_at], ['delivered', 2, null]);
  assert.equal(receiver.received.at(-1)!.headers['webhook-id'], failed[0].event_id);

  const tested = await call('POST', `/${id}/test`);
  assert.deepEqual([tested.status, tested.json.event_type, tested.json.status], [200, 'webhook.test', 'pending']);
  await until(() => receiver.received.at(-1)!.event.type === 'webhook.test', 'the test event');
});

test('an address gets only signed challenges until it answers one with 2xx, then all events since the registration', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const receiver = await startReceiver(t);
  receiver.answerChallenge = answerWith(500);
  const { id, secret } = (await call('POST', '', { url: receiver.url, events: ['*'] })).json;
  for (const n of [1, 2]) await node.emitEvents([{ taskId: 'task_1', n }]);
  const failures = async () => (await call('GET', `/${id}/deliveries?status=failed`)).json.data[0]?.attempts;
  await until(async () => (await failures()) === 1, 'the first refusal');
  assert.equal((await call('GET', `/${id}`)).json.status, 'pending');
  node.clock.advance(6_000);
  await node.fireTimers();
  await until(async () => (await failures()) === 2, 'the second refusal');
  assert.equal(receiver.received.length, 0);
  const [{ body, headers, event }] = receiver.challenges as [any];
  new Webhook(secret).verify(body, headers);
  assert.deepEqual(event.data, { webhook_id: id, message: 'Answer this with 2xx, and events are sent to this address.' });

  receiver.answerChallenge = answerWith(204);
  node.clock.advance(31_000);
  await node.fireTimers();
  await until(() => receiver.received.length === 2, 'the events');
  assert.deepEqual([receiver.challenges.length, receiver.received.map((one) => one.event.data.n)], [3, [1, 2]]);
  assert.equal((await call('GET', `/${id}`)).json.status, 'active');
});

test('a 2xx answer to the test event is also a proof; without an answer for 24 hours the webhook is disabled, and after 410 at once', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const [tested, silent, gone] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  for (const receiver of [tested, silent]) receiver.answerChallenge = answerWith(404);
  gone.answerChallenge = answerWith(410);
  const ids: string[] = [];
  for (const { url } of [tested, silent, gone]) ids.push((await call('POST', '', { url, events: ['*'] })).json.id);
  const shown = async (n: number) => {
    const { status, disabled_reason } = (await call('GET', `/${ids[n]}`)).json;
    return `${status} ${disabled_reason}`;
  };
  await until(async () => (await shown(2)) === 'disabled gone', 'the end of the one that is gone');
  await call('POST', `/${ids[0]}/test`);
  await until(async () => (await shown(0)) === 'active null', 'the answer to the test event');
  for (let hours = 0; (await shown(1)) === 'pending null'; hours++) {
    assert.ok(hours < 40);
    node.clock.advance(3_600_000);
    const sent = silent.challenges.length;
    await node.fireTimers();
    await until(async () => silent.challenges.length > sent && (await node.row(ids[1]!))!.asked.length === 0, 'another challenge');
  }
  assert.equal(await shown(1), 'disabled unverified');
  assert.ok(silent.challenges.length < 40, `${silent.challenges.length} challenges`);
});

test('an account has at most five webhooks to one origin, also by concurrent registrations and changes of addresses', async (t) => {
  const { call } = await startWebhookEdge(t);
  const register = (url: string, token = 'ann') => call('POST', '', { url, events: ['*'] }, token);
  const made = await Promise.all(Array.from({ length: 12 }, (_, i) => register(`https://93.184.215.14/${i}`)));
  assert.deepEqual(
    [201, 409].map((status) => made.filter((one) => one.status === status).length),
    [5, 7],
  );
  assert.equal((await register('HTTPS://93.184.215.14:443/x?y#z')).status, 409);
  const other = await register('https://93.184.215.14:8443/');
  assert.equal(other.status, 201);
  assert.equal((await call('PATCH', `/${other.json.id}`, { url: 'https://93.184.215.14/' })).status, 409);
  assert.equal((await register('https://93.184.215.14/', 'bob')).status, 201);
  const first = made.find(({ status }) => status === 201)!.json;
  assert.equal((await call('PATCH', `/${first.id}`, { url: 'https://93.184.215.14/new' })).status, 200, 'it counts once');
  await call('DELETE', `/${first.id}`);
  await until(async () => (await register('https://93.184.215.14/again')).status === 201, 'the place of the deleted one');
});

test('webhooks created, changed or deleted by nodes of an earlier version are counted correctly', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const origin = 'https://93.184.215.14';
  const register = () => call('POST', '', { url: `${origin}/one-more`, events: ['*'] });
  // As such a node has left it: of five it deleted two and moved one, and it made one that goes elsewhere. No actor of theirs has woken yet.
  const entries = ['wh_1', 'wh_2', 'wh_3', 'wh_4', 'wh_5'].map((id) => ({ id, origin }));
  const made = { wh_1: `${origin}/1`, wh_2: `${origin}/2`, wh_3: 'https://93.184.215.14:8443/', wh_6: 'https://93.184.215.14:8444/' };
  for (const [id, url] of Object.entries(made))
    await insertNeutralRow(node.database, 'webhook', { id, account_id: 'acct_1', url, status: 'active' });
  await insertNeutralRow(node.database, 'webhook', { id: 'wh_4', account_id: 'acct_1', url: origin, status: 'deleted' });
  const registered = async () => (await node.database.pool.query('select entries from account_webhooks')).rows[0].entries;
  await node.database.pool.query(`insert into account_webhooks values ('acct_1', $1, now() - interval '1 hour')`, [
    JSON.stringify(entries),
  ]);
  assert.equal((await register()).status, 409, 'the register knows of none of it');
  await until(async () => (await registered()).length === 4, 'the register to agree');
  assert.deepEqual(
    Object.fromEntries((await registered()).map((entry: (typeof entries)[0]) => [entry.id, entry.origin])),
    Object.fromEntries(Object.entries(made).map(([id, url]) => [id, new URL(url).origin])),
  );
  assert.equal((await register()).status, 201);
});

test('a corrected address gets a challenge at once', async (t) => {
  const { node, call } = await startWebhookEdge(t);
  const [wrong, right] = [await startReceiver(t), await startReceiver(t)];
  wrong.answer = answerWith(500);
  const { id } = (await call('POST', '', { url: wrong.url, events: ['*'] })).json;
  await node.emitEvents([{ taskId: 'task_1' }]);
  await node.untilRow(id, ({ lanes }) => lanes[0]?.failures === 1, 'the failure');
  assert.equal((await call('PATCH', `/${id}`, { url: right.url })).json.url, right.url);
  await until(() => right.received.length === 1, 'the delivery');
});
