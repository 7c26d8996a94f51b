/**
 * The authorization server of an MCP server: found by the server's own metadata (RFC 9728, 8414), and requests for tokens that are valid for that server alone
 * (RFC 8707). The requests are made by the client library, over the guarded outbound.
 */
import { AppError } from '../../../../errors.ts';
import { type McpClientPackage, mcpClientPackage } from '../../mcp-packages.ts';
import { accessTokenIn, lifeIn, refreshTokenIn, scopesIn } from '../../oauth/token-values.ts';
import type { McpAuthority } from '../entity.ts';
import type { Challenge } from './failure.ts';
import type { Fetch } from './guarded-fetch.ts';

export type OurClient = {
  /** The address of our client metadata document: our id where the authorization server reads it. */
  documentUrl: string;
  callbackUrl: string;
  /** The client that the operator has registered at an authorization server; null: none. */
  registered?(issuer: string): RegisteredClient | null;
};

export type RegisteredClient = { clientId: string; clientSecret: string | null };

export type FoundAuthority = { authority: McpAuthority; clientSecret: string | null };

export type TokenAnswer =
  | { kind: 'granted'; access: string; refresh: string | null; expiresInMs: number | null }
  | { kind: 'refused'; error: 'invalid_grant' | 'invalid_client' }
  | { kind: 'unavailable'; detail: string };

/**
 * null: the server names no usable authorization server. Throws `upstream_failed` if a named one gives no valid answer.
 *
 * @param known an earlier registration of this service at an authorization server
 */
