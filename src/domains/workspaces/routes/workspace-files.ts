/** Files of a workspace: upload, list, download, delete. A file is named by its id or its name. */

import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { sendFile } from '../../../edge/http/download.ts';
import type { HttpRequest } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { PageQuery, totalCount } from '../../../edge/routes/page.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { allowedKinds, baseName, extensionOf, type FileKind, uploadKind } from '../../../file-kinds.ts';
import { workspacesIds } from '../ids.ts';
import { ownWorkspace } from '../own-workspace.ts';
import { CheckedContent, wrongKind } from '../workspace-file/content-check.ts';
import { WorkspaceFile, type WorkspaceFileRow } from '../workspace-file/entity.ts';
import { checkFileName, checkFilePath } from '../workspace-file/file-name.ts';
import { findFile } from '../workspace-file/find-file.ts';
import { publicFileId, workspaceFile, workspaceFileId } from '../workspace-file/messages.ts';
import { whileCurrent } from '../workspace-file/open-file.ts';
import { maxArchiveFiles, storeArchive } from '../workspace-file/store-archive.ts';
import { type LateName, storeFile } from '../workspace-file/store-file.ts';
import { untilFreed } from '../workspace-file/until-freed.ts';
import { linkAdvice } from './download-link.ts';
import type { WorkspaceRoutesParts } from './workspaces.ts';

const FileView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    filename: Type.String(),
    type: Type.String({ description: 'MIME type' }),
    mime_type: Type.String(),
    size_bytes: Type.Integer(),
    size: Type.Integer(),
    version: Type.Integer(),
    download_url: Type.String({ description: 'Usable for an hour without an Authorization header' }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'File' },
);

const FileList = Type.Union([Type.Array(FileView), Type.Object({ files: Type.Array(FileView), total: Type.Integer() })], {
  description: 'An array under /v1; an object without the prefix',
});

