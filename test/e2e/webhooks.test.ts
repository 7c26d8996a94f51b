/** Webhooks of the whole service, from the outside. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Caller, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { answerWith, startReceiver } from '../support/webhook-receiver.ts';

const hooks = '/v1/api-keys/webhooks';

test('a webhook follows a task across a kill -9, and one that answers 410 is disabled with an event and a mail', async (t) => {
  const service = await startService(t, { OUTBOUND_ALLOW: '127.0.0.1' });
  const caller = await Caller.register(service, 'hooked');
  const [receiver, gone] = [await startReceiver(t), await startReceiver(t)];
  const { id, secret } = await caller.json('POST', hooks, { url: receiver.url, events: ['task.*'] });
  const { id: goneId } = await caller.json('POST', hooks, { url: gone.url, events: ['task.created'] });
  gone.answer = answerWith(410);
  // The first delivery is in flight when the service is killed.
  receiver.answer = () => {};
  await caller.json('POST', '/v1/tasks', { prompt: 'What is 6 times 7?' });
  await until(() => receiver.received.length > 0 && gone.received.length > 0, 'the first delivery');
  await service.kill();
  receiver.answer = answerWith(200);
  await service.restart();
  const again = caller.at(service);
  await until(() => receiver.received.some(({ event }) => event.type === 'task.completed'), 'the completion');
  for (const { body, headers } of receiver.received) new Webhook(secret).verify(body, headers as Record<string, string>);
  const types = receiver.received.map(({ event }) => event.type);
  assert.equal(types[0], 'task.created');
  assert.equal(types.at(-1), 'task.completed');
  assert.equal(
    new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size,
    new Set(receiver.received.map(({ event }) => event.seq)).size,
  );
  await until(async () => (await again.json('GET', `${hooks}/${id}/deliveries?status=delivered`)).data.length >= 3, 'the records');

  await until(async () => (await again.json('GET', `${hooks}/${goneId}`)).disabled_reason === 'gone', 'the end of the other');
  const disabled = (await again.events()).find(({ type }) => type === 'webhook.disabled')!;
  assert.deepEqual(disabled.data, { webhook_id: goneId, reason: 'gone' });
  const folder = join(service.dataDir, 'mail');
  const mails = async () => Promise.all((await readdir(folder).catch(() => [])).map((name) => readFile(join(folder, name), 'utf8')));
  await until(async () => (await mails()).some((mail) => mail.includes(goneId)), 'the mail');
  const mail = (await mails()).find((text) => text.includes(goneId))!;
  assert.match(mail, /^To: hooked@example\.com/m);
  assert.ok(!mail.includes(new URL(gone.url).pathname), 'an address may hold a secret');
});

test('without OUTBOUND_ALLOW, a webhook cannot have a private address', async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service);
  for (const url of ['http://127.0.0.1:1/', 'http://localhost/', 'http://10.1.2.3/', 'http://[fd00::1]/'])
    assert.equal((await caller.fetch('POST', hooks, { url, events: ['*'] })).status, 422, url);
});
