/** Connected services: connect, list, disconnect. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageQuery, totalCount } from '../../../edge/routes/page.ts';
import { invalidField } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings } from '../../accounts/contract.ts';
import { integrationIds } from '../ids.ts';
import { type CodeUse, type ConnectParts, connect } from '../integration/connect.ts';
import { Integration, type IntegrationRow } from '../integration/entity.ts';
import { integration } from '../integration/messages.ts';
import { IntegrationView, integrationView } from '../integration/view.ts';
import { configuredClient, type ServiceClient, type ServiceClients } from '../oauth/service-client.ts';

export type IntegrationRouteParts = ConnectParts & {
  actors: ActorSystem;
  database: Database;
  clients: ServiceClients;
  publicUrl(): string;
};

const base = '/integrations';
/** It is sent in a header. */
const sendableKey = /^[\x21-\x7e]+$/;

export function integrationRoutes(parts: IntegrationRouteParts): AnyRoute[] {
  const { actors, database, clients, publicUrl } = parts;
  const names = clients.all.map(({ service }) => service.name);
  const shown = (row: IntegrationRow) => integrationView(row, clients, publicUrl());

  const list = route({
    method: 'GET',
    path: base,
    summary: 'List connected services, newest first',
    description: `${modeNote} Those that were disconnected are listed too.`,
    scope: 'integrations.read',
    query: PageQuery,
    responses: { 200: Type.Array(IntegrationView) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const where = { accountId, mode };
      const [rows, total] = await database.listPage(accountId, Integration, where, { limit, offset });
      const data = rows.map((row) => shown(row as IntegrationRow));
      return answer(200, data, totalCount(total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Connect a service',
    description:
      'With the code that the service has sent to the redirect address. An account has one connection of a service in each mode: connecting again keeps its id and replaces its tokens. ' +
      '409 if the operator has not configured the service, or wrongly; 502 if the service does not answer: then nothing is stored, and the same code may be sent again.',
    scope: 'integrations.write',
    errors: [409, 502],
    body: Type.Object(
      {
        service: Type.Enum(names),
        oauth_code: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
        api_key: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 4_096,
            description: 'stripe: a restricted key, in place of a code. It is stored encrypted and never shown',
          }),
        ),
        redirect_uri: Type.Optional(
          Type.String({ maxLength: 2_048, description: 'Without `state`: the registered address that the code was asked for with' }),
        ),
        state: Type.Optional(
          Type.String({ maxLength: 512, description: 'As it came with the code, where the flow began at `GET /integrations/connect`' }),
        ),
        tools: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50, description: 'What was asked for; default: all' })),
        phone_number_id: Type.Optional(Type.String({ maxLength: 64, description: 'whatsapp: the number to send from' })),
      },
      { examples: [{ service: 'github', oauth_code: '8f2c1a…' }] },
    ),
    responses: { 201: IntegrationView },
    async handler(context) {
      const { principal, body } = context;
      const known = clients.get(body.service);
      const by = await codeOrKey(principal, known, body);
      if (!('apiKey' in by)) configuredClient(known);
      const { commandId } = commandIds(context, integrationIds.integration);
      const given: Record<string, string> = body.phone_number_id === undefined ? {} : { phone_number_id: body.phone_number_id };
      const { accountId, mode } = principal;
      return answer(201, shown(await connect(parts, { accountId, mode, known, by, given, commandId })));
    },
  });

  const get = route({
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Get a connected service',
    extension: true,
    scope: 'integrations.read',
    responses: { 200: IntegrationView },
    async handler({ principal, params }) {
      return answer(200, shown(await own(principal, params.id)));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Disconnect a service',
    description:
      'Access is also revoked at the service. Running agents that rely on its tools fail. A repeated request gets the same response.',
    scope: 'integrations.write',
    responses: { 204: null },
    async handler({ principal, params }) {
      const { id } = await own(principal, params.id);
      await actors.ask(integration, id, 'disconnect', null);
      return { status: 204 };
    },
  });

  return [list, create, get, remove];

  async function own(principal: Principal, id: string): Promise<IntegrationRow> {
    const row = id.startsWith(integrationIds.integration) ? await actors.query(integration, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Integration');
  }

  async function codeOrKey(
    { accountId }: Principal,
    known: ServiceClient,
    body: { oauth_code?: string; api_key?: string; redirect_uri?: string; state?: string; tools?: string[] },
  ): Promise<CodeUse | { apiKey: string }> {
    const { service } = known;
    const { oauth_code: code, api_key: apiKey, redirect_uri: redirectUri, state, tools = [] } = body;
    checkTools(known, tools, ['body', 'tools']);
    if (apiKey !== undefined) {
      if (!service.takesApiKey) throw invalidField(['body', 'api_key'], `${service.title} is not connected by a key`, 'value_error');
      if (!sendableKey.test(apiKey)) throw invalidField(['body', 'api_key'], 'It holds characters that cannot be sent', 'value_error');
      return { apiKey };
    }
    if (code === undefined) throw invalidField(['body', service.oauth === null ? 'api_key' : 'oauth_code'], 'Field required', 'missing');
    if (state !== undefined) return { code, state, redirectUri: null, tools };
    if (redirectUri !== undefined) await checkRedirect(actors, accountId, redirectUri, 'body');
    return { code, state: null, redirectUri: redirectUri ?? null, tools };
  }
}

/** Throws `invalid` for a tool that the service does not have. */
export function checkTools({ service }: ServiceClient, tools: readonly string[], loc: string[]): void {
  const unknown = tools.find((tool) => !service.tools.some(({ name }) => name === tool));
  if (unknown !== undefined) throw invalidField(loc, `${service.title} has no such tool`, 'enum', unknown);
}

/** Throws `invalid` for an address that is not in the account's settings. */
export async function checkRedirect(
  actors: Pick<ActorSystem, 'query'>,
  accountId: string,
  redirectUri: string,
  place: 'body' | 'query',
): Promise<void> {
  const { redirectUris } = await actors.query(accountSettings, accountId, 'get', null);
  if (!redirectUris.includes(redirectUri))
    throw invalidField([place, 'redirect_uri'], 'Not one of the redirect_uris in the settings', 'value_error', redirectUri);
}
