/** Every fault of an endpoint ends in a usable reply or in a clear failure, after a bounded number of tries, and shows no key. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import test from 'node:test';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../src/errors.ts';
import { createModel } from '../../../src/providers/model/create-model.ts';
import type { ModelRequest } from '../../../src/providers/model/port.ts';
import {
  type Behaviour,
  callTools,
  cutAfter,
  deltaEvent,
  dropConnection,
  endAfter,
  endless,
  event,
  events,
  failure,
  htmlPage,
  hugeHeaders,
  inOrder,
  openAiServer,
  raw,
  redirect,
  say,
  silence,
  silenceAfter,
  text,
  wholeAlthoughStreamed,
} from '../../support/openai-server.ts';
import { apiKey, aRequest, noteLog, type Rig, rigAt, served, someOptions } from './support.ts';

const schema = { name: 'answer', schema: { type: 'object', properties: { x: { type: 'number' } } } };

type FailingCase = {
  title: string;
  behaviour: Behaviour;
  words: RegExp;
  tries: number;
  request?: Partial<ModelRequest>;
  options?: object;
};

const sse = (...chunks: unknown[]): Behaviour => events(`${chunks.map(event).join('')}data: [DONE]\n\n`);

const hangingPage: Behaviour = async (response, request) => {
  response.writeHead(400, { 'content-type': 'text/plain' });
  response.write('The beginning of an error that never ends');
  await request.closed;
};

/** Sends the same bytes every few milliseconds, until the client goes away. */
const drip =
  (piece: string, type = 'text/event-stream'): Behaviour =>
  async (response, request) => {
    response.writeHead(200, { 'content-type': type });
    const timer = setInterval(() => response.write(piece), 5);
    await request.closed;
    clearInterval(timer);
  };

const signsOfLife: [string, Behaviour][] = [
  ['comments', drip(': ping\n\n')],
  ['empty events', drip(deltaEvent('m', { content: '' }))],
  ['blanks before a document', drip(' \n', 'application/json')],
];

