/** A connection to an MCP server, by the client library, which is loaded with the first connection. */
import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client';
import { systemClock } from '../../../../clock.ts';
import { AppError } from '../../../../errors.ts';
import type { Outbound } from '../../../../providers/outbound/port.ts';
import { retryAfterMs } from '../../../../retry-after.ts';
import { SecretMask } from '../../../../secret-mask.ts';
import { type McpClientPackage, mcpClientPackage } from '../../mcp-packages.ts';
import { type FoundTool, hashOf } from '../pins.ts';
import { type Challenge, McpFailed, type McpFailure } from './failure.ts';
import { brokenStream, guardedFetch } from './guarded-fetch.ts';
import { Reconnections } from './reconnections.ts';
import type { SchemaCheck } from './schema-check.ts';
import { secretsSent } from './secrets-sent.ts';

export const mcpLimits = {
  connectMs: 10_000,
  callMs: 60_000,
  answerBytes: 2 ** 20,
  /** Of one list; its pages are read within `connectMs`. */
  tools: 500,
  listPages: 20,
  listChars: 2 ** 20,
} as const;
/** How long an answer may continue to arrive after its call has ended. */
const lateMs = 5_000;

export type SessionOptions = {
  url: string;
  /** Sent with each request: secret. */
  headers: Readonly<Record<string, string>>;
  /** Further secrets that the server could know, such as a refresh token. */
  otherSecrets?: readonly string[];
  accountId: string;
  outbound: Outbound;
  check: SchemaCheck;
  /** The server says that its list has changed. */
  toolsChanged?(): void;
  limits?: { connectMs: number; callMs: number };
};

/** The server's question to a person during a call. */
export type Question = { message: string; schema: Record<string, unknown> };
export type QuestionAnswer = { action: 'accept'; content: Record<string, string | number | boolean | string[]> } | { action: 'cancel' };

export type CallRequest = {
  tool: Pick<FoundTool, 'name' | 'inputSchema' | 'outputSchema'>;
  args: Record<string, unknown>;
  signal: AbortSignal;
  answer(question: Question): QuestionAnswer;
};

export interface McpSession {
  /** Throws `McpFailed`. */
  tools(signal?: AbortSignal): Promise<FoundTool[]>;
  /** The result as JSON for a model. Throws `McpFailed`. */
  call(request: CallRequest): Promise<{ content: unknown; isError: boolean }>;
  /** Running calls are completed first. */
  close(): Promise<void>;
}

