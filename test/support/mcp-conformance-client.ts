/**
 * The client for the official conformance suite: it connects to the address in its last argument with the code of this service, and
 * grants the consent. Its output is for reading only.
 */
import { randomBytes } from 'node:crypto';
import type { FoundTool } from '../../src/domains/integrations/mcp-servers/pins.ts';
import {
  authorizeUrl,
  exchangeCode,
  type FoundAuthority,
  findAuthority,
} from '../../src/domains/integrations/mcp-servers/protocol/authority.ts';
import { McpFailed } from '../../src/domains/integrations/mcp-servers/protocol/failure.ts';
import { guardedFetch } from '../../src/domains/integrations/mcp-servers/protocol/guarded-fetch.ts';
import { schemaCheck } from '../../src/domains/integrations/mcp-servers/protocol/schema-check.ts';
import { type McpSession, openSession } from '../../src/domains/integrations/mcp-servers/protocol/session.ts';
import { Questions } from '../../src/domains/integrations/mcp-servers/questions.ts';
import { registeredClients } from '../../src/domains/integrations/mcp-servers/registered-clients.ts';
import { withScope } from '../../src/domains/integrations/mcp-servers/with-scope.ts';
import { pkcePair } from '../../src/domains/integrations/oauth/token-endpoint.ts';
import { inlineCompute } from '../../src/providers/compute/inline.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';

const url = process.argv.at(-1)!;
/** What the suite says beside the address: the calls that it waits for, and the client that an operator has registered. */
const {
  toolCalls = [],
  issuer,
  client_id: clientId,
  client_secret: clientSecret,
} = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
  issuer?: string;
  client_id?: string;
  client_secret?: string;
};
const outbound = createOutbound({ allow: ['127.0.0.0/8', '::1'] });
const fetchFn = guardedFetch({ outbound, accountId: 'acct_1', timeoutMs: 10_000, maxBytes: 2 ** 20 });
const client = {
  // The address that the suite knows as one of a client metadata document.
  documentUrl: 'https://conformance-test.local/client-metadata.json',
  callbackUrl: 'http://localhost:3000/callback',
  registered: registeredClients(issuer === undefined ? [] : [`${issuer}|${clientId}|${clientSecret}`]),
};

let headers: Record<string, string> = {};
let known: FoundAuthority | null = null;
for (let tries = 1; ; tries++) {
  try {
    await useServer();
    break;
  } catch (error) {
    if (!(error instanceof McpFailed) || tries > 3) throw error;
    known = await authorityFor(error, known);
    if (known === null) throw new Error('there is no way to get a token', { cause: error });
    headers = { authorization: `Bearer ${await consent(known)}` };
  }
}
await outbound.close();

/** Where a person consents: at first, and again where the server says that a scope is missing. */
async function authorityFor(error: McpFailed, known: FoundAuthority | null): Promise<FoundAuthority | null> {
  const { failure } = error;
  if (failure.type === 'unauthorized') return findAuthority(url, failure.challenge, client, fetchFn, known);
  if (failure.type !== 'forbidden' || failure.scope === null || known === null) throw error;
  return { ...known, authority: withScope(known.authority, failure.scope) };
}

async function useServer(): Promise<void> {
  const session = await openSession({ url, headers, accountId: 'acct_1', outbound, check: schemaCheck(inlineCompute) });
  try {
    const tools = await session.tools();
    console.log(tools.map(({ name }) => name).join(', '));
    for (const tool of tools) {
      const sampled = Object.fromEntries(
        Object.entries((tool.inputSchema.properties ?? {}) as Record<string, { type?: string }>).map(sample),
      );
      const wanted = toolCalls.filter(({ name }) => name === tool.name).map((one) => one.arguments);
      for (const args of wanted.length > 0 ? wanted : [sampled]) await use(tool, args, session);
    }
  } finally {
    await session.close();
  }
}

async function use(tool: FoundTool, args: Record<string, unknown>, session: McpSession): Promise<void> {
  const call = async (approved: unknown): Promise<unknown> => {
    const questions = new Questions(approved);
    const answer = questions.answer.bind(questions);
    const result = await session.call({ tool, args, signal: AbortSignal.timeout(20_000), answer });
    return questions.open.length > 0 && approved === null ? call(questions.preview('suite').basis) : result;
  };
  const result = await call(null).catch((error) => error);
  console.log(tool.name, result instanceof Error ? `${result}` : JSON.stringify(result));
  const failure = result instanceof McpFailed ? result.failure : null;
  if (failure?.type === 'unauthorized' || (failure?.type === 'forbidden' && failure.scope !== null)) throw result;
}

function sample([name, { type }]: [string, { type?: string }]): [string, unknown] {
  const values: Record<string, unknown> = { number: 2, integer: 2, boolean: true, array: [], object: {} };
  return [name, values[type ?? ''] ?? 'text'];
}

/** The suite's authorization server needs no person: it answers with the code at once. */
async function consent(of: FoundAuthority): Promise<string> {
  const { verifier, challenge } = await pkcePair();
  const state = randomBytes(8).toString('hex');
  const answer = await fetch(authorizeUrl(of.authority, { callbackUrl: client.callbackUrl, state, challenge }), { redirect: 'manual' });
  const back = new URL(answer.headers.get('location')!).searchParams;
  const tokens = await exchangeCode(
    of,
    { code: back.get('code')!, iss: back.get('iss'), verifier, callbackUrl: client.callbackUrl },
    fetchFn,
  );
  if (tokens.kind !== 'granted') throw new Error(`no token: ${JSON.stringify(tokens)}`);
  return tokens.access;
}