export async function findAuthority(
  url: string,
  { resourceMetadataUrl, scope }: Challenge,
  client: OurClient,
  fetchFn: Fetch,
  known: FoundAuthority | null = null,
): Promise<FoundAuthority | null> {
  const library = await mcpClientPackage();
  try {
    const found = await library.discoverOAuthServerInfo(url, {
      ...(resourceMetadataUrl !== null && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
      fetchFn,
    });
    const { authorizationServerMetadata: metadata, resourceMetadata } = found;
    if (metadata === undefined) return null;
    const requestedResource = library.resourceUrlFromServerUrl(url);
    if (
      resourceMetadata !== undefined &&
      !library.checkResourceAllowed({ requestedResource, configuredResource: resourceMetadata.resource })
    )
      throw new AppError('upstream_failed', 'The server names metadata of another resource');
    const authority = {
      issuer: ofLength(metadata.issuer),
      authorizationEndpoint: webAddress(metadata.authorization_endpoint),
      tokenEndpoint: ofLength(library.assertSecureTokenEndpoint(metadata.token_endpoint).href),
      revocationEndpoint: endOf(metadata as { revocation_endpoint?: unknown }, library),
      tokenAuthMethods: [...knownMethods].filter((method) => metadata.token_endpoint_auth_methods_supported?.includes(method)),
      namesItself: metadata.authorization_response_iss_parameter_supported === true,
      resource: ofLength(resourceMetadata?.resource ?? requestedResource.href),
      scope: requestedScope(scope ?? resourceMetadata?.scopes_supported?.join(' ')),
    };
    if (known !== null && known.authority.issuer === authority.issuer)
      return { authority: { ...authority, clientId: known.authority.clientId }, clientSecret: known.clientSecret };
    const registered = client.registered?.(metadata.issuer) ?? null;
    if (registered !== null) return { authority: { ...authority, clientId: registered.clientId }, clientSecret: registered.clientSecret };
    if (metadata.client_id_metadata_document_supported === true)
      return { authority: { ...authority, clientId: client.documentUrl }, clientSecret: null };
    if (metadata.registration_endpoint === undefined) return null;
    const made = await library.registerClient(metadata.issuer, { metadata, clientMetadata: clientMetadata(client), fetchFn });
    return {
      authority: { ...authority, clientId: ofLength(made.client_id) },
      clientSecret: made.client_secret === undefined ? null : ofLength(made.client_secret),
    };
  } catch (error) {
    if (error instanceof AppError && error.code === 'upstream_failed') throw error;
    const why = error instanceof AppError ? `: ${error.message}` : '';
    throw new AppError('upstream_failed', `The authorization server of the MCP server did not answer as it should${why}`);
  }
}

/** The address at which a person consents. */
export function authorizeUrl(
  { authorizationEndpoint, clientId, resource, scope }: McpAuthority,
  { callbackUrl, state, challenge }: { callbackUrl: string; state: string; challenge: string },
): string {
  const url = new URL(authorizationEndpoint);
  const parameters = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: callbackUrl, state, resource },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    ...(scope !== null && { scope }),
    // OpenID providers issue a refresh token only after a consent for it.
    ...(scope?.split(' ').includes('offline_access') && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

export async function exchangeCode(
  of: FoundAuthority,
  { code, iss, verifier, callbackUrl }: { code: string; iss: string | null; verifier: string; callbackUrl: string },
  fetchFn: Fetch,
): Promise<TokenAnswer> {
  const library = await mcpClientPackage();
  return requestTokens(() =>
    library.exchangeAuthorization(of.authority.issuer, {
      ...common(of, fetchFn),
      ...(iss !== null && { iss }),
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri: callbackUrl,
    }),
  );
}

export async function renewToken(of: FoundAuthority, refreshToken: string, fetchFn: Fetch): Promise<TokenAnswer> {
  const library = await mcpClientPackage();
  return requestTokens(() => library.refreshAuthorization(of.authority.issuer, { ...common(of, fetchFn), refreshToken }));
}

/** Ends a token, and those issued with it (RFC 7009). Throws `unavailable` if that is not certain. */
export async function revokeToken({ authority, clientSecret }: FoundAuthority, token: string, fetchFn: Fetch): Promise<void> {
  const { revocationEndpoint, tokenAuthMethods, clientId } = authority;
  if (typeof revocationEndpoint !== 'string') return;
  const library = await mcpClientPackage();
  const information = { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) };
  const method = library.selectClientAuthMethod(information, tokenAuthMethods);
  const isBasic = method === 'client_secret_basic' && clientSecret !== null;
  const named = isBasic ? {} : method === 'client_secret_post' ? information : { client_id: clientId };
  const { status, body } = await fetchFn(revocationEndpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && {
        authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`,
      }),
    },
    body: new URLSearchParams({ token, ...named }).toString(),
  });
  await body?.cancel();
  if (status >= 500 || status === 429) throw new AppError('unavailable', `The revocation endpoint answered ${status}`);
}

/** The metadata document that authorization servers read at `documentUrl`. */
export function clientMetadata({ callbackUrl }: Pick<OurClient, 'callbackUrl'>) {
  return {
    client_name: 'Troupe',
    redirect_uris: [callbackUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
  };
}

function common({ authority, clientSecret }: FoundAuthority, fetchFn: Fetch) {
  const { issuer, authorizationEndpoint, tokenEndpoint, tokenAuthMethods, namesItself, clientId, resource } = authority;
  return {
    metadata: {
      issuer,
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
      token_endpoint_auth_methods_supported: tokenAuthMethods,
      authorization_response_iss_parameter_supported: namesItself,
      response_types_supported: ['code'],
    },
    clientInformation: { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) },
    resource,
    fetchFn,
  };
}

type Tokens = { access_token: string; token_type: string; refresh_token?: string | undefined; expires_in?: number | undefined };

async function requestTokens(request: () => Promise<Tokens>): Promise<TokenAnswer> {
  const { OAuthError, IssuerMismatchError } = await mcpClientPackage();
  try {
    const { access_token: given, token_type: type, refresh_token: refresh, expires_in: seconds } = await request();
    const access = accessTokenIn(given);
    if (access === null || type.toLowerCase() !== 'bearer')
      return { kind: 'unavailable', detail: 'The authorization server gave a token that cannot be used' };
    return { kind: 'granted', access, refresh: refreshTokenIn(refresh), expiresInMs: lifeIn(seconds) };
  } catch (error) {
    if (IssuerMismatchError.isInstance(error)) return { kind: 'refused', error: 'invalid_grant' };
    const code = OAuthError.isInstance(error) ? String(error.code) : '';
    if (code === 'invalid_grant' || code === 'invalid_client') return { kind: 'refused', error: code };
    if (code === 'unauthorized_client') return { kind: 'refused', error: 'invalid_client' };
    const detail = error instanceof AppError ? error.message : 'The authorization server gave no token';
    return { kind: 'unavailable', detail };
  }
}

/** null: it has none, or none that a token may be sent to. */
function endOf({ revocation_endpoint: url }: { revocation_endpoint?: unknown }, library: McpClientPackage): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  try {
    return library.assertSecureTokenEndpoint(url).href;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/** An address that a browser is sent to must be a web address. */
function webAddress(address: string): string {
  const { protocol, href } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') throw new AppError('upstream_failed', 'The authorization server has no web address');
  return ofLength(href);
}

/** Bounded, because it is stored and sent with each request. */
function ofLength(text: string): string {
  if (text.length > maxTextChars) throw new AppError('upstream_failed', 'The metadata of the authorization server are too long');
  return text;
}
const maxTextChars = 4_096;

/** null: no scope is named in the request. */
function requestedScope(scope: string | undefined): string | null {
  const names = scopesIn(scope ?? '').slice(0, maxRequestedScopes);
  return names.length === 0 ? null : names.join(' ');
}
const maxRequestedScopes = 50;

const knownMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const;
