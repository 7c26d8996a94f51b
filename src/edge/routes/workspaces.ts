/** Workspaces: creating, listing and looking at them. Their files are in `workspace-files.ts`. */
import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../actors/runtime/actor-system.ts';
import { workspace } from '../../actors/workspace/messages.ts';
import { workspaceName, workspaceNameId } from '../../actors/workspace-name/messages.ts';
import { isoTimestamp } from '../../clock.ts';
import { AppError, invalidField } from '../../errors.ts';
import { idPrefixes } from '../../ids.ts';
import type { Database } from '../../storage/database.ts';
import { Workspace, type WorkspaceRow } from '../../storage/entities/work.ts';
import type { FileStore } from '../../storage/files.ts';
import type { Principal } from '../auth/principal.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { commandIds } from '../idempotency.ts';
import { answer } from './answer.ts';
import type { DownloadLinks } from './download-link.ts';
import { PageQuery, totalCount } from './page.ts';
import { workspaceFileRoutes } from './workspace-files.ts';

export type WorkspaceRoutesParts = { actors: ActorSystem; database: Database; files: FileStore; links: DownloadLinks };

const WorkspaceView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    storage_path: Type.String(),
    status: Type.Literal('active'),
    file_count: Type.Integer(),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Workspace' },
);

const NewWorkspace = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Unique within the account' }),
  description: Type.Optional(Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()])),
});

export function workspaceRoutes(parts: WorkspaceRoutesParts): AnyRoute[] {
  const { actors, database } = parts;
  return [
    route({
      method: 'POST',
      path: '/workspaces',
      summary: 'Create a workspace',
      scope: 'workspaces.write',
      body: NewWorkspace,
      responses: { 201: WorkspaceView },
      errors: [409],
      async handler(context) {
        const { principal, body } = context;
        const name = checkedName(body.name);
        const { id: workspaceId, commandId } = commandIds(context, idPrefixes.workspace);
        const { accountId } = principal;
        const input = { workspaceId, accountId, name, description: body.description ?? null };
        const created = await actors.ask(workspaceName, workspaceNameId(accountId, name), 'create', input, { commandId });
        return answer(201, viewOf(created));
      },
    }),
    route({
      method: 'GET',
      path: '/workspaces',
      summary: 'List workspaces, newest first',
      scope: 'workspaces.read',
      query: PageQuery,
      responses: { 200: Type.Array(WorkspaceView) },
      async handler({ principal, query: { limit, offset } }) {
        const order = { createdAt: 'desc', id: 'desc' } as const;
        const [rows, total] = await database.list((em) =>
          em.findAndCount(Workspace, { accountId: principal.accountId }, { orderBy: order, limit, offset, disableIdentityMap: true }),
        );
        return answer(200, rows.map(viewOf), totalCount(total));
      },
    }),
    route({
      method: 'GET',
      path: '/workspaces/{id}',
      summary: 'Get a workspace',
      scope: 'workspaces.read',
      responses: { 200: WorkspaceView },
      handler: async ({ principal, params }) => answer(200, viewOf(await ownWorkspace(actors, principal, params.id))),
    }),
    ...workspaceFileRoutes(parts),
  ];
}

/** The workspace, if it is the caller's. Rejects `not_found`. */
export async function ownWorkspace(actors: ActorSystem, principal: Principal, id: string): Promise<WorkspaceRow> {
  const found = await actors.query(workspace, id, 'describe', null);
  if (found === null || found.accountId !== principal.accountId) throw new AppError('not_found', 'Workspace not found');
  return found;
}

function checkedName(raw: string): string {
  const name = raw.normalize('NFC').trim();
  if (name === '') throw invalidField(['body', 'name'], 'The name must not be blank', 'string_too_short', raw);
  if (!name.isWellFormed() || /\p{Cc}/u.test(name))
    throw invalidField(['body', 'name'], 'The name must not hold control characters', 'value_error');
  return name;
}

function viewOf(row: WorkspaceRow): Static<typeof WorkspaceView> {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? null,
    storage_path: `workspaces/${row.id}`,
    status: row.status,
    file_count: row.fileCount,
    created_at: isoTimestamp(row.createdAt),
  };
}
