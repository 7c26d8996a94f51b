/** A turn with a correct endpoint: the request, the answer, and that an abort ends both at once. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import test from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Model, ModelReply } from '../../../src/providers/model/port.ts';
import {
  agentScript,
  type Behaviour,
  callTool,
  callTools,
  endless,
  failure,
  json,
  openAiServer,
  say,
  silence,
  silenceAfter,
  text,
} from '../../support/openai-server.ts';
import { apiKey, aRequest, rigAt, served, someOptions } from './support.ts';

// Before the SDK can be loaded: the first test checks which modules were loaded.
const loaded: string[] = [];
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'ai' || specifier.startsWith('@ai-sdk/')) loaded.push(specifier);
    return next(specifier, context);
  },
});

test('the SDK is loaded by the first turn, and only the required package', async (t) => {
  const server = await served(t, () => text('hi'));
  const { model } = rigAt(server.url);
  assert.equal(loaded.join(), '');
  await model.turn(aRequest, someOptions());
  assert.ok(loaded.includes('ai') && loaded.includes('@ai-sdk/openai-compatible'));
  assert.ok(!loaded.includes('@ai-sdk/anthropic'));
});

test('text is streamed in pieces and returned completely, with usage, cost and the name of the model', async (t) => {
  const server = await served(t, () => text('Revenue fell by 12 % in March, and nobody noticed.', { model: 'gpt-5-2025-08-07' }));
  const pieces: string[] = [];
  const reply = await rigAt(server.url).turn({}, { onText: (piece) => pieces.push(piece) });
  assert.deepEqual(reply, {
    text: 'Revenue fell by 12 % in March, and nobody noticed.',
    toolCalls: [],
    inputTokens: 100,
    outputTokens: 20,
    costMillicents: Math.ceil((100 * 125_000 + 20 * 1_000_000) / 1_000_000),
    model: 'gpt-5-2025-08-07',
  } satisfies ModelReply);
  assert.ok(pieces.length > 2);
  assert.equal(pieces.join(''), reply.text);
});

test('instructions, conversation, tools, limit and keys are sent in the form of the protocol', async (t) => {
  const server = await served(t, () => text('ok'));
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  await rigAt(server.url).turn(
    {
      messages: [
        { role: 'user', text: 'Read a.csv' },
        { role: 'assistant', text: 'I read it.', toolCalls: [{ id: 'c1', name: 'read_file', arguments: { path: 'a.csv' } }] },
        { role: 'tool', callId: 'c1', name: 'read_file', result: { rows: 3 }, isError: false },
      ],
      tools: [{ name: 'read_file', description: 'Reads a file.', parameters }],
      maxOutputTokens: 321,
    },
    { idempotencyKey: 'eff_77' },
  );
  const [{ headers, body, path }] = server.requests as [(typeof server.requests)[0]];
  assert.equal(path, '/v1/chat/completions');
  assert.equal(headers.authorization, `Bearer ${apiKey}`);
  assert.equal(headers['idempotency-key'], 'eff_77');
  assert.equal(body.model, 'gpt-5');
  assert.equal(body.stream, true);
  assert.deepEqual(body.stream_options, { include_usage: true });
  assert.equal(body.max_tokens, 321);
  assert.equal(body.response_format, undefined);
  assert.deepEqual(body.tools, [{ type: 'function', function: { name: 'read_file', description: 'Reads a file.', parameters } }]);
  assert.deepEqual(body.messages, [
    { role: 'system', content: 'You are an analyst.' },
    { role: 'user', content: 'Read a.csv' },
    {
      role: 'assistant',
      content: 'I read it.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.csv"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"rows":3}' },
  ]);
});

test('a requested schema is sent as response_format json_schema, strict only if strict mode supports it', async (t) => {
  const server = await served(t, () => json({ agents: [] }));
  const loose = { type: 'object', properties: { agents: { type: 'array', items: { type: 'string' } } } };
  const strict = { ...loose, required: ['agents'], additionalProperties: false };
  const rig = rigAt(server.url);
  const reply = await rig.turn({ outputSchema: { name: 'plan', schema: loose } });
  assert.deepEqual(JSON.parse(reply.text), { agents: [] });
  await rig.turn({ outputSchema: { name: 'plan', schema: strict } });
  assert.deepEqual(
    server.requests.map(({ body }) => body.response_format),
    [
      { type: 'json_schema', json_schema: { name: 'plan', strict: false, schema: loose } },
      { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema: strict } },
    ],
  );
});

test('several tool calls of one turn are returned in order with the text', async (t) => {
  const calls = [1, 2, 3].map((n) => ({ id: `c${n}`, name: 'write_file', arguments: { path: `${n}.md`, content: 'ü'.repeat(50) } }));
  const server = await served(t, () => say({ text: 'Writing.', calls }));
  const reply = await rigAt(server.url).turn();
  assert.equal(reply.text, 'Writing.');
  assert.deepEqual(reply.toolCalls, calls);
});

test('a task can name another model than the configured one', async (t) => {
  const server = await served(t, () => text('ok'));
  const reply = await rigAt(server.url).turn({ model: 'local-llama' });
  assert.equal(server.requests[0]!.body.model, 'local-llama');
  assert.equal(reply.model, 'local-llama');
});

test('a model without a known price costs nothing, which is logged once', async (t) => {
  const server = await served(t, () => text('ok'));
  const rig = rigAt(server.url, {}, 'local-llama');
  assert.equal((await rig.turn()).costMillicents, 0);
  assert.equal((await rig.turn()).costMillicents, 0);
  assert.equal(rig.logged.filter((line) => line.includes('no price is known')).length, 1);
});

test('fifty concurrent turns each get their own answer', async (t) => {
  const server = await served(t, ({ body }) => text(`answer to ${body.messages.at(-1)!.content}`));
  const rig = rigAt(server.url);
  const asked = Array.from({ length: 50 }, (_, n) => `question ${n}`);
  const replies = await Promise.all(asked.map((question) => rig.turn({ messages: [{ role: 'user', text: question }] })));
  assert.deepEqual(
    replies.map((reply) => reply.text),
    asked.map((question) => `answer to ${question}`),
  );
});

test('a turn that was aborted before it began sends nothing', async (t) => {
  const server = await served(t, () => text('ok'));
  const reason = new Error('cancelled');
  await assert.rejects(rigAt(server.url).turn({}, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(server.requests.length, 0);
});

const page: Behaviour = async (response, request) => {
  response.writeHead(400, { 'content-type': 'text/plain' });
  response.write('The beginning of an error that never ends');
  await request.closed;
};

for (const [phase, behaviour] of Object.entries({
  'waiting for the first byte': silence(),
  'in the middle of the answer': silenceAfter('So far'),
  'while words rush in': endless(': nothing\n\n'),
  'in the middle of an error page': page,
})) {
  test(`an abort ${phase} rejects at once with its reason and ends the request`, async (t) => {
    const server = await served(t, () => behaviour);
    const abort = new AbortController();
    const rig = rigAt(server.url);
    const turn = rig.turn({ maxOutputTokens: 60_000 }, { signal: abort.signal });
    const request = await server.request(1);
    await nextTick();
    abort.abort(new Error('cancelled by its owner'));
    await assert.rejects(turn, { message: 'cancelled by its owner' });
    assert.equal(await request.closed, true);
    assert.deepEqual(rig.waits, []);
    assert.equal(server.requests.length, 1);
  });
}

test('an abort from within onText ends the turn', async (t) => {
  const server = await served(t, () => silenceAfter('So far'));
  const abort = new AbortController();
  const turn = rigAt(server.url).turn({}, { signal: abort.signal, onText: () => abort.abort(new Error('enough')) });
  await assert.rejects(turn, { message: 'enough' });
  assert.equal(await server.requests[0]!.closed, true);
});

test('an abort during back-off rejects at once and sends nothing more', async (t) => {
  const server = await served(t, () => failure(503));
  const abort = new AbortController();
  const sleep = async (_ms: number, signal: AbortSignal): Promise<void> => {
    queueMicrotask(() => abort.abort(new Error('cancelled')));
    await once(signal, 'abort');
    throw signal.reason;
  };
  await assert.rejects(rigAt(server.url, { sleep }).turn({}, { signal: abort.signal }), { message: 'cancelled' });
  assert.equal(server.requests.length, 1);
});

test('an abort also ends a real back-off wait', async (t) => {
  const server = await served(t, () => failure(503, 'later', { headers: { 'retry-after': '60' } }));
  const abort = new AbortController();
  const rig = rigAt(server.url, { sleep: undefined });
  const turn = rig.turn({}, { signal: abort.signal });
  await (await server.request(1)).closed;
  await nextTick();
  abort.abort(new Error('cancelled'));
  await assert.rejects(turn, { message: 'cancelled' });
});

test('an error thrown by onText is not a failure of the model and is not retried', async (t) => {
  const server = await served(t, () => text('hi'));
  const boom = (): void => {
    throw new Error('listener broke');
  };
  await assert.rejects(rigAt(server.url).turn({}, { onText: boom }), { message: 'listener broke' });
  assert.equal(server.requests.length, 1);
});

test('a key that the endpoint sends back inside an answer is only text, and reaches no log', async (t) => {
  const server = await served(t, () => callTools({ id: 'a', name: apiKey, arguments: {} }));
  const rig = rigAt(server.url);
  await rig.turn();
  assert.ok(!rig.logged.join().includes(apiKey));
});

test('the stand-in answers without a stream if none is requested', async (t) => {
  const server = await served(t, () => say({ text: 'Hello', calls: [{ id: 'c', name: 'finish', arguments: { summary: 's' } }] }));
  const response = await fetch(`${server.url}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'm', messages: [] }) });
  const { choices, usage } = (await response.json()) as { choices: { message: object; finish_reason: string }[]; usage: object };
  assert.deepEqual(choices[0]!.message, {
    role: 'assistant',
    content: 'Hello',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'finish', arguments: '{"summary":"s"}' } }],
  });
  assert.equal(choices[0]!.finish_reason, 'tool_calls');
  assert.deepEqual(usage, { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 });
});

test('an agent script of the stand-in plans by the requested schema, takes its turns and finishes', async (t) => {
  const server = await served(t, agentScript([{ type: 'analyst', prompt: 'Look' }], callTool('list_files', {})));
  const rig = rigAt(server.url);
  const schema = { type: 'object', properties: { why: { type: 'string' }, pieces: { type: 'array' } } };
  const planned = await rig.turn({ outputSchema: { name: 'plan', schema } });
  assert.deepEqual(JSON.parse(planned.text), { pieces: [{ type: 'analyst', prompt: 'Look' }] });
  const first = await rig.turn();
  assert.equal(first.toolCalls[0]!.name, 'list_files');
  const second = await rig.turn({ messages: [...aRequest.messages, { role: 'assistant', text: first.text, toolCalls: first.toolCalls }] });
  assert.deepEqual([second.toolCalls[0]!.name, second.toolCalls[0]!.arguments], ['finish', { summary: 'Done.' }]);
});

test('a script that throws answers 500, and closing the stand-in ends open requests', async () => {
  const server = await openAiServer((_request, n) => {
    if (n === 1) throw new Error('script broke');
    return silence();
  });
  const model: Model = rigAt(server.url, { sleep: async () => {} }).model;
  const turn = assert.rejects(model.turn(aRequest, someOptions()), { code: 'unavailable' });
  await server.request(2);
  await server.close();
  await turn;
  await server.close();
});
