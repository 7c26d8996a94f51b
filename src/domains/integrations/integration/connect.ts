/** Connects a service: exchanges the code, or tests the key, and stores the result. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { clientVariables } from '../../../service-settings.ts';
import type { Authorizations } from '../authorization/authorizations.ts';
import { type ServiceClient, tokenEndpointOf } from '../oauth/service-client.ts';
import { exchangeCode } from '../oauth/token-endpoint.ts';
import type { ServiceCalls } from '../services/calls.ts';
import { scopesFor, scopesOf } from '../services/granted.ts';
import type { Discovered } from '../services/service.ts';
import { ServiceFailed } from '../services/service-failure.ts';
import type { IntegrationRow } from './entity.ts';
import { integration, integrationIdOf, type NewConnection } from './messages.ts';
import type { TokenBox, Tokens } from './tokens.ts';

export type ConnectParts = {
  actors: Pick<ActorSystem, 'ask'>;
  outbound: Pick<Outbound, 'fetch'>;
  box: TokenBox;
  calls: ServiceCalls;
  authorizations: Authorizations;
  /** The addresses to which services send browsers back. */
  callbackUrl(): string;
};

/** The parameters with which a code was requested. */
export type CodeUse = {
  code: string;
  /** null: the code was requested without PKCE, by another program than this service. */
  state: string | null;
  /** For a code without state; null: the callback of this service. */
  redirectUri: string | null;
  tools: readonly string[];
};

export type ConnectRequest = AccountMode & {
  known: ServiceClient;
  by: CodeUse | { apiKey: string };
  /** Further fields that the service may need. */
  given: Record<string, string>;
  commandId: string | undefined;
};

const exchangeTimeoutMs = 10_000;
const discoveryTimeoutMs = 20_000;

/**
 * Throws `invalid` with the field of the body that the service refuses, `conflict` if the client is wrong, and `upstream_failed` if the
 * service did not answer: then nothing is stored, and the request may be repeated.
 */
export async function connect(parts: ConnectParts, request: ConnectRequest): Promise<IntegrationRow> {
  return 'apiKey' in request.by ? connectByKey(parts, request, request.by.apiKey) : connectByCode(parts, request, request.by);
}

async function connectByKey(parts: ConnectParts, request: ConnectRequest, apiKey: string): Promise<IntegrationRow> {
  const { known, accountId } = request;
  const tokens: Tokens = { kind: 'api_key', access: apiKey, user: null, refresh: null };
  try {
    const signal = AbortSignal.timeout(exchangeTimeoutMs);
    // A restricted key may lack the permission for this request; the service refuses an unknown key with 401.
    const request = { ...known.service.identity, accept: [403] };
    await parts.calls.once({ known, accountId, tokens, attributes: {}, signal }, request);
  } catch (error) {
    if (timedOut(error)) throw noAnswer(known, 'it did not answer within 10 s');
    if (!(error instanceof ServiceFailed)) throw error;
    if (error.failure.type === 'unavailable' || error.failure.type === 'rate_limited') throw noAnswer(known, error.message);
    throw invalidField(['body', 'api_key'], `${known.service.title} does not take this key`, 'value_error');
  }
  return store(parts, request, tokens, { expiresInMs: null, grantedScopes: null, authorizationId: null, redirectUri: null });
}

async function connectByCode(parts: ConnectParts, request: ConnectRequest, by: CodeUse): Promise<IntegrationRow> {
  const { known, accountId, mode } = request;
  const { authorizations } = parts;
  const endpoint = tokenEndpointOf(known, { outbound: parts.outbound, account: accountId, timeoutMs: exchangeTimeoutMs });
  const taken = by.state === null ? null : await authorizations.take(by.state, { accountId, mode, target: known.service.name });
  if (by.state !== null && taken === null)
    throw invalidField(['body', 'state'], 'Not a state of this account and service, or used, or older than 10 minutes', 'value_error');
  const asked = taken?.row.scopes ?? scopesFor(known.service, by.tools);
  let isSettled = false;
  try {
    const answer = await exchangeCode(endpoint, {
      code: by.code,
      redirectUri: (by.state === null ? by.redirectUri : null) ?? parts.callbackUrl(),
      verifier: taken?.verifier ?? null,
    });
    if (answer.kind === 'unavailable') throw noAnswer(known, answer.detail);
    if (answer.kind === 'refused') {
      if (answer.error === 'invalid_client') throw wrongClient(known);
      isSettled = true;
      if (taken !== null) await authorizations.used(taken.id);
      throw invalidField(['body', 'oauth_code'], `${known.service.title} does not take this code`, 'value_error');
    }
    const { access, user, userRefresh, refresh, expiresInMs } = answer;
    return await store(
      parts,
      request,
      { kind: 'oauth', access, user, userRefresh, refresh },
      {
        expiresInMs,
        grantedScopes: scopesOf(answer.scopes, asked),
        authorizationId: taken?.id ?? null,
        redirectUri: taken?.row.redirectUri ?? by.redirectUri,
      },
    );
  } catch (error) {
    if (taken !== null && !isSettled) await authorizations.giveBack(taken.id);
    throw error;
  }
}

async function store(
  parts: ConnectParts,
  { accountId, mode, known, given, commandId }: ConnectRequest,
  tokens: Tokens,
  granted: Pick<NewConnection, 'expiresInMs' | 'grantedScopes' | 'authorizationId' | 'redirectUri'>,
): Promise<IntegrationRow> {
  const { service } = known;
  const discovered = await discover(parts, { accountId, known, given, tokens });
  const id = integrationIdOf(accountId, service.name, mode);
  const made: NewConnection = {
    ...{ accountId, mode, service: service.name, ...granted },
    tokens: parts.box.seal(tokens, id),
    renewable: tokens.refresh !== null,
    attributes: { ...discovered.attributes },
    inboundId: discovered.inboundId,
  };
  return parts.actors.ask(integration, id, 'connect', made, commandId === undefined ? {} : { commandId });
}

async function discover(
  { calls }: ConnectParts,
  { accountId, known, given, tokens }: { accountId: string; known: ServiceClient; given: Record<string, string>; tokens: Tokens },
): Promise<Discovered> {
  if (known.service.discover === undefined) return { attributes: {}, inboundId: null };
  const signal = AbortSignal.timeout(discoveryTimeoutMs);
  try {
    return await known.service.discover({
      ...{ given, tokens, client: known.client },
      request: (asked) => calls.once({ known, accountId, tokens, attributes: {}, signal }, asked),
    });
  } catch (error) {
    if (timedOut(error)) throw noAnswer(known, 'it did not answer within 20 s');
    if (!(error instanceof ServiceFailed)) throw error;
    if (error.failure.type === 'invalid' && error.failure.field !== null)
      throw invalidField(['body', error.failure.field], error.message, 'value_error');
    throw noAnswer(known, error.message);
  }
}

function noAnswer({ service }: ServiceClient, why: string): AppError {
  return new AppError('upstream_failed', `${service.title} could not be connected: ${why}`);
}

function wrongClient({ service }: ServiceClient): AppError {
  const [id, secret] = clientVariables(service.name);
  return new AppError(
    'conflict',
    `${service.title} does not know this client: the operator of this service must correct ${id} and ${secret}`,
  );
}

function timedOut(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
