/** Workspaces: creating, listing and reading them. Their files are in `workspace-files.ts`. */

import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { isoTimestamp } from '../../../clock.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { PageQuery, totalCount } from '../../../edge/routes/page.ts';
import { invalidField } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { workspacesIds } from '../ids.ts';
import { ownWorkspace } from '../own-workspace.ts';
import { Workspace, type WorkspaceRow } from '../workspace/entity.ts';
import { workspaceName, workspaceNameId } from '../workspace-name/messages.ts';
import type { DownloadLinks } from './download-link.ts';
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
        const { id: workspaceId, commandId } = commandIds(context, workspacesIds.workspace);
        const { accountId } = principal;
        const input = { workspaceId, accountId, name, description: body.description ?? null };
        const created = await actors.ask(workspaceName, workspaceNameId(accountId, name), 'create', input, { commandId });
        return answer(201, viewOf(created, 0));
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
        const [rows, total] = await database.listPage(
          principal.accountId,
          Workspace,
          { accountId: principal.accountId },
          { limit, offset },
        );
        const counts = await fileCounts(
          database,
          rows.map(({ id }) => id),
        );
        return answer(
          200,
          rows.map((row) => viewOf(row, counts.get(row.id) ?? 0)),
          totalCount(total),
        );
      },
    }),
    route({
      method: 'GET',
      path: '/workspaces/{id}',
      summary: 'Get a workspace',
      scope: 'workspaces.read',
      responses: { 200: WorkspaceView },
      async handler({ principal, params }) {
        const row = await ownWorkspace(actors, principal, params.id);
        return answer(200, viewOf(row, (await fileCounts(database, [row.id])).get(row.id) ?? 0));
      },
    }),
    ...workspaceFileRoutes(parts),
  ];
}

/** Counted per request: correct as soon as an upload or a deletion is acknowledged. */
async function fileCounts(database: Database, workspaceIds: string[]): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map();
  const { rows } = await database.read({
    name: 'file_counts',
    text: `select workspace_id, count(*)::int as count from workspace_file where workspace_id = any($1) and status = 'present' group by workspace_id`,
    values: [workspaceIds],
  });
  return new Map(rows.map(({ workspace_id, count }: { workspace_id: string; count: number }) => [workspace_id, count]));
}

function checkedName(raw: string): string {
  const name = raw.normalize('NFC').trim();
  if (name === '') throw invalidField(['body', 'name'], 'The name must not be blank', 'string_too_short', raw);
  if (!name.isWellFormed() || /\p{Cc}/u.test(name))
    throw invalidField(['body', 'name'], 'The name must not hold control characters', 'value_error');
  return name;
}

function viewOf(row: WorkspaceRow, fileCount: number): Static<typeof WorkspaceView> {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? null,
    storage_path: `workspaces/${row.id}`,
    status: row.status,
    file_count: fileCount,
    created_at: isoTimestamp(row.createdAt),
  };
}