export function workspaceFileRoutes(parts: WorkspaceRoutesParts): AnyRoute[] {
  const { actors, database, files, links } = parts;

  async function viewOf(row: WorkspaceFileRow, principal: Principal): Promise<Static<typeof FileView>> {
    return {
      id: publicFileId(row),
      name: row.name,
      filename: row.name,
      type: row.type,
      mime_type: row.type,
      size_bytes: row.sizeBytes,
      size: row.sizeBytes,
      version: row.version,
      download_url: await links.to(`/workspaces/${row.workspaceId}/files/${publicFileId(row)}`, principal, 'workspaces.read'),
      created_at: isoTimestamp(row.createdAt),
    };
  }

  /** By id if `file` is an id in this workspace, otherwise by name. */
  async function find(workspaceId: string, file: string): Promise<WorkspaceFileRow | null> {
    const byId = await findFile(parts, file);
    if (byId?.workspaceId === workspaceId) return byId;
    const checked = checkFilePath(file);
    return 'problem' in checked ? null : actors.query(workspaceFile, workspaceFileId(workspaceId, checked.name), 'describe', null);
  }

  return [
    route({
      method: 'POST',
      path: '/workspaces/{id}/files',
      summary: 'Upload a file',
      description: `Taken are ${allowedKinds}, at most 52,428,800 bytes. A name that is there already gets its next version. The field \`path\` names the file with folders: \`assets/app.css\`.`,
      scope: 'workspaces.write',
      body: 'multipart',
      errors: [402],
      responses: { 201: FileView },
      async handler(context) {
        const { principal, params, request } = context;
        const { commandId } = commandIds(context, workspacesIds.file);
        const row = await context.receiveFile(async ({ name: sentName, path, content }) => {
          const earlyPath = path();
          const sent = uploadName(sentName);
          const name = earlyPath === null ? sent : uploadPath(earlyPath);
          const kind = uploadKind(name);
          // Forms call a content without a name `blob`: the path that follows decides.
          const mayBeNamedLater = earlyPath === null && extensionOf(name) === '';
          if (kind === null && !mayBeNamedLater) throw wrongKind();
          const { id: workspaceId, accountId } = await ownWorkspace(actors, principal, params.id);
          const lateName = () => lateNameOf(earlyPath === null ? path() : null, kind);
          const file = {
            workspaceId,
            accountId,
            name,
            type: kind?.type ?? '',
            deliverFor: null,
            declaredBytes: declaredBytes(request),
            lateName,
          };
          return storeFile(parts, file, kind === null ? content : CheckedContent.of(content, kind), commandId);
        });
        return answer(201, await viewOf(row, principal));
      },
    }),
    route({
      method: 'POST',
      path: '/workspaces/{id}/archives',
      summary: 'Upload several files at once',
      description:
        `\`file\` is a tar archive of at most 52,428,800 bytes and ${maxArchiveFiles.toLocaleString('en-US')} files, not compressed: \`tar -C DIR -cf - . | curl -F "file=@-;filename=site.tar" …\`. ` +
        'Names keep their folders; each name that is there already gets its next version. All files are checked before the first one is stored, and count as one request.',
      extension: true,
      scope: 'workspaces.write',
      body: 'multipart',
      errors: [402],
      responses: { 201: Type.Object({ files: Type.Integer(), bytes: Type.Integer() }) },
      async handler(context) {
        const { principal, params, request } = context;
        const { commandId } = commandIds(context, workspacesIds.file);
        const stored = await context.receiveFile(async ({ content }) => {
          const { id: workspaceId, accountId } = await ownWorkspace(actors, principal, params.id);
          return storeArchive(parts, { workspaceId, accountId, declaredBytes: declaredBytes(request) }, content, commandId);
        });
        return answer(201, stored);
      },
    }),
    route({
      method: 'GET',
      path: '/workspaces/{id}/files',
      summary: 'List files, newest first',
      scope: 'workspaces.read',
      query: PageQuery,
      responses: { 200: FileList },
      async handler({ principal, params, query: { limit, offset }, variant }) {
        const { id: workspaceId } = await ownWorkspace(actors, principal, params.id);
        const [rows, total] = await database.listPage(
          principal.accountId,
          WorkspaceFile,
          { workspaceId, status: 'present' },
          { limit, offset },
        );
        const views = await Promise.all(rows.map((row) => viewOf(row, principal)));
        return answer(200, variant === 'A' ? views : { files: views, total }, totalCount(total));
      },
    }),
    route({
      method: 'GET',
      path: '/workspaces/{id}/files/{file}',
      summary: 'Download a file, by name (folders with %2F) or id',
      advice: linkAdvice,
      scope: 'workspaces.read',
      description:
        'Returns the content as an attachment, with its own content type, or a redirect to it. Supports `Range`, `If-None-Match` and `If-Match` with the `ETag`; `If-Unmodified-Since` is ignored. A `download_url` needs no token.',
      errors: [412, 416],
      responses: { 200: null, 206: null, 302: null, 304: null },
      contentTypes: { 200: '*/*', 206: '*/*' },
      async handler({ principal, params, request }) {
        const { id: workspaceId } = await ownWorkspace(actors, principal, params.id);
        const response = await whileCurrent(
          () => find(workspaceId, params.file),
          ({ contentKey, sizeBytes, sha256, name, type }) =>
            sendFile(request, files, { key: contentKey, sizeBytes, sha256, fileName: baseName(name), type }, true),
        );
        return response ?? fileNotFound();
      },
    }),
    route({
      method: 'DELETE',
      path: '/workspaces/{id}/files/{file}',
      summary: 'Delete a file permanently, by name (folders with %2F) or id',
      scope: 'workspaces.write',
      responses: { 204: null },
      async handler({ principal, params }) {
        const { id: workspaceId } = await ownWorkspace(actors, principal, params.id);
        const found = await find(workspaceId, params.file);
        if (found === null) return fileNotFound();
        await actors.ask(workspaceFile, found.id, 'remove', { fileId: publicFileId(found) });
        await untilFreed(database, found);
        return { status: 204 as const };
      },
    }),
  ];
}

/** Upper bound of the multipart form around the file. */
const formBytes = 8 * 1024;

function declaredBytes(request: HttpRequest): number {
  return Math.max(0, (Number(request.header('content-length')) || 0) - formBytes);
}

function uploadName(sent: string): string {
  const checked = checkFileName(sent);
  if ('problem' in checked) throw invalidField(['body', 'file'], checked.problem, 'value_error', sent.slice(0, 200).toWellFormed());
  return checked.name;
}

function uploadPath(sent: string): string {
  const checked = checkFilePath(sent);
  if ('problem' in checked) throw invalidField(['body', 'path'], checked.problem, 'value_error', sent.slice(0, 200).toWellFormed());
  return checked.name;
}

/** @param kind of the name that the content was sent with */
function lateNameOf(path: string | null, kind: FileKind | null): LateName | null {
  if (path === null && kind !== null) return null;
  const name = path === null ? '' : uploadPath(path);
  const lateKind = uploadKind(name);
  if (lateKind === null) throw wrongKind();
  return { name, type: lateKind.type, checked: (content) => CheckedContent.of(content, lateKind) };
}

function fileNotFound(): never {
  throw new AppError('not_found', 'File not found');
}
