/** The endpoint for MCP clients, and the document that describes how to authenticate there. */
import Type from 'typebox';
import { isJsonType, maxJsonBytes } from '../../../edge/http/json-body.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { AppError } from '../../../errors.ts';
import { scopes } from '../../../scopes.ts';
import type { Database } from '../../../storage/database.ts';
import { agentOfApproval } from '../../tasks/contract.ts';
import { isAllowedOrigin } from './origin.ts';
import type { McpServing } from './serve.ts';

export type McpRouteParts = {
  serving: McpServing;
  database: Database;
  /** As in `withCors`. */
  corsOrigins: readonly string[];
  publicUrl(): string;
};

const metadataPath = '/.well-known/oauth-protected-resource';

/** What is no message, or no request of the protocol, is refused in JSON-RPC's form; a request that does not reach the handler as elsewhere. */
const McpRefusal = Type.Union([
  Type.Object({
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
    error: Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
  }),
  Type.Object({ detail: Type.String() }),
]);

const ResourceMetadata = Type.Object(
  {
    resource: Type.String({ description: 'The address for which a token is valid' }),
    resource_name: Type.String(),
    bearer_methods_supported: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    resource_documentation: Type.String(),
  },
  { title: 'ProtectedResource' },
);

export function mcpRoutes({ serving, database, corsOrigins, publicUrl }: McpRouteParts): AnyRoute[] {
  const metadata = (path: string, resource: string) =>
    route({
      method: 'GET',
      path,
      summary: 'Describe the authentication of MCP clients',
      description: `RFC 9728, for the resource ${resource}. The token is an API key or an access token of a session. There is no authorization server: MCP clients are given a key, and cannot ask a person for consent.`,
      scope: null,
      extension: true,
      responses: { 200: ResourceMetadata },
      handler: () =>
        answer(200, {
          resource: `${publicUrl()}${resource}`,
          resource_name: 'Troupe',
          bearer_methods_supported: ['header'],
          scopes_supported: [...scopes],
          resource_documentation: `${publicUrl()}/docs`,
        }),
    });

  return [
    route({
      method: 'POST',
      path: '/mcp',
      summary: 'MCP: the tools of this service for other agents',
      description:
        'A Model Context Protocol server (Streamable HTTP, stateless), of revision 2026-07-28 and of those before. The body is one JSON-RPC message. Each tool call has the checks, scopes and limits of the endpoint that it stands for, and counts as one request; `tools/list` shows what the scopes allow. `Idempotency-Key`, or `idempotency_key` in the `_meta` of a call, holds as on that endpoint. A call of `run_task` is a task where the client takes part in the extension `io.modelcontextprotocol/tasks`.',
      scope: 'any',
      extension: true,
      // Errors of the endpoint that a call uses.
      idempotent: false,
      readsBody: true,
      forwards: true,
      servedWhenDiskFull: true,
      errors: [413, 415],
      responses: { 200: null, 202: null, 400: McpRefusal, 406: McpRefusal },
      contentTypes: { 200: ['application/json', 'text/event-stream'] },
      challenge: (variant) => `Bearer resource_metadata="${publicUrl()}${metadataPath}${variant === 'A' ? '/v1/mcp' : ''}"`,
      async handler({ request, principal, readBytes, forward, isStillValid }) {
        if (!isAllowedOrigin(request.header('origin'), publicUrl(), corsOrigins))
          throw new AppError('forbidden', 'Pages of this origin may not call this endpoint');
        if (!isJsonType(request.header('content-type'))) throw new AppError('unsupported_media_type', 'Send the body as application/json');
        const body = await readBytes(maxJsonBytes);
        return serving.serve(request, body, {
          principal,
          idempotencyKey: request.has('idempotency-key') ? request.header('idempotency-key') : null,
          forward,
          isStillValid,
          agentOfApproval: (approvalId) => agentOfApproval(database, principal.accountId, approvalId),
          calls: 0,
        });
      },
    }),
    metadata(metadataPath, '/mcp'),
    metadata(`${metadataPath}/mcp`, '/mcp'),
    metadata(`${metadataPath}/v1/mcp`, '/v1/mcp'),
  ];
}
