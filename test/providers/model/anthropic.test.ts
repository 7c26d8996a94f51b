/** Anthropic's protocol with a small stand-in: requests, answers, and its failures. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { createAiSdkModel } from '../../../src/providers/model/ai-sdk.ts';
import { anthropic } from '../../../src/providers/model/anthropic.ts';
import type { ModelRequest } from '../../../src/providers/model/port.ts';
import { aRequest, noteLog, someOptions } from './support.ts';

const key = 'sk-ant-very-secret-987654';

type Sent = { path: string; headers: IncomingHttpHeaders; body: any };

test('a turn with text and a tool call is read from the stream of events', async (t) => {
  const { turn } = await rig(t, [
    blockStart(0, { type: 'text', text: '' }),
    blockDelta(0, { type: 'text_delta', text: 'I shall ' }),
    blockDelta(0, { type: 'text_delta', text: 'look.' }),
    blockStop(0),
    blockStart(1, { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} }),
    blockDelta(1, { type: 'input_json_delta', partial_json: '{"path":' }),
    blockDelta(1, { type: 'input_json_delta', partial_json: '"a.csv"}' }),
    blockStop(1),
    ...ending('tool_use'),
  ]);
  const pieces: string[] = [];
  const reply = await turn({ tools }, (piece) => pieces.push(piece));
  assert.deepEqual(reply, {
    text: 'I shall look.',
    toolCalls: [{ id: 'toolu_1', name: 'read_file', arguments: { path: 'a.csv' } }],
    inputTokens: 25,
    outputTokens: 15,
    costMillicents: Math.ceil((25 * 200_000 + 15 * 1_000_000) / 1_000_000),
    model: 'claude-sonnet-5-5',
  });
  assert.deepEqual(pieces, ['I shall ', 'look.']);
});

test('system, alternating roles, tools, results and keys are sent in the form of the protocol', async (t) => {
  const { turn, sent } = await rig(t, words('ok'));
  await turn({
    messages: [
      { role: 'user', text: 'Read it.' },
      { role: 'user', text: 'And be quick.' },
      { role: 'assistant', text: '', toolCalls: [call('a', { path: 'a' }), call('b', '{"path": nonsense')] },
      { role: 'tool', callId: 'a', name: 'read_file', result: 'x,y', isError: false },
      { role: 'tool', callId: 'b', name: 'read_file', result: 'These arguments are no JSON.', isError: true },
      { role: 'user', text: 'Go on.' },
    ],
    tools,
    maxOutputTokens: 777,
  });
  const [{ path, headers, body }] = sent as [Sent];
  assert.equal(path, '/v1/messages');
  assert.equal(headers['x-api-key'], key);
  assert.equal(headers['idempotency-key'], 'eff_1');
  assert.equal(body.model, 'claude-sonnet-5-5');
  assert.equal(body.max_tokens, 777);
  assert.equal(body.stream, true);
  assert.deepEqual(body.system, [{ type: 'text', text: 'You are an analyst.' }]);
  assert.equal(body.tools[0].name, 'read_file');
  assert.deepEqual(body.tools[0].input_schema, tools[0]!.parameters);
  assert.deepEqual(
    body.messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'user'],
  );
  const [, calls, results] = body.messages;
  assert.deepEqual(
    calls.content.map(({ id, input }: { id: string; input: object }) => [id, input]),
    [
      ['a', { path: 'a' }],
      ['b', { unreadable_arguments: '{"path": nonsense' }],
    ],
  );
  assert.deepEqual(
    results.content.map((part: { type: string; tool_use_id?: string; is_error?: boolean }) => [part.type, part.tool_use_id, part.is_error]),
    [
      ['tool_result', 'a', undefined],
      ['tool_result', 'b', true],
      ['text', undefined, undefined],
    ],
  );
});

test('a requested schema is sent, and the JSON is returned as text', async (t) => {
  const { turn, sent } = await rig(t, words('{"agents":[]}'));
  const schema = {
    type: 'object',
    properties: { agents: { type: 'array', items: { type: 'string' } } },
    required: ['agents'],
    additionalProperties: false,
  };
  const reply = await turn({ outputSchema: { name: 'plan', schema } });
  assert.deepEqual(JSON.parse(reply.text), { agents: [] });
  assert.match(JSON.stringify(sent[0]!.body.output_config ?? sent[0]!.body.output_format), /json_schema.*agents/);
});

test('arguments that are not JSON are returned as the raw string', async (t) => {
  const { turn } = await rig(t, [
    blockStart(0, { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} }),
    blockDelta(0, { type: 'input_json_delta', partial_json: '{"path": oops' }),
    blockStop(0),
    ...ending('tool_use'),
  ]);
  assert.deepEqual((await turn({ tools })).toolCalls, [{ id: 'toolu_1', name: 'read_file', arguments: '{"path": oops' }]);
});

test('a refusal is a failure and is not retried', async (t) => {
  const { turn, sent } = await rig(t, [...ending('refusal')]);
  await assert.rejects(turn(), { code: 'unavailable', message: 'The model refused to answer this request.' });
  assert.equal(sent.length, 1);
});

test('an overload reported inside the stream is retried, and the next answer counts', async (t) => {
  const overload = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const { turn, sent } = await rig(t, [overload], [blockStart(0, { type: 'text', text: '' }), overload], words('There.'));
  assert.equal((await turn()).text, 'There.');
  assert.equal(sent.length, 3);
});

test('a stream that ends too early is retried until the tries are used up', async (t) => {
  const { turn, sent } = await rig(t, [blockStart(0, { type: 'text', text: '' }), blockDelta(0, { type: 'text_delta', text: 'I shall ' })]);
  await assert.rejects(turn(), { message: /broke off.*tried 5 times/ });
  assert.equal(sent.length, 5);
});

test('a refused key is reported without the key', async (t) => {
  const { turn, logged } = await rig(t, (response: ServerResponse) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: `invalid x-api-key ${key}` } }));
  });
  await assert.rejects(turn(), (error: Error) => {
    assert.match(error.message, /refused the API key.*ANTHROPIC_API_KEY/);
    assert.ok(!inspect(error, { depth: 20 }).includes(key) && !logged.join().includes(key));
    return true;
  });
});

const tools = [{ name: 'read_file', description: 'Reads', parameters: { type: 'object', properties: { path: { type: 'string' } } } }];

const call = (id: string, args: unknown) => ({ id, name: 'read_file', arguments: args });
const blockStart = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const blockDelta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const blockStop = (index: number) => ({ type: 'content_block_stop', index });
const ending = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 15 } },
  { type: 'message_stop' },
];
const words = (text: string) => [
  blockStart(0, { type: 'text', text: '' }),
  blockDelta(0, { type: 'text_delta', text }),
  blockStop(0),
  ...ending('end_turn'),
];

/** Answers request n with the n-th list of events (the last for all further ones), begun as every message begins. */
async function rig(t: TestContext, ...answers: (object[] | ((response: ServerResponse) => void))[]) {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    sent.push({ path: request.url!, headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const answer = answers[Math.min(sent.length, answers.length) - 1]!;
    if (typeof answer === 'function') return answer(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const usage = { input_tokens: 25, output_tokens: 1 };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    for (const event of [{ type: 'message_start', message }, { type: 'ping' }, ...answer] as { type: string }[])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { log, logged } = noteLog();
  const vendor = anthropic({
    apiKey: key,
    modelName: 'claude-sonnet-5-5',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  });
  const model = createAiSdkModel(vendor, { log, sleep: async () => {} });
  const turn = (request: Partial<ModelRequest> = {}, onText?: (piece: string) => void) =>
    model.turn({ ...aRequest, ...request }, { ...someOptions(), onText });
  return { turn, sent, logged };
}
