/** Connecting an MCP server: it is tried with the given headers; if it requires a token, a consent of a person is needed. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { Mode } from '../../../mode.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { SecretMask } from '../../../secret-mask.ts';
import type { Database } from '../../../storage/database.ts';
import type { Authorizations } from '../authorization/authorizations.ts';
import type { AuthorizationRow } from '../authorization/entity.ts';
import { isAddressRefused, type McpConnections, type TriedServer } from './connections.ts';
import type { McpServerRow } from './entity.ts';
import { mcpServer, mcpServerIdOf } from './messages.ts';
import { authorizeUrl, exchangeCode, type FoundAuthority, findAuthority, type RegisteredClient } from './protocol/authority.ts';
import { type Challenge, McpFailed } from './protocol/failure.ts';
import { type Fetch, guardedFetch } from './protocol/guarded-fetch.ts';
import { secretsSent, withoutSecrets } from './protocol/secrets-sent.ts';
import type { McpSecretBox } from './secrets.ts';
import { namesInUse } from './tool-names.ts';
import { mayConsent } from './view.ts';

export type McpConnectParts = {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  database: Pick<Database, 'read'>;
  outbound: Outbound;
  authorizations: Authorizations;
  connections: McpConnections;
  box: McpSecretBox;
  callbackUrl(): string;
  /** Clients that the operator has registered at authorization servers. */
  registered(issuer: string): RegisteredClient | null;
  /** The address of our client metadata document. */
  documentUrl(): string;
  /** Of one request to an authorization server, to its last byte. Default 10 s. */
  discoveryMs?: number;
};

export type McpRequest = {
  accountId: string;
  mode: Mode;
  name: string;
  url: string;
  headers: Record<string, string>;
  redirectUri: string | null;
  commandId: string | undefined;
};

const defaultDiscoveryMs = 10_000;
/** For all requests that find an authorization server, as a fraction of the time of one. */
const allRequests = 2;

/** Throws `invalid` if the server refuses the headers or must not be reached, `upstream_failed` if it does not answer correctly. */
export async function connectMcpServer(parts: McpConnectParts, request: McpRequest): Promise<McpServerRow> {
  const { actors, database, connections, box } = parts;
  const { accountId, mode, name, url, headers, redirectUri, commandId } = request;
  const id = mcpServerIdOf(accountId, mode, name);
  const tried = await tryOut(connections, id, request);
  const wanted = 'challenge' in tried ? await authorityFor(parts, request, tried.challenge) : null;
  const secrets = { headers, url, access: null, refresh: null, clientSecret: wanted?.clientSecret ?? null };
  const input = {
    ...{ accountId, mode, name, url: withoutSecrets(url), redirectUri },
    headerNames: Object.keys(headers),
    secrets: box.seal(secrets, id),
    authority: wanted?.authority ?? null,
    found: 'session' in tried ? tried.found : null,
    namesInUse: await namesInUse(database, { id, accountId, mode, name, createdAt: null }),
    authorizeUrl: wanted === null ? null : await beginConsent(parts, { id, accountId, mode, redirectUri }, wanted, null),
  };
  try {
    const row = await actors.ask(mcpServer, id, 'create', input, { commandId });
    if ('session' in tried) connections.keep(row, tried.session);
    return row;
  } catch (error) {
    if ('session' in tried) void tried.session.close();
    throw error;
  }
}

/** The server with an address for consent that a person can use now. */
export async function withConsentUrl(parts: McpConnectParts, row: McpServerRow, nowMs: number): Promise<McpServerRow> {
  if (!mayConsent(row) || row.authority === null) return row;
  if (row.authorizeUntil !== null && row.authorizeUntil > nowMs) return row;
  const { clientSecret } = parts.box.open(row.secrets, row.id);
  const url = await beginConsent(parts, row, { authority: row.authority, clientSecret }, null);
  return parts.actors.ask(mcpServer, row.id, 'asked', { authorizeUrl: url });
}

/** The address at which this browser's person consents. Throws `conflict` if there is nothing to consent to. */
export function consentUrlFor(parts: McpConnectParts, row: McpServerRow, browser: string): Promise<string> {
  if (row.authority === null) throw new AppError('conflict', 'This MCP server is reached by its headers: connect it again with others');
  return beginConsent(parts, row, { authority: row.authority, clientSecret: null }, browser);
}

