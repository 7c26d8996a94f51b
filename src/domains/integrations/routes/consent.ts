/** The redirects of a browser to a service and back: a person consents there, and the code is returned. */
import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { readForm } from '../../../edge/http/form-body.ts';
import type { HttpRequest, HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AppError } from '../../../errors.ts';
import { browserOf, isFromBrowser, markBrowser } from '../authorization/browser.ts';
import type { AuthorizationRow } from '../authorization/entity.ts';
import { type ConnectParts, connect } from '../integration/connect.ts';
import { configuredClient, type ServiceClient, type ServiceClients } from '../oauth/service-client.ts';
import { scopesFor } from '../services/granted.ts';
import { confirmationPage, connectedPage, noConsentPage } from './consent-pages.ts';
import { checkRedirect, checkTools } from './integrations.ts';

/** The parameters with which the browser returned from the consent. */
export type ReturnedCode = { code: string; state: string; iss: string | null };
/** Completes a consent for a target other than a service. Returns the name of the connected target, for display. */
export type CompleteConsent = (row: AuthorizationRow, returned: ReturnedCode) => Promise<string>;
/** The result of a consent that is not for a service. `nameOf`: the display name of its target. */
export type ConsentTarget = { complete: CompleteConsent; nameOf(row: AuthorizationRow): Promise<string> };

export type ConsentRouteParts = ConnectParts & {
  actors: ActorSystem;
  clients: ServiceClients;
  /** By the prefix of the consent's target, such as `mcp_`. */
  targets: ReadonlyMap<string, ConsentTarget>;
  /** For display; null: unknown. */
  accountName(accountId: string): Promise<string | null>;
  publicUrl(): string;
};

/** For a person whose browser gets a refusal. */
const beginAgain = 'Begin to connect the service again.';

const Text = (description: string) => Type.Optional(Type.String({ maxLength: 4_096, pattern: '^[^\\u0000]*$', description }));

const Callback = Type.Object({
  code: Text('From the service'),
  state: Text('As it was given to the service'),
  error: Text('From the service, in place of a code'),
  error_description: Text('From the service'),
  iss: Text('The issuer (RFC 9207)'),
});
type Callback = Static<typeof Callback>;

