/**
 * Requests at token endpoints (RFC 6749, 7636, 7009). oauth4webapi sends them; the answers are interpreted here, because services refuse in
 * different forms: inside a 200 answer, or with other codes.
 */
import * as oauth from 'oauth4webapi';
import { AppError } from '../../../errors.ts';
import { JsonBounds } from '../../../json-bounds.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { ReadTokens } from '../services/service.ts';
import { accessTokenIn, lifeIn, refreshTokenIn, scopesIn } from './token-values.ts';

export type TokenEndpoint = {
  outbound: Pick<Outbound, 'fetch'>;
  url: string;
  client: { id: string; secret: string };
  clientAuthentication: 'body' | 'basic';
  /** The account of the request: accounts share the connections to an origin. */
  account: string;
  /** As `OutboundRequest`: the address comes from the operator. */
  configured: boolean;
  /** As in `ServiceOAuth`. */
  errorIn?: ((answer: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  tokensIn?: ((answer: Readonly<Record<string, unknown>>) => ReadTokens) | undefined;
  timeoutMs: number;
  signal?: AbortSignal;
};

export type TokenAnswer =
  | {
      kind: 'granted';
      access: string;
      /** The second token, and its refresh token. */
      user: string | null;
      userRefresh: string | null;
      refresh: string | null;
      /** The lifetime of the token that ends first; null: they do not expire. */
      expiresInMs: number | null;
      scopes: string[] | undefined;
    }
  /** `invalid_grant`: the code or token is refused. `invalid_client`: this client is unknown there. */
  | { kind: 'refused'; error: 'invalid_grant' | 'invalid_client' }
  /** No answer that states anything about the code or token. */
  | { kind: 'unavailable'; detail: string };

const maxBytes = 2 ** 20;
/** A token answer has some ten values. A parser cannot pause, and many small values cost it more than their bytes. */
const answerLimits = { maxDepth: 32, maxValues: 2_000 };

/** @param verifier null: the code was requested without PKCE */
export function exchangeCode(
  endpoint: TokenEndpoint,
  { code, redirectUri, verifier }: { code: string; redirectUri: string; verifier: string | null },
): Promise<TokenAnswer> {
  return requestTokens(endpoint, 'authorization_code', {
    code,
    redirect_uri: redirectUri,
    ...(verifier !== null && { code_verifier: verifier }),
  });
}

export function renew(endpoint: TokenEndpoint, refreshToken: string): Promise<TokenAnswer> {
  return requestTokens(endpoint, 'refresh_token', { refresh_token: refreshToken });
}

/** Ends a token (RFC 7009). Throws `unavailable` if that is not certain. */
export async function revoke({ url, client, clientAuthentication, ...sent }: TokenEndpoint, token: string): Promise<void> {
  const server = { issuer: url, revocation_endpoint: url };
  const { status } = await sending(sent, (options) =>
    oauth.revocationRequest(server, { client_id: client.id }, authentication(client.secret, clientAuthentication), token, options),
  );
  // The standard answers an unknown token with 200, some services with 400: it is no longer valid.
  if (status >= 500 || status === 429 || (status >= 300 && status < 400))
    throw new AppError('unavailable', `The revocation endpoint answered ${status}`);
}

/** A verifier and its challenge (PKCE, S256). */
export async function pkcePair(): Promise<{ verifier: string; challenge: string }> {
  const verifier = oauth.generateRandomCodeVerifier();
  return { verifier, challenge: await oauth.calculatePKCECodeChallenge(verifier) };
}

export function randomState(): string {
  return oauth.generateRandomState();
}

// private helpers

type Sent = Pick<TokenEndpoint, 'outbound' | 'account' | 'configured' | 'timeoutMs' | 'signal'>;
type Arrived = { status: number; body: Uint8Array; truncated: boolean };

async function requestTokens(endpoint: TokenEndpoint, grantType: string, parameters: Record<string, string>): Promise<TokenAnswer> {
  const { url, client, clientAuthentication } = endpoint;
  const server = { issuer: url, token_endpoint: url };
  let arrived: Arrived;
  try {
    arrived = await sending(endpoint, (options) =>
      oauth.genericTokenEndpointRequest(
        server,
        { client_id: client.id },
        authentication(client.secret, clientAuthentication),
        grantType,
        parameters,
        options,
      ),
    );
  } catch (error) {
    endpoint.signal?.throwIfAborted();
    if (error instanceof AppError) return { kind: 'unavailable', detail: `The token endpoint: ${error.message}` };
    throw error;
  }
  return read(arrived, endpoint);
}

function read({ status, body, truncated }: Arrived, { errorIn, tokensIn }: TokenEndpoint): TokenAnswer {
  const unavailable = (why: string): TokenAnswer => ({ kind: 'unavailable', detail: `The token endpoint ${why}` });
  if (truncated) return unavailable('answered with more than 1 MiB');
  if (status >= 300 && status < 400) return unavailable('redirects, which is not followed');
  if (status >= 500 || status === 429) return unavailable(`answered ${status}`);
  if (!new JsonBounds(answerLimits).take(body)) return unavailable('answered with more values than are read');
  const answer = parsed(body);
  if (answer === null) return unavailable(`answered ${status} with something that is no JSON object`);
  const error = errorIn?.(answer) ?? (typeof answer.error === 'string' ? answer.error : undefined);
  if (error !== undefined) {
    const meant = meaningOf[error];
    return meant === undefined ? unavailable(`answered ${safeCode(error)}`) : { kind: 'refused', error: meant };
  }
  if (status >= 400) return unavailable(`answered ${status}`);
  const { standard, user } = tokensIn?.(answer) ?? { standard: answer, user: null };
  const { access_token: given, refresh_token: refresh, scope, expires_in: expiresIn } = standard;
  const access = accessTokenIn(given);
  if (access === null) return unavailable('answered without an access_token that can be sent');
  return {
    kind: 'granted',
    access,
    user: accessTokenIn(user?.access_token),
    userRefresh: refreshTokenIn(user?.refresh_token),
    refresh: refreshTokenIn(refresh),
    expiresInMs: firstEnd(lifeIn(expiresIn), lifeIn(user?.expires_in)),
    scopes: typeof scope === 'string' ? scopesIn(scope) : undefined,
  };
}

/** The shorter of two lifetimes in milliseconds; null: no end. */
export function firstEnd(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Codes of RFC 6749, and of GitHub and Slack. */
const meaningOf: Readonly<Record<string, 'invalid_grant' | 'invalid_client'>> = {
  invalid_grant: 'invalid_grant',
  bad_verification_code: 'invalid_grant',
  bad_refresh_token: 'invalid_grant',
  invalid_code: 'invalid_grant',
  code_already_used: 'invalid_grant',
  invalid_refresh_token: 'invalid_grant',
  token_revoked: 'invalid_grant',
  token_expired: 'invalid_grant',
  invalid_client: 'invalid_client',
  unauthorized_client: 'invalid_client',
  incorrect_client_credentials: 'invalid_client',
  invalid_client_id: 'invalid_client',
  bad_client_secret: 'invalid_client',
};

async function sending(
  { outbound, account, configured, timeoutMs, signal }: Sent,
  request: (options: object) => Promise<Response>,
): Promise<Arrived> {
  let arrived: Arrived | undefined;
  await request({
    // Replaced addresses may be http: they come from the operator, or are checked by the outbound client.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (
      url: string,
      { method, headers, body }: { method: string; headers: Record<string, string>; body: URLSearchParams },
    ) => {
      arrived = await outbound.fetch(url, {
        ...{ method, headers, body: body.toString(), account, configured, timeoutMs, maxBytes, redirects: 0 },
        ...(signal !== undefined && { signal }),
      });
      // Read from `arrived`: a Response would refuse some statuses that a server may send.
      return new Response();
    },
  });
  return arrived!;
}

function authentication(secret: string, by: 'body' | 'basic'): oauth.ClientAuth {
  return by === 'basic' ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
}

function parsed(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** An error code is one word; any other text could repeat a secret. */
function safeCode(error: string): string {
  return /^[a-z][a-z0-9_]{0,63}$/.test(error) ? error : 'an error';
}