/** A person has consented: the code becomes tokens, and the server lists its tools. Resolves with what was connected, for people. */
export async function completeConsent(
  parts: McpConnectParts,
  { id: authorizationId, accountId, mode, target }: AuthorizationRow,
  { code, state, iss }: { code: string; state: string; iss: string | null },
): Promise<string> {
  const { actors, authorizations, box, connections } = parts;
  const row = await actors.query(mcpServer, target, 'get', null);
  const taken = row === null ? null : await authorizations.take(state, { accountId, mode, target });
  if (row === null || row.authority === null || taken === null)
    throw new AppError('bad_request', 'This state is used or over: begin again');
  const secrets = box.open(row.secrets, row.id);
  const of = { authority: row.authority, clientSecret: secrets.clientSecret };
  const answer = await exchangeCode(
    of,
    { code, iss, verifier: taken.verifier, callbackUrl: parts.callbackUrl() },
    fetchFor(parts, accountId),
  );
  if (answer.kind !== 'granted') {
    await authorizations.used(authorizationId);
    throw new AppError('upstream_failed', answer.kind === 'refused' ? 'The authorization server refused the code' : answer.detail);
  }
  const { access, refresh, expiresInMs } = answer;
  const grant = { secrets: box.seal({ ...secrets, access, refresh }, row.id), renewable: refresh !== null, expiresInMs };
  const connected = await actors.ask(mcpServer, row.id, 'authorized', { grant, authorizationId });
  // If the server does not list its tools now, an agent's next turn does.
  await connections.list(connected).catch((error) => {
    if (!(error instanceof McpFailed)) throw error;
  });
  return `The MCP server ${row.name}`;
}

// private helpers

async function tryOut(connections: McpConnections, id: string, request: McpRequest): Promise<TriedServer | { challenge: Challenge }> {
  try {
    return await connections.tryOut(id, request);
  } catch (error) {
    if (!(error instanceof McpFailed)) throw error;
    if (error.failure.type === 'unauthorized') return { challenge: error.failure.challenge };
    if (isAddressRefused(error)) throw invalidField(['body', 'url'], error.message, 'value_error', withoutSecrets(request.url));
    if (error.failure.type === 'forbidden') throw invalidField(['body', 'headers'], error.message, 'value_error');
    // Without its cause, which may contain a megabyte of text from the server: it would be logged.
    throw new AppError('upstream_failed', `The MCP server: ${error.message}`);
  }
}

async function authorityFor(
  parts: McpConnectParts,
  { url, headers, accountId }: McpRequest,
  challenge: Challenge,
): Promise<FoundAuthority> {
  const client = { documentUrl: parts.documentUrl(), callbackUrl: parts.callbackUrl(), registered: parts.registered };
  const signal = AbortSignal.timeout(allRequests * (parts.discoveryMs ?? defaultDiscoveryMs));
  const mask = new SecretMask(secretsSent(url, headers));
  const found = await findAuthority(url, challenge, client, fetchFor(parts, accountId, signal)).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'upstream_failed' ? new AppError(error.code, mask.text(error.message)) : error;
  });
  if (found !== null && mask.isIn(found.authority))
    throw new AppError('upstream_failed', 'The metadata of the authorization server contain a credential that is sent to the MCP server');
  if (found === null)
    throw invalidField(['body', 'headers'], 'The server does not take these headers, and names no way to get a token', 'value_error');
  return found;
}

async function beginConsent(
  { authorizations, callbackUrl }: McpConnectParts,
  { id, accountId, mode, redirectUri }: Pick<McpServerRow, 'id' | 'accountId' | 'mode' | 'redirectUri'>,
  { authority }: FoundAuthority,
  browser: string | null,
): Promise<string> {
  const scopes = authority.scope?.split(' ') ?? [];
  const { state, challenge } = await authorizations.begin({ accountId, mode, target: id, redirectUri, scopes, browser });
  return authorizeUrl(authority, { callbackUrl: callbackUrl(), state, challenge });
}

function fetchFor({ outbound, discoveryMs = defaultDiscoveryMs }: McpConnectParts, accountId: string, signal?: AbortSignal): Fetch {
  return guardedFetch({ outbound, accountId, timeoutMs: discoveryMs, maxBytes: 2 ** 20, ...(signal && { signal }) });
}
