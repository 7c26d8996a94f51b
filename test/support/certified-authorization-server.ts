/**
 * A certified authorization server, oidc-provider: PKCE is required, refresh tokens rotate, and a token that is presented twice revokes
 * all tokens of the consent. Every consent is granted.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Scope } from './scope.ts';

export type CertifiedServer = {
  url: string;
  clientId: string;
  clientSecret: string;
  /** Bodies of token requests, by their grant. */
  tokenRequests: string[];
  /** The answer to the browser that begins here, without following it. */
  consent(url: URL): Promise<URL>;
  /** Whether this access token is good now. */
  isGood(token: string): Promise<boolean>;
};

export async function certifiedServer(t: Scope, redirectUri: string, scopes: string[]): Promise<CertifiedServer> {
  let provider: Provider;
  const tokenRequests: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.url!.startsWith('/token') && request.method === 'POST') tokenRequests.push(request.url!);
    if (!request.url!.startsWith('/interaction/')) return void provider.callback()(request, response);
    const { params, session } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: 'ann', clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    const result = { ...(session === undefined && { login: { accountId: 'ann' } }), consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, { login: { accountId: 'ann' }, ...result }, { mergeWithLastSubmission: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ['troupe', 'a secret of troupe at the certified server'];
  provider = new Provider(url, {
    clients: [
      {
        ...{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] },
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    scopes,
    cookies: { keys: ['a key of cookies'] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    findAccount: async (_ctx: unknown, accountId: string) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: async () => true,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: { AccessToken: 3_600, RefreshToken: 86_400, Grant: 86_400, Session: 3_600, Interaction: 600, AuthorizationCode: 60 },
  } as never);
  return {
    ...{ url, clientId, clientSecret, tokenRequests },
    async consent(begin) {
      const jar = new Map<string, string>();
      for (let next = begin; ; ) {
        if (`${next.origin}${next.pathname}` === redirectUri) return next;
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
        for (const line of answer.headers.getSetCookie()) {
          const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
          jar.set(name!, value!);
        }
        const location = answer.headers.get('location');
        if (location === null) throw new Error(`${next.pathname} answered ${answer.status}: ${await answer.text()}`);
        next = new URL(location, next);
      }
    },
    isGood: async (token) => (await provider.AccessToken.find(token)) !== undefined,
  };
}
