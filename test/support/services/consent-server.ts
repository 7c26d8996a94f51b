/**
 * The consent page and token endpoint of several services: `/{service}/authorize` returns to the redirect address with a code, and
 * `/{service}/token` accepts each code once, with its verifier (RFC 7636) and a client's secret. Answers have each service's own form.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Scope } from '../scope.ts';
import { goodToken } from './service-row.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

type Consent = { challenge: string; redirectUri: string; scope: string };
/** Of the token answer beside what all have. */
type Form = (scope: string) => object;

const forms: Readonly<Record<string, Form>> = {
  slack: (scope) => ({ ok: true, token_type: 'bot', scope, authed_user: { id: 'U0002', access_token: goodToken, scope: 'search:read' } }),
  github: (scope) => ({ token_type: 'bearer', scope: scope.replaceAll(' ', ',') }),
};
const withRefresh: Form = (scope) => ({ token_type: 'Bearer', expires_in: 3_600, refresh_token: 'refresh-of-tests', scope });

export class ConsentServer extends ServiceStandIn {
  private readonly consents = new Map<string, Consent>();

  static async open(t: Scope): Promise<ConsentServer> {
    const server = new ConsentServer();
    await server.listen(t);
    return server;
  }

  /** Settings of a service whose API is at `apiUrl`, and whose consents are here. */
  env(service: string, apiUrl: string): Record<string, string> {
    const name = service.toUpperCase();
    return {
      [`${name}_CLIENT_ID`]: `client-of-${service}`,
      [`${name}_CLIENT_SECRET`]: `secret-of-${service}`,
      [`${name}_API_URL`]: apiUrl,
      [`${name}_AUTHORIZE_URL`]: `${this.url}/${service}/authorize`,
      [`${name}_TOKEN_URL`]: `${this.url}/${service}/token`,
      [`${name}_REVOKE_URL`]: `${this.url}/${service}/revoke`,
    };
  }

  protected answer({ path, query, body, headers }: ServiceRequest): StandInAnswer {
    const [, service = '', part] = path.split('/');
    if (part === 'authorize') return this.consent(query);
    if (part !== 'token') return { status: 200, json: {} };
    const consent = this.consents.get(body?.code);
    this.consents.delete(body?.code);
    const challenge = createHash('sha256').update(String(body?.code_verifier)).digest('base64url');
    if (consent === undefined || consent.challenge !== challenge || consent.redirectUri !== body.redirect_uri)
      return { status: 400, json: { error: 'invalid_grant' } };
    const isClient = body.client_secret === `secret-of-${service}` || headers.authorization?.startsWith('Basic ');
    if (!isClient) return { status: 401, json: { error: 'invalid_client' } };
    return { status: 200, json: { access_token: goodToken, ...(forms[service] ?? withRefresh)(consent.scope) } };
  }

  private consent(query: URLSearchParams): StandInAnswer {
    const challenge = query.get('code_challenge');
    const redirectUri = query.get('redirect_uri');
    if (
      query.get('response_type') !== 'code' ||
      query.get('code_challenge_method') !== 'S256' ||
      challenge === null ||
      redirectUri === null
    )
      return { status: 400, text: 'Bad request' };
    const code = randomBytes(12).toString('base64url');
    this.consents.set(code, { challenge, redirectUri, scope: query.get('scope') ?? '' });
    const location = new URL(redirectUri);
    location.searchParams.set('code', code);
    location.searchParams.set('state', query.get('state') ?? '');
    return { status: 302, headers: { location: location.href } };
  }
}
