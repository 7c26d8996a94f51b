/**
 * A real HTTP server on 127.0.0.1 with OpenAI's chat completions, streamed and not, controlled by a script, with every fault of an
 * endpoint. A script gets each request and its number and returns the behaviour. Concurrent requests are supported.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ChatMessage = {
  role: string;
  content: string | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};
export type JsonSchema = { type?: string; properties?: Record<string, JsonSchema>; [key: string]: unknown };
export type ChatBody = {
  model: string;
  messages: ChatMessage[];
  tools?: { type: string; function: { name: string; description?: string; parameters: JsonSchema } }[];
  response_format?: { type: string; json_schema?: { name: string; strict: boolean; schema: JsonSchema } };
  stream?: boolean;
  [key: string]: unknown;
};
export type ChatRequest = {
  /** 1 for the first request of this server. */
  n: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: ChatBody;
  /** Resolves when the exchange is over: true when the client went away before the answer's end. */
  closed: Promise<boolean>;
};

/** How one request is answered. Throwing answers 500 with the error's message. */
export type Behaviour = (response: ServerResponse, request: ChatRequest) => void | Promise<void>;
export type Script = (request: ChatRequest, n: number) => Behaviour | Promise<Behaviour>;

export type OpenAiServer = {
  /** For MODEL_BASE_URL. */
  url: string;
  requests: ChatRequest[];
  /** Resolves with request number `n` (from 1) as soon as it has been read. */
  request(n: number): Promise<ChatRequest>;
  close(): Promise<void>;
};

const maxBodyBytes = 32 * 1024 * 1024;