export function consentRoutes(parts: ConsentRouteParts): AnyRoute[] {
  const { actors, clients, authorizations } = parts;

  const begin = route({
    method: 'GET',
    path: '/integrations/connect',
    summary: 'Ask a person for consent',
    description:
      'For browsers: leads to the service, whose answer leads to `redirect_uri` with `code` and `state`; `POST /integrations` with both connects it. Without `redirect_uri` the service is connected at once and the browser stays on a page that says so.',
    extension: true,
    scope: 'session',
    advice: 'Sign in here, then open the link again, as it was sent.',
    errors: [409],
    query: Type.Object({
      service: Type.Enum(clients.all.map(({ service }) => service.name)),
      redirect_uri: Type.Optional(
        Type.String({ maxLength: 2_048, pattern: '^https?://', description: 'One of the `redirect_uris` in the settings' }),
      ),
      tools: Type.Optional(
        Type.String({ maxLength: 2_048, pattern: '^[^\\u0000]*$', description: 'What to ask for, with commas between; default: all' }),
      ),
    }),
    responses: { 302: null },
    async handler({ principal, query, request }): Promise<HttpResponse> {
      const { accountId, mode } = principal;
      const known = clients.get(query.service);
      const tools = (query.tools ?? '').split(',').filter((name) => name !== '');
      checkTools(known, tools, ['query', 'tools']);
      if (query.redirect_uri !== undefined) await checkRedirect(actors, accountId, query.redirect_uri, 'query');
      const { client } = configuredClient(known);
      const scopes = scopesFor(known.service, tools);
      const { browser, cookie } = markBrowser(request, parts.publicUrl());
      const consentRequest = { accountId, mode, target: known.service.name, redirectUri: query.redirect_uri ?? null, scopes, browser };
      const { state, challenge } = await authorizations.begin(consentRequest);
      const there = authorizeUrl(known, { clientId: client.id, redirectUri: parts.callbackUrl(), scopes, state, challenge });
      return { ...redirect(there), cookies: [cookie] };
    },
  });

  const callback = route({
    method: 'GET',
    path: '/integrations/callback',
    summary: 'Receive the callback of a consent',
    description:
      'For browsers that come from a service. 400 for a state that is unknown or used. Where the callback itself connects, a browser that did not begin the consent is asked first whose account it is.',
    extension: true,
    scope: null,
    advice: beginAgain,
    errors: [400, 409, 502],
    query: Callback,
    responses: { 200: null, 302: null },
    contentTypes: { 200: 'text/html' },
    async handler({ request, query }): Promise<HttpResponse> {
      // Programs that check links send HEAD: it must not use up the code.
      if (request.method === 'HEAD') return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: null };
      return callBack(request, query);
    },
  });

  const confirmed = route({
    method: 'POST',
    path: '/integrations/callback',
    summary: 'What the button posts that asks whose account it is',
    description: 'A browser that did not begin the consent is asked before anything is connected. 400 for a state that is unknown or used.',
    extension: true,
    scope: null,
    idempotent: false,
    advice: beginAgain,
    errors: [400, 409, 413, 415, 502],
    responses: { 200: null, 302: null },
    contentTypes: { 200: 'text/html' },
    readsBody: true,
    async handler(context) {
      const form = await readForm(context);
      const [code, state] = [form.get('code') ?? '', form.get('state') ?? ''];
      if (code === '') throw overState();
      return complete({ code, state, iss: form.get('iss') });
    },
  });

  return [begin, callback, confirmed];

  async function callBack(
    request: HttpRequest,
    { code, state = '', error, error_description: description, iss }: Callback,
  ): Promise<HttpResponse> {
    const awaited = code === undefined && error === undefined ? null : await authorizations.awaited(state);
    if (awaited === null) throw overState();
    const isOurs = awaited.row.redirectUri === null || targetOf(awaited.row) !== undefined;
    if (error === undefined && code !== undefined && isOurs) {
      const isBegun = awaited.isBrowser(browserOf(request, parts.publicUrl()));
      if (isFromBrowser(request) && !isBegun) return confirmation(awaited.row, { code, state, iss: iss ?? null });
      return complete({ code, state, iss: iss ?? null });
    }
    const row = await authorizations.returned(state);
    if (row === null) throw overState();
    if (error === undefined && code !== undefined) return redirect(withParameters(row.redirectUri!, { code, state }));
    await authorizations.used(row.id);
    if (row.redirectUri === null) return noConsentPage();
    const parameters = { error: error ?? 'invalid_request', state, ...(description !== undefined && { error_description: description }) };
    return redirect(withParameters(row.redirectUri, parameters));
  }

  async function complete(returned: ReturnedCode): Promise<HttpResponse> {
    const row = await authorizations.returned(returned.state);
    if (row === null) throw overState();
    const target = targetOf(row);
    if (target === undefined && row.redirectUri !== null) throw overState();
    const connected = target === undefined ? await connectService(row, returned) : await target.complete(row, returned);
    // The code has been used.
    if (row.redirectUri !== null) return redirect(withParameters(row.redirectUri, { state: returned.state }));
    return connectedPage(connected);
  }

  async function confirmation(row: AuthorizationRow, { code, state, iss }: ReturnedCode): Promise<HttpResponse> {
    return confirmationPage({
      what: (await targetOf(row)?.nameOf(row)) ?? clients.get(row.target).service.title,
      whose: (await parts.accountName(row.accountId)) ?? row.accountId,
      action: `${parts.publicUrl()}/integrations/callback`,
      fields: { code, state, ...(iss !== null && { iss }) },
      leadsTo: row.redirectUri,
    });
  }

  function targetOf({ target }: AuthorizationRow): ConsentTarget | undefined {
    return parts.targets.get(target.slice(0, target.indexOf('_') + 1));
  }

  async function connectService({ accountId, mode, target }: AuthorizationRow, returned: { code: string; state: string }): Promise<string> {
    const known = clients.get(target);
    const by = { ...returned, redirectUri: null, tools: [] };
    await connect(parts, { accountId, mode, known, by, given: {}, commandId: undefined });
    return known.service.title;
  }
}

function overState(): AppError {
  return new AppError('bad_request', 'This state is unknown, used, or older than 10 minutes: begin again');
}

export type Asked = { clientId: string; redirectUri: string; scopes: string[]; state: string; challenge: string };

/** The address at which a person consents. */
export function authorizeUrl({ service, settings }: ServiceClient, { clientId, redirectUri, scopes, state, challenge }: Asked): string {
  const oauth = service.oauth!;
  const { userScopes = [], scopeSeparator, scopeParameter } = oauth;
  const ofUser = scopes.filter((scope) => userScopes.includes(scope));
  const others = scopes.filter((scope) => !userScopes.includes(scope));
  return withParameters(settings.authorizeUrl ?? oauth.authorizeUrl, {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(ofUser.length > 0 && { user_scope: ofUser.join(scopeSeparator) }),
    [scopeParameter]: others.join(scopeSeparator),
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...oauth.authorizeParameters,
  });
}

function withParameters(address: string, parameters: Record<string, string>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function redirect(location: string): HttpResponse {
  return { status: 302, headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }, body: null };
}