const cases: FailingCase[] = [
  ...signsOfLife.map(([what, behaviour]) => ({
    title: `an endpoint that sends only ${what} is left, and tried again`,
    behaviour,
    words: /no part of its answer.*tried 5 times/,
    tries: 5,
    options: { contentTimeoutMs: 40 },
  })),
  {
    title: 'a flood of tool calls is refused',
    behaviour: callTools(...Array.from({ length: 129 }, () => ({ name: 'finish', arguments: {} }))),
    words: /more than 128 tool calls/,
    tries: 1,
  },
  {
    title: 'an error page that hangs is told by its status',
    behaviour: hangingPage,
    words: /refused the request \(400\)/,
    tries: 1,
    options: { idleTimeoutMs: 40 },
  },
  { title: 'an endless 503 is given up after five tries', behaviour: failure(503), words: /failed \(503\).*tried 5 times/, tries: 5 },
  {
    title: 'a 500 with an HTML page is given up without its markup',
    behaviour: htmlPage(500),
    words: /failed \(500\) \(tried 5/,
    tries: 5,
  },
  { title: 'a 408 is tried again', behaviour: failure(408), words: /\(408\)/, tries: 5 },
  { title: 'a 429 is tried again', behaviour: failure(429), words: /slow down/, tries: 5 },
  {
    title: 'a 429 for want of credit is not tried again',
    behaviour: failure(429, 'You exceeded your current quota', { code: 'insufficient_quota' }),
    words: /no credit left/,
    tries: 1,
  },
  { title: 'a 402 says that there is no credit', behaviour: failure(402), words: /no credit left/, tries: 1 },
  {
    title: 'a refused key names the setting, not the key',
    behaviour: failure(401, `Incorrect API key provided: ${apiKey}`),
    words: /refused the API key.*MODEL_API_KEY/,
    tries: 1,
  },
  { title: 'a 403 is told like a refused key', behaviour: failure(403, `key ${apiKey}`), words: /refused the API key/, tries: 1 },
  { title: 'an unknown model is named', behaviour: failure(404, 'no such model'), words: /no model "gpt-5".*MODEL_BASE_URL/, tries: 1 },
  {
    title: 'an unknown 400 passes on the words of the endpoint without the key in them',
    behaviour: failure(400, `Bad temperature\n for Bearer ${apiKey} and ${apiKey}`),
    words: /refused the request \(400\): Bad temperature for \[secret\] and \[secret\]/,
    tries: 1,
  },
  {
    title: 'a conversation that is too long is said to be too long',
    behaviour: failure(400, "This model's maximum context length is 8192 tokens", { code: 'context_length_exceeded' }),
    words: /longer than the model can read/,
    tries: 1,
  },
  {
    title: 'a 413 is told like a conversation that is too long',
    behaviour: failure(413),
    words: /longer than the model can read/,
    tries: 1,
  },
  { title: 'an HTML page with 200 is told as a wrong address', behaviour: htmlPage(), words: /web page.*MODEL_BASE_URL/, tries: 1 },
  { title: 'a redirect is not followed', behaviour: redirect('http://127.0.0.1:1/v1'), words: /redirects elsewhere \(307\)/, tries: 1 },
  {
    title: 'a whole answer that is no JSON is unreadable',
    behaviour: raw(200, 'application/json', '{"choices": ['),
    words: /cannot be read/,
    tries: 5,
  },
  {
    title: 'a whole answer that is some other JSON is unreadable',
    behaviour: raw(200, 'application/json', '[1]'),
    words: /cannot be read/,
    tries: 5,
  },
  { title: 'an empty body is unreadable', behaviour: raw(200, 'text/event-stream', ''), words: /cannot be read|broke off/, tries: 5 },
  { title: 'a 204 is unreadable', behaviour: raw(204, undefined, ''), words: /cannot be read|broke off|empty/, tries: 5 },
  { title: 'events that are no JSON are unreadable', behaviour: events('data: {nonsense\n\n'), words: /cannot be read/, tries: 5 },
  {
    title: 'bytes that are no events are unreadable',
    behaviour: events(Buffer.alloc(10_000, 0xfe)),
    words: /cannot be read|broke off/,
    tries: 5,
  },
  {
    title: 'an answer of an unknown content type is unreadable',
    behaviour: raw(200, 'image/png', 'PNG'),
    words: /cannot be read|broke off/,
    tries: 5,
  },
  { title: 'events of another shape are unreadable', behaviour: sse({ choices: 'many' }, 7, null), words: /cannot be read/, tries: 5 },
  {
    title: 'a tool call that never gets a name is unreadable',
    behaviour: sse({
      choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }, finish_reason: 'tool_calls' }],
    }),
    words: /cannot be read|broke off/,
    tries: 5,
  },
  { title: 'a stream cut in the middle is tried again', behaviour: cutAfter('The first'), words: /connection.*failed|broke off/, tries: 5 },
  {
    title: 'a stream that ends without a finish is tried again',
    behaviour: endAfter('The first'),
    words: /cannot be read|broke off/,
    tries: 5,
  },
  { title: 'a dropped connection is tried again', behaviour: dropConnection(), words: /connection.*failed/, tries: 5 },
  { title: 'huge headers are refused', behaviour: hugeHeaders(), words: /connection.*failed \(UND_ERR_HEADERS_OVERFLOW\)/, tries: 5 },
  {
    title: 'an endpoint that never begins is left',
    behaviour: silence(),
    words: /did not begin to answer/,
    tries: 5,
    options: { firstByteTimeoutMs: 500 },
  },
  {
    title: 'an endpoint that falls silent is left',
    behaviour: silenceAfter('Well'),
    words: /fell silent/,
    tries: 5,
    options: { idleTimeoutMs: 40 },
  },
  { title: 'an answer without end is cut, and not asked for again', behaviour: endless(), words: /without end/, tries: 1 },
  { title: 'events without end that say nothing are cut', behaviour: endless(': still there\n\n'), words: /without end/, tries: 1 },
  { title: 'a line without end is cut', behaviour: endless('x'.repeat(1_000)), words: /without end/, tries: 1 },
  { title: 'an error page without end is left', behaviour: endlessPage(502), words: /failed \(502\)/, tries: 5 },
  {
    title: 'a compressed bomb is cut at its unpacked size',
    behaviour: raw(200, 'text/event-stream', gzipSync(Buffer.alloc(80_000_000, 'x')), { 'content-encoding': 'gzip' }),
    words: /without end/,
    tries: 1,
  },
  {
    title: 'arguments without end are cut',
    behaviour: endless(deltaEvent('m', { tool_calls: [{ index: 0, id: 'a', function: { name: 'finish', arguments: 'x'.repeat(500) } }] })),
    words: /without end|cannot be read/,
    tries: 1,
  },
  {
    title: 'an empty answer is asked for once more, then it is an error',
    behaviour: text(''),
    words: /empty answer.*tried 2 times/,
    tries: 2,
  },
  { title: 'an answer of blanks counts as empty', behaviour: text(' \n '), words: /empty answer/, tries: 2 },
  { title: 'reasoning without an answer counts as empty', behaviour: say({ reasoning: 'hmm' }), words: /empty answer/, tries: 2 },
  {
    title: 'a limit used up without an answer is said',
    behaviour: say({ reasoning: 'hmm', finishReason: 'length' }),
    words: /used up its limit of 1000 tokens/,
    tries: 1,
  },
  {
    title: 'a content filter is a refusal',
    behaviour: text('I', { finishReason: 'content_filter' }),
    words: /refused to answer/,
    tries: 1,
  },
  { title: 'a spoken refusal is a refusal', behaviour: say({ refusal: 'I cannot help with that.' }), words: /refused to answer/, tries: 1 },
  {
    title: 'JSON that was cut at the limit is an error',
    behaviour: text('{"x": 1', { finishReason: 'length' }),
    words: /cut at its limit/,
    tries: 1,
    request: { outputSchema: schema },
  },
  {
    title: 'an error inside a stream is tried again',
    behaviour: sse({ error: { message: 'The server had an error', type: 'server_error' } }),
    words: /failed \(500\)/,
    tries: 5,
  },
  {
    title: 'a final error inside a stream is not tried again',
    behaviour: sse({ error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } }),
    words: /longer than the model can read/,
    tries: 1,
  },
  {
    title: 'a nonsense model name is refused unsent',
    behaviour: text('hi'),
    words: /model that cannot be one/,
    tries: 0,
    request: { model: 'm'.repeat(999) },
  },
];

