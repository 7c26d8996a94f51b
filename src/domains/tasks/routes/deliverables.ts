/** Deliverables of tasks: the files their agents wrote, each with the content of its last write. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { sendFile } from '../../../edge/http/download.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { PageQuery, totalCount } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { baseName, type DownloadLinks, linkAdvice } from '../../workspaces/contract.ts';
import { Deliverable, type DeliverableRow, Task } from '../task/entity.ts';

const DeliverableView = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: 'Original file name' }),
    type: Type.String({ description: 'MIME type' }),
    size_bytes: Type.Integer(),
    download_url: Type.String({ description: 'Usable for an hour without an Authorization header' }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Deliverable' },
);

export function deliverableRoutes({ database, files, links }: { database: Database; files: FileStore; links: DownloadLinks }): AnyRoute[] {
  async function viewOf(row: DeliverableRow, principal: Principal): Promise<Static<typeof DeliverableView>> {
    return {
      id: row.id,
      name: row.name,
      type: row.type,
      size_bytes: row.sizeBytes,
      download_url: await links.to(`/tasks/${row.taskId}/deliverables/${row.id}/download`, principal, 'tasks.read'),
      created_at: isoTimestamp(row.createdAt),
    };
  }

  async function find({ id, file_id: fileId }: { id: string; file_id: string }, { accountId }: Principal): Promise<DeliverableRow> {
    const row = await database.list(accountId, (em) => em.findOne(Deliverable, { id: fileId, taskId: id, accountId }));
    if (row === null) throw new AppError('not_found', 'Deliverable not found');
    return row;
  }

  return [
    route({
      method: 'GET',
      path: '/tasks/{id}/deliverables',
      summary: 'List the deliverables of a task, newest first',
      scope: 'tasks.read',
      query: PageQuery,
      responses: { 200: Type.Array(DeliverableView) },
      async handler({ principal, params, query: { limit, offset } }) {
        const { accountId } = principal;
        const order = { createdAt: 'desc', id: 'desc' } as const;
        const [rows, total] = await database.list(accountId, async (em) => {
          if ((await em.count(Task, { id: params.id, accountId })) === 0) throw new AppError('not_found', 'Task not found');
          const where = { taskId: params.id, accountId };
          return em.findAndCount(Deliverable, where, { orderBy: order, limit, offset, disableIdentityMap: true });
        });
        const views = await Promise.all(rows.map((row) => viewOf(row, principal)));
        return answer(200, views, totalCount(total));
      },
    }),
    route({
      method: 'GET',
      path: '/tasks/{id}/deliverables/{file_id}',
      summary: 'Get a deliverable',
      scope: 'tasks.read',
      extension: true,
      responses: { 200: DeliverableView },
      async handler({ principal, params }) {
        return answer(200, await viewOf(await find(params, principal), principal));
      },
    }),
    route({
      method: 'GET',
      path: '/tasks/{id}/deliverables/{file_id}/download',
      summary: 'Download a deliverable',
      advice: linkAdvice,
      scope: 'tasks.read',
      description: 'The content as an attachment, with its own content type. Supports `Range`. A `download_url` needs no token.',
      errors: [412, 416],
      responses: { 200: null, 206: null, 304: null },
      contentTypes: { 200: '*/*', 206: '*/*' },
      async handler({ principal, params, request }) {
        const { contentKey: key, sizeBytes, sha256, name, type } = await find(params, principal);
        return sendFile(request, files, { key, sizeBytes, sha256, fileName: baseName(name), type });
      },
    }),
  ];
}
