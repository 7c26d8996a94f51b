/**
 * No input of a caller, a file or a model blocks a node's event loop for more than 50 ms. What is measured is the processor time that
 * the main thread of a real service takes within one turn of its loop (test/support/loop-watch.ts): other programs of a busy machine add
 * to wall time, not to that, and the bound grows on a slow machine. A sample over the bound is taken anew a few times, since the compiler and
 * the garbage collector may fall into one; an input that blocks, blocks each time.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { hostilePrompts, hostileSchemas, hostileTables, trapSchema } from '../support/hostile-work.ts';
import { isShortTurn } from '../support/loop-watch.ts';
import {
  type Behaviour,
  callTool,
  callTools,
  deltaEvent,
  endless,
  finish,
  raw,
  text,
  wholeAlthoughStreamed,
} from '../support/openai-server.ts';
import { endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import { Caller, type Service, startService } from '../support/service.ts';

const samples = 4;
/** A task is watched for at most this time: a task that computes longer has shown its effect on the node by then. */
const watchedMs = 1_000;
const watched = { NODE_OPTIONS: `--import=${pathToFileURL('test/support/loop-watch-preload.ts').href}` };

const words = (chars: number) => 'word '.repeat(chars / 5);
test('offline: prompts, schemas, tables and bodies', { timeout: 300_000 }, async (t) => {
  const service = await startService(t, watched);
  const caller = await Caller.register(service);
  const { id } = await caller.json('POST', '/v1/tasks', { prompt: 'Say what 2 + 2 is' });
  await caller.untilTask(id, endStatuses);

  await t.test('prompts', async () => {
    await within(service, () =>
      tasks(
        caller,
        hostilePrompts.map((prompt) => ({ prompt })),
      ),
    );
  });

  await t.test('schemas', async () => {
    await within(service, () =>
      tasks(
        caller,
        hostileSchemas.map((output_schema) => ({ prompt: 'Say hello', config: { output_schema } })),
      ),
    );
  });

  await t.test('tables', async () => {
    const { id: workspace_id } = await caller.json('POST', '/v1/workspaces', { name: 'hostile tables' });
    for (const [name, content] of Object.entries(hostileTables)) await caller.upload(workspace_id, name, content);
    const ask = Object.keys(hostileTables).map((name) => ({ prompt: `Analyse ${name}`, workspace_id }));
    await within(service, () => tasks(caller, ask));
  });

  await t.test('bodies, each of them refused', async () => {
    const list = (item: string, chars: number) => `[${`${item},`.repeat(chars / (item.length + 1))}${item}]`;
    const bodies = [
      `{"name":"a","scopes":${list('""', 1_000_000)}}`,
      `{"name":"a","scopes":${list('""', 55_000)}}`,
      `{"name":"a","scopes":${list('[]', 1_000_000)}}`,
      `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join()}}`,
      `{"name":"${'\\u00e4'.repeat(170_000)}","scopes":[]}`,
      `{"name":${'9'.repeat(1_000_000)}}`,
      '['.repeat(1_000_000),
      `{"name":"${' '.repeat(1_000_000)}"}`,
    ];
    await within(service, async () => {
      for (const body of bodies) {
        const headers = { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' };
        const { status } = await fetch(`${service.url}/v1/api-keys`, { method: 'POST', headers, body });
        assert.ok(status === 400 || status === 422, String(status));
      }
    });
  });

  await t.test('messages to /mcp, of each kind twelve at once', async () => {
    const many = Array.from({ length: 9_000 }, () => ({}));
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hostile', version: '1' } };
    const fields = Object.fromEntries(many.map((_, i) => [`field ${i}`, 1]));
    const messages: [string, object][] = [
      ['initialize', hello],
      ['initialize', { ...hello, clientInfo: { name: 'x'.repeat(1_000_000), version: '1' } }],
      ['initialize', { ...hello, capabilities: { experimental: { many } } }],
      ['tools/call', { name: 'create_task', arguments: { prompt: many } }],
      ['tools/call', { name: 'create_task', arguments: fields }],
    ];
    const bodies = messages.map(([method, params]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const calls = Array.from({ length: 2_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
    bodies.push(JSON.stringify(calls));
    const headers = {
      authorization: `Bearer ${caller.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const send = async (body: string) => (await fetch(`${service.url}/mcp`, { method: 'POST', headers, body })).text();
    for (const body of bodies) await within(service, () => Promise.all(Array.from({ length: 12 }, () => send(body))));
  });

  await t.test('every described list in a body has a maximum length', async () => {
    const { paths } = (await (await fetch(`${service.url}/v1/openapi.json`)).json()) as any;
    const bodies = Object.values<any>(paths).flatMap((path) => Object.values<any>(path).flatMap(({ requestBody }) => requestBody ?? []));
    const unbounded: string[] = [];
    const visit = (schema: any, where: string) => {
      if (typeof schema !== 'object' || schema === null) return;
      if (schema.type === 'array' && schema.maxItems === undefined) unbounded.push(where);
      for (const [name, part] of Object.entries(schema)) visit(part, `${where}/${name}`);
    };
    visit(bodies, '');
    assert.deepEqual(unbounded, []);
  });
});

test('a model endpoint: answers of every size and form, and checks of what agents wrote', { timeout: 300_000 }, async (t) => {
  const world = await scriptedService(t, watched);
  const { service, caller } = world;
  await world.play('warm-up', turns(callTool('write_file', { path: 'output.json', content: '{}' }), finish('done')), { output_schema: {} });
  let n = 0;
  const play = async (behaviour: Behaviour) => {
    const { id } = await world.begin(`reply-${n++}`, turns(behaviour, finish('done')), { output_schema: trapSchema });
    return id as string;
  };

  await t.test('replies', async () => {
    const answers: Behaviour[] = [
      text(words(100_000)),
      text(`\`\`\`json${'\n '.repeat(50_000)}x`),
      wholeAlthoughStreamed({ text: words(250_000) }),
      callTool('finish', { summary: words(100_000) }),
      callTool('finish', '{"a":'.repeat(10_000)),
      callTools(...Array.from({ length: 120 }, () => ({ name: 'read_file', arguments: { path: words(500) } }))),
      raw(200, 'application/json', `{"choices":[${'{},'.repeat(500_000)}{}]}`),
      endless(deltaEvent('m', { content: 'and so on '.repeat(20) })),
    ];
    await within(service, async () => ended(caller, await Promise.all(answers.map(play))));
  });

  await t.test('plans', async () => {
    const plans = [`\`\`\`json${'\n '.repeat(50_000)}x`, `{"agents":[${'1,'.repeat(100_000)}1]}`, `${'['.repeat(100_000)}`];
    await within(service, async () => {
      const begun = plans.map((plan) => world.begin(`plan-${n++}`, () => text(plan)));
      await ended(
        caller,
        (await Promise.all(begun)).map(({ id }) => id),
      );
    });
  });

  await t.test('checks of output.json', async () => {
    const write = (value: unknown) => callTool('write_file', { path: 'output.json', content: JSON.stringify(value) });
    const outputs = [{ a: `${'a'.repeat(60)}b` }, { a: Array.from({ length: 20_000 }, () => ({})) }];
    await within(service, async () => ended(caller, await Promise.all(outputs.map((value) => play(write(value))))));
  });
});

/** Creates the tasks and waits as `ended` does. */
async function tasks(caller: Caller, bodies: object[]): Promise<void> {
  const created = await Promise.all(bodies.map((body) => caller.json('POST', '/v1/tasks', body)));
  await ended(
    caller,
    created.map(({ id }) => id),
  );
}

/** Waits until all tasks have ended or `watchedMs` has passed, and cancels the remaining tasks. */
async function ended(caller: Caller, ids: string[]): Promise<void> {
  const until = Date.now() + watchedMs;
  for (const id of ids) await caller.untilTask(id, endStatuses, Math.max(1, until - Date.now())).catch(() => null);
  await Promise.all(ids.map((id) => caller.fetch('POST', `/v1/tasks/${id}/cancel`)));
}

/** @param act what must not keep the loop; done again where a sample is over the bound */
async function within(service: Service, act: () => Promise<unknown>): Promise<void> {
  const measured: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await longestTurn(service);
    await act();
    const longestMs = await longestTurn(service);
    if (isShortTurn(longestMs)) return;
    measured.push(longestMs);
  }
  assert.fail(`turns of the event loop took ${measured.join(', ')} ms`);
}

/** Since the last time it was asked. */
async function longestTurn(service: Service): Promise<number> {
  const longestTurns = () => [...service.output().matchAll(/longest turn ([\d.]+) ms\n/g)].map(([, ms]) => Number(ms));
  const before = longestTurns().length;
  process.kill(service.pid, 'SIGUSR2');
  while (longestTurns().length === before) await once(AbortSignal.timeout(5), 'abort');
  return longestTurns().at(-1)!;
}