/** Connects with the newest protocol that the server supports. Throws `McpFailed`. */
export async function openSession(options: SessionOptions): Promise<McpSession> {
  const { url, headers, otherSecrets = [], accountId, outbound, check, toolsChanged } = options;
  const { connectMs, callMs } = options.limits ?? mcpLimits;
  const library = await mcpClientPackage();
  const seen: Seen = { challenge: null, status: 0, retryAfter: null };
  const callers = new Map<AbortSignal, CallRequest['answer']>();
  const running = new Set<Promise<unknown>>();
  const reconnections = new Reconnections();
  const secrets = [...secretsSent(url, headers), ...otherSecrets];
  const mask = new SecretMask(secrets);
  // Of an error no part is needed: there also what only may be a secret is masked.
  const errorMask = new SecretMask([...secrets, ...Object.values(headers)]);

  const client = new library.Client(
    { name: 'troupe', version: '0.1.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: 'auto' },
      listMaxPages: mcpLimits.listPages,
      inputRequired: { maxRounds: 4 },
      // The library checks on the event loop; results are checked below.
      jsonSchemaValidator: { getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) as never },
      ...(toolsChanged && { listChanged: { tools: { autoRefresh: false, onChanged: () => toolsChanged() } } }),
    },
  );
  // Questions name no call: while several are open, none is answered for another.
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const [only] = callers.size === 1 ? [...callers.values()] : [];
    // An answer is made of the schema: one with a secret cannot be shown, and masked it would be another.
    if (only === undefined || !('requestedSchema' in params) || mask.isIn(params.requestedSchema)) return { action: 'cancel' as const };
    return only({ message: mask.text(params.message), schema: params.requestedSchema as Record<string, unknown> });
  });
  const transport = new library.StreamableHTTPClientTransport(new URL(url), {
    fetch: guardedFetch({
      outbound,
      accountId,
      timeoutMs: callMs,
      wholeMs: callMs + Math.min(callMs, lateMs),
      maxBytes: mcpLimits.answerBytes,
      isMcp: true,
      answered: (status, answer) => note(seen, status, answer, library.extractWWWAuthenticateParams),
    }),
    requestInit: { headers: { ...headers } },
    onInsufficientScope: 'throw',
    reconnectionScheduler: reconnections.schedule,
  });

  const failed = (error: unknown, sent: boolean): McpFailed => {
    if (error instanceof McpFailed) return error;
    const { failure, message } = failureOf(error, seen, sent, library, callMs);
    // Of the causes only an error of this service is kept: others contain what the server has sent.
    const cause = causes(error).find((one) => one instanceof AppError);
    return new McpFailed(withoutSecrets(failure, errorMask), errorMask.text(message), { cause });
  };
  try {
    await client.connect(transport, { timeout: connectMs, maxTotalTimeout: connectMs });
  } catch (error) {
    reconnections.close();
    await client.close().catch(() => {});
    throw failed(error, false);
  }

  return {
    async tools(signal) {
      const deadline = new AbortController();
      const late = setTimeout(() => deadline.abort(), connectMs);
      try {
        const { tools } = await client.listTools(undefined, {
          cacheMode: 'refresh',
          timeout: connectMs,
          maxTotalTimeout: connectMs,
          signal: signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]),
        });
        return foundTools(tools, mask);
      } catch (error) {
        throw failed(error, false);
      } finally {
        clearTimeout(late);
      }
    },
    async call({ tool, args, signal, answer }) {
      const caller = { account: accountId, signal };
      const problem = await check(tool.inputSchema, args, caller);
      if (problem !== null) throw new McpFailed({ type: 'invalid' }, `Wrong arguments for ${tool.name}: ${problem}`);
      callers.set(signal, answer);
      try {
        const toolDefinition = {
          name: tool.name,
          inputSchema: tool.inputSchema,
          ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
        };
        const calling = client.callTool(
          { name: tool.name, arguments: args },
          { timeout: callMs, maxTotalTimeout: callMs, signal, toolDefinition: toolDefinition as ListedTool },
        );
        running.add(calling);
        const result = await calling.finally(() => running.delete(calling));
        if (tool.outputSchema !== null && result.structuredContent !== undefined && result.isError !== true) {
          const wrong = await check(tool.outputSchema, result.structuredContent, caller);
          // It is cut: a secret in it could not be found any more.
          const what = wrong !== null && mask.isIn(result.structuredContent) ? 'one of its values' : wrong;
          if (what !== null) throw new McpFailed({ type: 'invalid' }, `The result of ${tool.name} is not what its schema says: ${what}`);
        }
        return { content: mask.json(shown(result)), isError: result.isError === true };
      } catch (error) {
        signal.throwIfAborted();
        throw failed(error, true);
      } finally {
        callers.delete(signal);
      }
    },
    async close() {
      await Promise.allSettled(running);
      reconnections.close();
      await Promise.race([transport.terminateSession().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
      await client.close().catch(() => {});
    },
  };
}

/** The details of the last refusal that the library does not return. */
type Seen = { challenge: Challenge | null; status: number; retryAfter: string | null };

function note(
  seen: Seen,
  status: number,
  headers: Readonly<Record<string, string>>,
  read: McpClientPackage['extractWWWAuthenticateParams'],
): void {
  if (status < 400) return;
  seen.status = status;
  seen.retryAfter = headers['retry-after'] ?? null;
  if (status !== 401) return;
  const { resourceMetadataUrl, scope } = read(
    new Response(null, { status, headers: { 'www-authenticate': headers['www-authenticate'] ?? '' } }),
  );
  seen.challenge = { resourceMetadataUrl: resourceMetadataUrl?.href ?? null, scope: scope ?? null };
}

type Failure = { failure: McpFailure; message: string };