for (const { title, behaviour, words, tries, request, options } of cases) {
  test(title, async (t) => {
    const server = await served(t, () => behaviour);
    const rig = rigAt(server.url, options);
    const error = await rejection(rig.turn(request));
    assert.ok(error instanceof AppError, inspect(error));
    assert.equal(error.code, 'unavailable');
    assert.match(error.message, words);
    assert.equal(server.requests.length, tries);
    assert.equal(rig.waits.length, Math.max(0, tries - 1));
    assertNoKey(rig, error);
  });
}

test('a closed port is reported as a failed connection', async () => {
  const server = await openAiServer(() => text('hi'));
  await server.close();
  const rig = rigAt(server.url);
  const error = await rejection(rig.turn());
  assert.match((error as Error).message, /connection to the model endpoint failed \(ECONNREFUSED\)\. \(tried 5 times\)/);
  assertNoKey(rig, error);
});

test('a server that does not speak HTTP is reported as a failed connection', async () => {
  const server = createSocketServer((socket) => socket.on('error', () => {}).end('220 mail.example.com ESMTP\r\n')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const error = await rejection(rigAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`).turn());
    assert.match((error as Error).message, /connection to the model endpoint failed/);
  } finally {
    server.close();
  }
});

test('a key that is invalid in a header is not printed', async (t) => {
  const server = await served(t, () => text('hi'));
  const { log, logged } = noteLog();
  const key = 'secret\nwith-a-line-break';
  const model = createModel({ modelBaseUrl: server.url, modelApiKey: key }, { log, offline: () => assert.fail() });
  const error = await rejection(model.turn(aRequest, someOptions()));
  assert.match((error as Error).message, /could not be made.*MODEL_API_KEY/);
  assert.doesNotMatch(inspect(error, { depth: 20 }) + logged.join(), /with-a-line-break/);
});

test('an answer that arrives too slowly is ended by the time limit of the turn', async (t) => {
  // Content keeps a try alive, not the turn.
  for (const behaviour of [drip(deltaEvent('m', { content: '.' })), ...signsOfLife.map(([, one]) => one)]) {
    const server = await served(t, () => behaviour);
    const error = await rejection(rigAt(server.url, { turnTimeoutMs: 200 }).turn());
    assert.match((error as Error).message, /did not answer within 1 s/);
    for (const request of server.requests) assert.equal(await request.closed, true);
  }
});

test('an answer with content all the time may take longer than the longest time without content', async (t) => {
  const slowly =
    (content: string, type: string): Behaviour =>
    async (response) => {
      response.writeHead(200, { 'content-type': type });
      for (const piece of content.match(/[\s\S]{1,120}/g)!) {
        response.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      response.end();
    };
  const message = { role: 'assistant', content: 'well '.repeat(200) };
  const document = JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] });
  const server = await served(t, () => slowly(document, 'application/json'));
  assert.equal((await rigAt(server.url, { contentTimeoutMs: 100 }).turn()).text, message.content);
  const streamed = Array.from({ length: 8 }, () => deltaEvent('m', { content: 'well '.repeat(6) })).join('');
  const end = `${event({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`;
  const streaming = await served(t, () => slowly(streamed + end, 'text/event-stream'));
  assert.equal((await rigAt(streaming.url, { contentTimeoutMs: 200 }).turn()).text, 'well '.repeat(48));
});

test('the time limit of the turn also ends a wait between tries', async (t) => {
  const server = await served(t, () => failure(503));
  const never = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const error = await rejection(rigAt(server.url, { turnTimeoutMs: 100, sleep: never }).turn());
  assert.match((error as Error).message, /did not answer within/);
  assert.ok(server.requests.length <= 1);
});

test('a broken stream is requested again with the same idempotency key, and the second answer counts', async (t) => {
  const server = await served(t, inOrder(cutAfter('The first'), dropConnection(), failure(502), text('All is well.')));
  const rig = rigAt(server.url);
  const reply = await rig.turn({}, { idempotencyKey: 'eff_42' });
  assert.equal(reply.text, 'All is well.');
  assert.deepEqual(rig.waits, [250, 500, 1000]);
  assert.deepEqual(
    server.requests.map(({ headers }) => headers['idempotency-key']),
    ['eff_42', 'eff_42', 'eff_42', 'eff_42'],
  );
});

test('the estimated cost of a broken try is part of the cost of the turn', async (t) => {
  const server = await served(t, inOrder(cutAfter('x'.repeat(400)), text('All is well.')));
  const reply = await rigAt(server.url).turn();
  assert.ok(reply.inputTokens > 100, 'the prompt was read twice');
  assert.equal(reply.outputTokens, 20 + 100);
});

test('after an empty answer the next valid one is used', async (t) => {
  const server = await served(t, inOrder(text(''), text('Now I know.')));
  assert.equal((await rigAt(server.url).turn()).text, 'Now I know.');
});

test('Retry-After is waited for, up to a minute', async (t) => {
  const later = (value: string) => failure(429, 'slow down', { headers: { 'retry-after': value } });
  const server = await served(t, inOrder(later('7'), later('3600'), later('soon'), text('hi')));
  const rig = rigAt(server.url);
  await rig.turn();
  assert.deepEqual(rig.waits, [7_250, 60_500, 1_000]);
});

test('a Retry-After that is a date is counted from the clock', async (t) => {
  const nowMs = Date.parse('2026-11-20T09:30:00Z');
  const later = failure(503, 'restarting', { headers: { 'retry-after': 'Fri, 20 Nov 2026 09:30:20 GMT' } });
  const server = await served(t, inOrder(later, text('hi')));
  const rig = rigAt(server.url, { clock: { nowMs: () => nowMs } });
  await rig.turn();
  assert.deepEqual(rig.waits, [20_250]);
});

test('the last Retry-After is passed on when a turn fails', async (t) => {
  const server = await served(t, () => failure(429, 'slow down', { headers: { 'retry-after': '9' } }));
  assert.equal(((await rejection(rigAt(server.url).turn())) as AppError).retryAfterS, 9);
});

test('an answer that is not streamed is read although a stream was requested', async (t) => {
  const saying = { text: 'In one piece.', calls: [{ id: 'c1', name: 'read_file', arguments: { path: 'a.csv' } }] };
  const server = await served(t, () => wholeAlthoughStreamed(saying));
  const reply = await rigAt(server.url).turn();
  assert.equal(reply.text, 'In one piece.');
  assert.deepEqual(reply.toolCalls, [{ id: 'c1', name: 'read_file', arguments: { path: 'a.csv' } }]);
  assert.deepEqual([reply.inputTokens, reply.outputTokens], [100, 20]);
});

const tools = [{ name: 'read_file', description: 'Reads', parameters: { type: 'object', properties: { path: { type: 'string' } } } }];

for (const offered of [tools, []]) {
  test(`arguments that are not JSON are returned as the raw string (${offered.length} tools offered)`, async (t) => {
    const server = await served(t, () =>
      callTools({ id: 'a', name: 'read_file', arguments: '{"path": "a.c' }, { id: 'b', name: 'read_file', arguments: '' }),
    );
    const reply = await rigAt(server.url).turn({ tools: offered });
    assert.deepEqual(reply.toolCalls, [
      { id: 'a', name: 'read_file', arguments: '{"path": "a.c' },
      { id: 'b', name: 'read_file', arguments: {} },
    ]);
  });

  test(`a call of a tool that was not offered is passed on (${offered.length} tools offered)`, async (t) => {
    const server = await served(t, () =>
      callTools({ id: 'a', name: '__proto__', arguments: { x: 1 } }, { id: 'b', name: 'rm', arguments: 'no' }),
    );
    const reply = await rigAt(server.url).turn({ tools: offered });
    assert.deepEqual(reply.toolCalls, [
      { id: 'a', name: '__proto__', arguments: { x: 1 } },
      { id: 'b', name: 'rm', arguments: 'no' },
    ]);
  });
}

test('arguments that try to reach a prototype stay a string', async (t) => {
  const server = await served(t, () => callTools({ id: 'a', name: 'read_file', arguments: '{"__proto__": {"path": "x"}}' }));
  const [call] = (await rigAt(server.url).turn({ tools })).toolCalls;
  assert.equal(call!.arguments, '{"__proto__": {"path": "x"}}');
});

test('missing, repeated, used and invalid ids are replaced by valid ones', async (t) => {
  const call = (id: string) => ({ id, name: 'read_file', arguments: { id } });
  const server = await served(t, () => callTools(call('same'), call('same'), call(''), call('used'), call('no good! '.repeat(50))));
  const messages: ModelRequest['messages'] = [
    { role: 'user', text: 'Go' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'used', name: 'read_file', arguments: {} }] },
    { role: 'tool', callId: 'used', name: 'read_file', result: 'ok', isError: false },
  ];
  const rig = rigAt(server.url);
  const first = (await rig.turn({ tools, messages })).toolCalls;
  assert.deepEqual(
    first.map(({ arguments: args }) => (args as { id: string }).id.slice(0, 4)),
    ['same', 'same', '', 'used', 'no g'],
  );
  assert.equal(new Set([...first.map(({ id }) => id), 'used']).size, 6);
  for (const { id } of first) assert.match(id, /^[\w-]{1,64}$/);
});

test('text that was cut at the limit is marked', async (t) => {
  const server = await served(t, () => text('The figures are', { finishReason: 'length' }));
  const pieces: string[] = [];
  const reply = await rigAt(server.url).turn({}, { onText: (piece) => pieces.push(piece) });
  assert.match(reply.text, /^The figures are\n\n\[The answer was cut here: it reached the limit of 1000 tokens\.\]$/);
  assert.equal(pieces.join(''), reply.text);
});

test('missing or implausible usage is replaced by an estimate', async (t) => {
  const odd = { prompt_tokens: 1e300, completion_tokens: -5 };
  const server = await served(t, inOrder(text('x'.repeat(40), { usage: null }), text('x'.repeat(40), { usage: odd })));
  const rig = rigAt(server.url);
  for (const reply of [await rig.turn(), await rig.turn()]) {
    assert.equal(reply.outputTokens, 10);
    assert.ok(reply.inputTokens > 10 && reply.inputTokens < 100);
  }
});

test('JSON in a code fence or after reasoning is extracted if JSON was requested', async (t) => {
  const server = await served(t, inOrder(text('```json\n{"x": 1}\n```'), text('<think>Let me see {}</think>\n{"x": 2}'), text('no JSON')));
  const rig = rigAt(server.url);
  const ask = async () => (await rig.turn({ outputSchema: schema })).text;
  assert.deepEqual([await ask(), await ask(), await ask()], ['{"x": 1}', '{"x": 2}', 'no JSON']);
});

test('a 404 of the server is reported with a hint about its path', async () => {
  const server = createServer((_, response) => response.writeHead(404).end('nothing here')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const error = await rejection(rigAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).turn());
    assert.match((error as Error).message, /often ends in \/v1/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

function endlessPage(status: number): Behaviour {
  return async (response) => {
    response.writeHead(status, { 'content-type': 'text/plain' });
    while (!response.destroyed) {
      response.write('x'.repeat(10_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

async function rejection(turn: Promise<unknown>): Promise<unknown> {
  return turn.then(
    (reply) => assert.fail(`answered ${inspect(reply)}`),
    (error: unknown) => error,
  );
}

function assertNoKey(rig: Rig, error: unknown): void {
  assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes(apiKey));
  assert.ok(!rig.logged.join('\n').includes(apiKey));
}

test('arguments nested a thousand levels deep are refused with the reason and cause no overflow', async (t) => {
  const deep = `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;
  const server = await served(t, () => callTools({ id: 'a', name: 'write_file', arguments: deep }));
  const reply = await rigAt(server.url).turn({}, {});
  assert.match(String(reply.toolCalls[0]!.arguments), /nested more than 100 levels/);
});