export async function openAiServer(script: Script): Promise<OpenAiServer> {
  const requests: ChatRequest[] = [];
  const waiting = new Map<number, ((request: ChatRequest) => void)[]>();
  const server = createServer(async (incoming, response) => {
    response.on('error', () => {});
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<boolean>();
    response.once('close', () => onClosed(!response.writableFinished));
    try {
      const body = await readJson(incoming);
      const request: ChatRequest = { n: requests.length + 1, path: incoming.url ?? '', headers: incoming.headers, body, closed };
      requests.push(request);
      for (const resolve of waiting.get(request.n) ?? []) resolve(request);
      waiting.delete(request.n);
      if (incoming.method !== 'POST' || !request.path.endsWith('/chat/completions'))
        return sendJson(response, 404, failureBody('Unknown path', 'not_found'));
      await (await script(request, request.n))(response, request);
    } catch (error) {
      if (!response.headersSent && !response.destroyed) sendJson(response, 500, failureBody(`script failed: ${error}`, 'server_error'));
      else response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    request: (n) =>
      n <= requests.length
        ? Promise.resolve(requests[n - 1]!)
        : new Promise((resolve) => waiting.set(n, [...(waiting.get(n) ?? []), resolve])),
    close,
  };
}

/** The behaviours one after the other; the last one is used for every further request. */
export function inOrder(...behaviours: Behaviour[]): Script {
  return (_request, n) => behaviours[Math.min(n, behaviours.length) - 1]!;
}

/** A whole task: the plan is `pieces`, and every agent takes `turns` in order, counted by what it has said so far, and then finishes. */
export function agentScript(pieces: object[], ...turns: Behaviour[]): Script {
  return ({ body }) => {
    if (body.response_format) return plan(pieces);
    const made = body.messages.filter((message) => message.role === 'assistant').length;
    return turns[made] ?? finish('Done.');
  };
}

// ---- what a model says

export type Saying = {
  text?: string;
  calls?: { id?: string; name?: string; arguments: unknown }[];
  reasoning?: string;
  refusal?: string;
  finishReason?: string;
  /** null: the answer reports none. */
  usage?: { prompt_tokens: number; completion_tokens: number; [key: string]: unknown } | null;
  /** null: the answer names no model. */
  model?: string | null;
};

/** An answer in the protocol's form, streamed in small pieces if the request asks for a stream. String arguments are sent unchanged. */
export function say(saying: Saying): Behaviour {
  return (response, { body }) => {
    if (!body.stream) return sendJson(response, 200, wholeAnswer(saying, body.model));
    beginStream(response);
    for (const event of eventsOf(saying, body.model)) response.write(event);
    response.end('data: [DONE]\n\n');
  };
}

export const text = (words: string, more: Saying = {}): Behaviour => say({ ...more, text: words });
export const json = (value: unknown, more: Saying = {}): Behaviour => text(JSON.stringify(value), more);
export const callTools = (...calls: NonNullable<Saying['calls']>): Behaviour => say({ calls });
export const callTool = (name: string, args: unknown): Behaviour => callTools({ name, arguments: args });
export const finish = (summary: string): Behaviour => callTool('finish', { summary });

/** A plan of these pieces, in the list of the requested schema. */
export function plan(pieces: object[]): Behaviour {
  return (response, request) => {
    const properties = request.body.response_format?.json_schema?.schema.properties ?? {};
    const list = Object.keys(properties).find((name) => properties[name]!.type === 'array') ?? 'agents';
    return json({ [list]: pieces })(response, request);
  };
}

/** The answer in one JSON document although a stream was requested. */
export function wholeAlthoughStreamed(saying: Saying): Behaviour {
  return (response, { body }) => sendJson(response, 200, wholeAnswer(saying, body.model));
}

// ---- what goes wrong

export function failure(
  status: number,
  message = 'It did not work',
  more: { code?: string; headers?: Record<string, string> } = {},
): Behaviour {
  return (response) => sendJson(response, status, failureBody(message, more.code), more.headers);
}

/** Any bytes under any status and type. */
export function raw(
  status: number,
  contentType: string | undefined,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Behaviour {
  return (response) => {
    response.writeHead(status, { ...(contentType === undefined ? {} : { 'content-type': contentType }), ...headers });
    response.end(body);
  };
}

export const htmlPage = (status = 200): Behaviour =>
  raw(status, 'text/html; charset=utf-8', '<html><body><h1>It works!</h1></body></html>');
export const redirect = (to: string): Behaviour => raw(307, undefined, '', { location: to });
export const events = (body: string | Uint8Array): Behaviour => raw(200, 'text/event-stream', body);
export const hugeHeaders = (): Behaviour => raw(200, 'text/event-stream', '', { 'x-huge': 'h'.repeat(200_000) });

/** The connection ends before a word was said. */
export const dropConnection = (): Behaviour => (response) => void response.socket?.destroy();

/** Nothing at all, until the client goes away. */
export const silence = (): Behaviour => async (_response, request) => void (await request.closed);

/** Some words, then nothing more while the connection stays open. */
export function silenceAfter(words: string): Behaviour {
  return async (response, request) => {
    beginStream(response);
    response.write(deltaEvent(request.body.model, { content: words }));
    await request.closed;
  };
}

/** Some words, then the connection breaks. */
export function cutAfter(words: string): Behaviour {
  return (response, { body }) => {
    beginStream(response);
    response.write(deltaEvent(body.model, { content: words }), () => response.destroy());
  };
}

/** Some words, then a clean end with neither a finish reason nor `[DONE]`. */
export function endAfter(words: string): Behaviour {
  return (response, { body }) => {
    beginStream(response);
    response.end(deltaEvent(body.model, { content: words }));
  };
}

/** Never stops sending: by default words, else any bytes. As fast as the client reads, no faster. */
export function endless(piece?: string): Behaviour {
  return async (response, { body }) => {
    beginStream(response);
    const bytes = Buffer.from((piece ?? deltaEvent(body.model, { content: 'and so on '.repeat(20) })).repeat(50));
    while (!response.destroyed) {
      if (response.write(bytes)) await new Promise((resolve) => setImmediate(resolve));
      else await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  };
}

// ---- the protocol

function eventsOf(saying: Saying, asked: string): string[] {
  const model = nameOf(saying, asked);
  const sent = [deltaEvent(model, { role: 'assistant', content: '' })];
  for (const piece of inPieces(saying.reasoning ?? '')) sent.push(deltaEvent(model, { reasoning_content: piece }));
  for (const piece of inPieces(saying.text ?? '')) sent.push(deltaEvent(model, { content: piece }));
  if (saying.refusal) sent.push(deltaEvent(model, { refusal: saying.refusal }));
  wireCalls(saying).forEach((call, index) => {
    const { name, arguments: args } = call.function;
    sent.push(deltaEvent(model, { tool_calls: [{ index, id: call.id, type: 'function', function: { name, arguments: '' } }] }));
    for (const piece of inPieces(args)) sent.push(deltaEvent(model, { tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  sent.push(event({ ...envelope(model), choices: [{ index: 0, delta: {}, finish_reason: finishReasonOf(saying) }] }));
  const usage = usageOf(saying);
  if (usage) sent.push(event({ ...envelope(model), choices: [], usage }));
  return sent;
}

function wholeAnswer(saying: Saying, asked: string): object {
  const calls = wireCalls(saying);
  const message = {
    role: 'assistant',
    content: saying.text ?? null,
    ...(saying.refusal ? { refusal: saying.refusal } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: finishReasonOf(saying) }];
  const usage = usageOf(saying);
  return { ...envelope(nameOf(saying, asked)), object: 'chat.completion', choices, ...(usage ? { usage } : {}) };
}

let callsMade = 0;

function wireCalls({ calls = [] }: Saying) {
  return calls.map(({ id = `call_${++callsMade}`, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
}

function finishReasonOf({ finishReason, calls }: Saying): string {
  return finishReason ?? (calls?.length ? 'tool_calls' : 'stop');
}

function usageOf({ usage }: Saying): object | undefined {
  if (usage === null) return undefined;
  return usage ?? { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
}

function nameOf({ model }: Saying, asked: string): string | undefined {
  return model === null ? undefined : (model ?? asked);
}

function envelope(model: string | undefined): object {
  return { id: 'chatcmpl-test', object: 'chat.completion.chunk', created: 1_750_000_000, model };
}

export function deltaEvent(model: string | undefined, delta: object): string {
  return event({ ...envelope(model), choices: [{ index: 0, delta, finish_reason: null }] });
}

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function inPieces(words: string): string[] {
  return words.match(/[\s\S]{1,12}/g) ?? [];
}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
}

function sendJson(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

function failureBody(message: string, code?: string): object {
  return { error: { message, type: code ?? 'invalid_request_error', param: null, code: code ?? null } };
}

async function readJson(incoming: AsyncIterable<Buffer>): Promise<ChatBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error('request body over 32 MiB');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatBody;
}