/** @param sent whether the request may have been carried out */
function failureOf(error: unknown, seen: Seen, sent: boolean, library: McpClientPackage, callMs: number): Failure {
  const chain = causes(error);
  const http = chain.find((one) => library.SdkHttpError.isInstance(one));
  const status =
    http !== undefined
      ? (http as { status?: number }).status
      : chain.some((one) => library.UnauthorizedError.isInstance(one))
        ? 401
        : undefined;
  if (status === 401) {
    const challenge = seen.challenge ?? { resourceMetadataUrl: null, scope: null };
    return { failure: { type: 'unauthorized', challenge }, message: 'The server does not take the credentials' };
  }
  const lacking = chain.find((one) => library.InsufficientScopeError.isInstance(one));
  if (status === 403 || lacking !== undefined) {
    const { requiredScope = '' } = (lacking ?? {}) as { requiredScope?: string };
    const scope = scopeForm.test(requiredScope) ? requiredScope : null;
    return { failure: { type: 'forbidden', scope }, message: 'The server does not allow this with the credentials it was given' };
  }
  if (status === 429) {
    const afterMs = retryAfterMs(seen.retryAfter ?? undefined, systemClock.nowMs());
    return { failure: { type: 'rate_limited', retryAfterMs: afterMs }, message: 'The server takes no more calls now' };
  }
  const unavailable = (message: string, isSent = sent): Failure => ({ failure: { type: 'unavailable', sent: isSent }, message });
  if (status !== undefined) return unavailable(`The server answers with status ${status}`, sent && status >= 500);
  const refused = chain.find((one) => one instanceof AppError);
  if (refused !== undefined) return unavailable((refused as AppError).message);
  const answered = chain.find((one) => library.ProtocolError.isInstance(one));
  if (answered !== undefined) return protocolFailure(answered as { code: number; message: string }, sent);
  const code = chain.map((one) => (library.SdkError.isInstance(one) ? one.code : null)).find((one) => one !== null);
  if (code === library.SdkErrorCode.RequestTimeout)
    return unavailable(`The server did not answer within ${(sent ? callMs : mcpLimits.connectMs) / 1000} s`);
  if (
    code === library.SdkErrorCode.ConnectionClosed ||
    code === library.SdkErrorCode.SendFailed ||
    code === library.SdkErrorCode.NotConnected
  )
    return unavailable('The connection to the server was lost');
  return { failure: { type: 'invalid' }, message: 'The server answered something that is no valid MCP' };
}

function protocolFailure({ code, message }: { code: number; message: string }, sent: boolean): Failure {
  if (code === brokenStream) return { failure: { type: 'unavailable', sent }, message };
  return { failure: { type: code === methodNotFound ? 'not_found' : 'invalid' }, message };
}

/** Scopes and addresses are used again: one with a secret is left out. */
function withoutSecrets(failure: McpFailure, mask: SecretMask): McpFailure {
  const clean = (text: string | null) => (mask.isIn(text) ? null : text);
  if (failure.type === 'forbidden') return { ...failure, scope: clean(failure.scope) };
  if (failure.type !== 'unauthorized') return failure;
  const { resourceMetadataUrl, scope } = failure.challenge;
  return { ...failure, challenge: { resourceMetadataUrl: clean(resourceMetadataUrl), scope: clean(scope) } };
}
const methodNotFound = -32_601;
/** Scopes as in RFC 6749, separated by spaces: anything else is not forwarded. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+){0,49}$/;

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let at = error; at !== undefined && at !== null && found.length < 8; at = (at as { cause?: unknown }).cause) found.push(at);
  return found;
}

/** Counted tool by tool, so that a long list is not written out whole. */
function isLongerThan(tools: readonly FoundTool[], maxChars: number): boolean {
  let left = maxChars;
  for (const tool of tools) if ((left -= JSON.stringify(tool).length) < 0) return true;
  return false;
}

function foundTools(listed: Awaited<ReturnType<Client['listTools']>>['tools'], mask: SecretMask): FoundTool[] {
  const refuse = (why: string) => new McpFailed({ type: 'invalid' }, why);
  if (listed.length > mcpLimits.tools) throw refuse(`The server has more than ${mcpLimits.tools} tools`);
  const found = listed.map(foundTool);
  if (isLongerThan(found, mcpLimits.listChars)) throw refuse(`The tools of the server have more than ${mcpLimits.listChars} characters`);
  // Names and schemas are sent back in calls, so they cannot be masked.
  const repeating = found.find(({ name, inputSchema, outputSchema }) => mask.isIn([name, inputSchema, outputSchema]));
  if (repeating !== undefined)
    throw refuse(
      `The name or a schema of the tool "${mask.text(repeating.name)}" contains a credential that is sent to the server. If that is by chance, use another credential`,
    );
  return found.map((tool) => ({ ...tool, description: mask.text(tool.description), hash: hashOf(tool) }));
}

function foundTool({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Awaited<ReturnType<Client['listTools']>>['tools'][number]): FoundTool {
  return {
    name,
    description: description ?? '',
    inputSchema: inputSchema as Record<string, unknown>,
    outputSchema: (outputSchema as Record<string, unknown> | undefined) ?? null,
    readOnly: annotations?.readOnlyHint === true,
  };
}

/** The part of a result that a model can read: structured content if there is any, else text; other media are named. */
function shown(result: Awaited<ReturnType<Client['callTool']>>): unknown {
  if (result.structuredContent !== undefined && result.isError !== true) return result.structuredContent;
  const parts = result.content.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'image' || part.type === 'audio') return `[${part.type}, ${part.mimeType}]`;
    if (part.type === 'resource_link') return `[${part.name}: ${part.uri}]`;
    return 'text' in part.resource ? part.resource.text : `[${part.resource.uri}]`;
  });
  return parts.join('\n');
}
