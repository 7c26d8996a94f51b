/** A new domain is served by adding it to one list: this test serves one that is only in this folder. */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { systemClock } from '../../../src/clock.ts';
import { loadConfig } from '../../../src/config.ts';
import { noLog } from '../../../src/log.ts';
import { Metrics } from '../../../src/metrics.ts';
import type { Disposers } from '../../../src/node/disposers.ts';
import { domains } from '../../../src/node/domains.ts';
import { startNode } from '../../../src/node/node.ts';
import { productOf } from '../../../src/node/product.ts';
import { Maintenance } from '../../../src/storage/maintenance.ts';
import { testDatabase } from '../../support/database.ts';
import { DescribedApi } from '../../support/described-api.ts';
import { callTool, finish, openAiServer, plan } from '../../support/openai-server.ts';
import { Caller } from '../../support/service.ts';
import { StreamClient } from '../../support/stream-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { notes } from './domain.ts';

test('a domain in one folder is served completely by adding it to the list', { timeout: 240_000 }, async (t) => {
  const disposers: Disposers = [];
  const [database, folder] = await Promise.all([testDatabase({ empty: true }), temporaryFolder()]);
  const model = await openAiServer(({ body }) => {
    if (body.response_format) return plan([{ type: 'builder', title: 'Write', prompt: 'Write a note' }]);
    // On a busy machine a call may fail; a model then calls again.
    const isWritten = body.messages.some(({ role, content }) => role === 'tool' && content!.includes('note_id'));
    return isWritten ? finish('Written') : callTool('write_note', { text: 'by an agent' });
  });
  t.after(async () => {
    for (let stop = disposers.pop(); stop !== undefined; stop = disposers.pop()) await stop(0);
    await Promise.all([model.close(), database.close(), folder.remove()]);
  });
  const config = loadConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    ADMIN_PORT: '0',
    DATA_DIR: folder.path,
    DATABASE_URL: database.url,
    MODEL_BASE_URL: model.url,
    MODEL_API_KEY: 'test-key',
    MODEL_NAME: 'scripted',
    OUTBOUND_ALLOW: '127.0.0.0/8',
  });
  const never = () => assert.fail('nobody asked this node to end');
  const { address } = await startNode(productOf([...domains, notes]), config, noLog, disposers, never, never);
  const document = (await (await fetch(`${address}/v1/openapi.json`)).json()) as any;
  const caller = await Caller.register({ url: address, api: new DescribedApi(document) });
  const stream = await StreamClient.open(Number(new URL(address).port));
  stream.send({ type: 'auth', token: caller.token });
  await stream.until(() => stream.messages.some(({ type }) => type === 'auth_ok'));
  stream.send({ type: 'subscribe', topics: ['type:note.*'] });
  await stream.until(() => stream.messages.some(({ type }) => type === 'subscribed'));

  await t.test('its migration, actor and route', async () => {
    const written = await caller.json('POST', '/v1/notes', { text: 'buy milk' });
    assert.match(written.id, /^note_[0-9a-z]{26}$/);
    assert.deepEqual(await caller.json('GET', `/v1/notes/${written.id}`), written);
    const other = await Caller.register({ url: address });
    assert.equal((await other.fetch('GET', `/v1/notes/${written.id}`)).status, 404);
    assert.equal((await caller.fetch('POST', '/v1/notes', { text: '' })).status, 422);
  });

  await t.test('its chapter of the API reference', () => {
    assert.deepEqual(document.paths['/notes'].post.tags, ['Notes']);
    assert.ok(document.tags.some(({ name }: { name: string }) => name === 'Notes'));
  });

  await t.test('its tool for agents, and its events on the stream', async () => {
    const { id } = await caller.json('POST', '/v1/tasks', { prompt: 'Write a note' });
    const { status, error } = await caller.untilTask(id, ['complete', 'failed']);
    assert.deepEqual([status, error], ['complete', null]);
    await stream.until(() => stream.events.length >= 2);
    assert.deepEqual(
      stream.events.map(({ event }) => [event.type, event.data.text]),
      [
        ['note.written', 'buy milk'],
        ['note.written', 'by an agent'],
      ],
    );
  });

  await t.test('its retention and its metrics', async (t) => {
    const client = new pg.Client({ connectionString: database.url });
    t.after(() => client.end());
    await client.connect();
    await client.query(`insert into note values ('note_old', 'acct_1', 'old', now() - interval '31 days')`);
    const { jobs = [], metrics } = notes.start({ actors: null as never, clock: systemClock } as never, undefined);
    const removed = await new Maintenance({ databaseUrl: database.url, jobs, log: noLog }).runOnce();
    assert.deepEqual(removed, { notes: 1 });
    assert.equal((await client.query('select from note')).rowCount, 2);
    const registry = new Metrics(noLog);
    metrics!(registry);
    assert.match(await registry.text(), /^troupe_notes 1$/m);
  });
  stream.vanish();
});

test('two domains with the same name, prefix of ids or family of events are refused', () => {
  const other = { ...notes, name: 'others', ids: { other: 'other_' }, events: {} } as const;
  assert.doesNotThrow(() => productOf([...domains, notes, { ...other, api: undefined }]));
  for (const wrong of [{ name: 'notes' }, { ids: { thing: 'task_' } }, { ids: { thing: 'evt_' } }, { events: notes.events }])
    assert.throws(() => productOf([...domains, notes, { ...other, api: undefined, ...wrong } as never]), /^Error: Two domains/);
});
