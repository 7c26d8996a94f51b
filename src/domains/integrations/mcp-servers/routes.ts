/** MCP servers of an account: connect, list, read, remove; and the approval of their tools. */
import Type from 'typebox';
import type { Clock } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AnyName } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings } from '../../accounts/contract.ts';
import { markBrowser } from '../authorization/browser.ts';
import { integrationIds } from '../ids.ts';
import { checkAddress, checkHeaders } from './address.ts';
import { connectMcpServer, consentUrlFor, type McpConnectParts, withConsentUrl } from './connect.ts';
import { McpServer, type McpServerRow } from './entity.ts';
import { mcpServer } from './messages.ts';
import { clientMetadata } from './protocol/authority.ts';
import { McpServerView, mcpServerView } from './view.ts';

export type McpRouteParts = McpConnectParts & { database: Database; clock: Clock; publicUrl(): string };

const base = '/integrations/mcp';
export const clientDocumentPath = '/integrations/oauth-client.json';
const maxServers = 50;

export function mcpServerRoutes(parts: McpRouteParts): AnyRoute[] {
  const { actors, database, clock, outbound, connections } = parts;

  const list = route({
    method: 'GET',
    path: base,
    summary: 'List MCP servers, newest first',
    description: modeNote,
    extension: true,
    scope: 'integrations.read',
    query: PageQuery,
    responses: { 200: PageOf(McpServerView) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const where = { accountId, mode, removedAt: null };
      const [rows, total] = await database.listPage(accountId, McpServer, where, { limit, offset });
      const data = rows.map((row) => mcpServerView(row as McpServerRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Connect an MCP server',
    description:
      'Its tools become tools of agents, named `mcp_{name}_{tool}`. Those it lists now are approved by this request; later ones, and changed ones, are off until they are approved. ' +
      'Where the server wants a token, the answer has status `authorization_required` and an `authorize_url` for a person. 502 where the server does not answer: then nothing is stored.',
    extension: true,
    scope: 'integrations.write',
    errors: [409, 502],
    body: Type.Object(
      {
        name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$', description: 'Part of the names of its tools' }),
        url: Type.String({ minLength: 1, maxLength: 2_048, description: 'https; it speaks streamable HTTP' }),
        headers: Type.Optional(
          Type.Record(AnyName, Type.String({ maxLength: 8_192 }), {
            maxProperties: 20,
            description: 'Sent with each request, such as an API key. They are stored encrypted and never shown',
          }),
        ),
        redirect_uri: Type.Optional(
          Type.String({
            maxLength: 2_048,
            description: 'Where the browser goes after a consent: one of the `redirect_uris` in the settings',
          }),
        ),
      },
      { examples: [{ name: 'docs', url: 'https://mcp.example.com/mcp' }] },
    ),
    responses: { 201: McpServerView },
    async handler(context) {
      const { principal, body } = context;
      const { accountId, mode } = principal;
      const headers = body.headers ?? {};
      checkHeaders(headers);
      const url = checkAddress(outbound, body.url);
      const redirectUri = body.redirect_uri ?? null;
      if (redirectUri !== null) await checkRedirect(accountId, redirectUri);
      const count = await database.list(accountId, (em) => em.count(McpServer, { accountId, mode, removedAt: null }));
      if (count >= maxServers) throw new AppError('conflict', `An account has ${maxServers} MCP servers at most: delete one`);
      const { commandId } = commandIds(context, integrationIds.mcpServer);
      const row = await connectMcpServer(parts, { accountId, mode, name: body.name, url, headers, redirectUri, commandId });
      return answer(201, mcpServerView(row));
    },
  });

  const get = route({
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Get an MCP server',
    extension: true,
    scope: 'integrations.read',
    responses: { 200: McpServerView },
    async handler({ principal, params }) {
      const row = await own(principal, params.id);
      return answer(200, mcpServerView(await withConsentUrl(parts, row, clock.nowMs())));
    },
  });

  const consent = route({
    method: 'GET',
    path: `${base}/{id}/connect`,
    summary: 'Ask a person for consent to an MCP server',
    description:
      'For browsers: leads to its authorization server, also to allow more than before. 409 for a server that is reached by headers alone.',
    extension: true,
    scope: 'session',
    advice: 'Sign in here, then open the link again, as it was sent.',
    errors: [409],
    responses: { 302: null },
    async handler({ principal, params, request }): Promise<HttpResponse> {
      const row = await own(principal, params.id);
      const { browser, cookie } = markBrowser(request, parts.publicUrl());
      const headers = { Location: await consentUrlFor(parts, row, browser), 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
      return { status: 302, headers, cookies: [cookie], body: null };
    },
  });

  const remove = route({
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Remove an MCP server',
    description:
      'Its tokens are ended at the authorization server too, where that can end them. Running agents that rely on its tools fail.',
    extension: true,
    scope: 'integrations.write',
    responses: { 204: null },
    async handler({ principal, params }) {
      const { id } = await own(principal, params.id);
      await actors.ask(mcpServer, id, 'remove', null);
      connections.forget(id);
      return { status: 204 };
    },
  });

  const approve = route({
    method: 'POST',
    path: `${base}/{id}/approve-tools`,
    summary: 'Approve tools of an MCP server',
    description: 'Each with the hash that was approved: 409 if the tool has changed since.',
    extension: true,
    scope: 'integrations.write',
    errors: [409],
    body: Type.Object(
      {
        tools: Type.Array(Type.Object({ name: Type.String({ maxLength: 256 }), hash: Type.String({ maxLength: 64 }) }), {
          minItems: 1,
          maxItems: 500,
        }),
      },
      { examples: [{ tools: [{ name: 'search', hash: '9f2c…' }] }] },
    ),
    responses: { 200: McpServerView },
    async handler(context) {
      const { principal, params, body } = context;
      const { id } = await own(principal, params.id);
      const { commandId } = commandIds(context, integrationIds.mcpServer);
      return answer(200, mcpServerView(await actors.ask(mcpServer, id, 'approve', { tools: body.tools }, { commandId })));
    },
  });

  const document = route({
    method: 'GET',
    path: clientDocumentPath,
    summary: 'Get the client id metadata document',
    description: 'For authorization servers: the address of the document is the client id.',
    extension: true,
    scope: null,
    responses: {
      200: Type.Object({
        client_id: Type.String(),
        client_name: Type.String(),
        redirect_uris: Type.Array(Type.String()),
        grant_types: Type.Array(Type.String()),
        response_types: Type.Array(Type.String()),
        token_endpoint_auth_method: Type.String(),
        application_type: Type.String(),
      }),
    },
    handler() {
      const json = { client_id: parts.documentUrl(), ...clientMetadata({ callbackUrl: parts.callbackUrl() }) };
      return { status: 200, json, headers: { 'Cache-Control': 'public, max-age=3600' } };
    },
  });

  return [document, list, create, get, consent, remove, approve];

  async function own(principal: Principal, id: string): Promise<McpServerRow> {
    const row = id.startsWith(integrationIds.mcpServer) ? await actors.query(mcpServer, id, 'get', null) : null;
    return ownedInMode(principal, row, 'MCP server');
  }

  async function checkRedirect(accountId: string, redirectUri: string): Promise<void> {
    const { redirectUris } = await actors.query(accountSettings, accountId, 'get', null);
    if (!redirectUris.includes(redirectUri))
      throw invalidField(['body', 'redirect_uri'], 'Not one of the redirect_uris in the settings', 'value_error', redirectUri);
  }
}
