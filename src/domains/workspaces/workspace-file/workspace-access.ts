/** The task's workspace for an agent's tools: by file names, through the same actors as for all other callers. */
import { Readable } from 'node:stream';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Authority, missingScope, type Need, notAllowed, readingFiles, writingFiles } from '../../../authority.ts';
import { AppError, errorCodes, ToolError } from '../../../errors.ts';
import { agentFileType } from '../../../file-kinds.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { WorkspaceFile } from './entity.ts';
import { checkFilePath } from './file-name.ts';
import { openFile } from './open-file.ts';
import { storeFile } from './store-file.ts';

/** More names than this do not help an agent. */
const maxListed = 1_000;

export type WorkspaceAccessParts = { actors: ActorSystem; database: Database; files: FileStore };

/** The task's workspace for tools. Names may hold folders, `assets/app.css`; a bad name or a missing file is a `ToolError`. */
export interface WorkspaceAccess {
  list(): Promise<{ name: string; type: string; sizeBytes: number }[]>;
  /** A stream of the file's bytes; never the whole file in memory. */
  open(name: string): Promise<{ stream: NodeJS.ReadableStream; sizeBytes: number; type: string }>;
  /** Writes the whole file, as a new version if the name exists; it becomes a deliverable of the task. */
  write(name: string, content: string | Uint8Array): Promise<WrittenFile>;
  /** As `write`, but the file is no deliverable. */
  keep(name: string, content: string | Uint8Array): Promise<WrittenFile>;
  /** Whether a file has been opened whose writer had read text that others wrote. */
  hasReadUntrusted(): boolean;
}
export type WrittenFile = { name: string; sizeBytes: number; version: number };

/**
 * The tool call: written files are delivered for `taskId`, once for each `callId` and name. An action that `authority` does not allow is a
 * `ToolError`. With `holdsUntrusted`, or once it has read a file so marked, the files that it writes are marked.
 */
export type WorkspaceUser = {
  accountId: string;
  taskId: string;
  agentId: string;
  workspaceId: string;
  callId: string;
  authority: Authority;
  holdsUntrusted: boolean;
};

export function workspaceAccess(parts: WorkspaceAccessParts, user: WorkspaceUser): WorkspaceAccess {
  const { workspaceId, accountId, taskId, agentId, callId, authority } = user;
  let hasReadUntrusted = false;
  /** Names in the order of their first write, so that a repeated call numbers its writes in the same way. */
  const writes = new Map<string, number>();

  return {
    async list() {
      mustBeAllowed(authority, readingFiles, 'Listing the files of this workspace');
      const found = await parts.database.list(accountId, (em) =>
        em.find(WorkspaceFile, { workspaceId, status: 'present' }, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: maxListed }),
      );
      return found.map(({ name, type, sizeBytes }) => ({ name, type, sizeBytes }));
    },

    async open(path) {
      mustBeAllowed(authority, readingFiles, 'Reading a file of this workspace');
      const name = checkedName(path);
      const opened = await openFile(parts, workspaceId, name);
      if (opened === null) throw new ToolError(`There is no file named ${JSON.stringify(name)} in the workspace`);
      hasReadUntrusted ||= opened.file.holdsUntrusted;
      return { stream: opened.stream, sizeBytes: opened.file.sizeBytes, type: opened.file.type };
    },

    write: (path, content) => store(path, content, taskId),
    keep: (path, content) => store(path, content, null),
    hasReadUntrusted: () => hasReadUntrusted,
  };

  async function store(path: string, content: string | Uint8Array, deliverFor: string | null): Promise<WrittenFile> {
    mustBeAllowed(authority, writingFiles, 'Writing a file into this workspace');
    const name = checkedName(path);
    const nth = writes.get(name) ?? 0;
    writes.set(name, nth + 1);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const holdsUntrusted = user.holdsUntrusted || hasReadUntrusted;
    const file = { workspaceId, accountId, name, type: agentFileType(name), deliverFor, holdsUntrusted, declaredBytes: bytes.length };
    try {
      const row = await storeFile(
        parts,
        file,
        Readable.from(pieces(bytes), { objectMode: false }),
        `${agentId}/${callId}/write/${nth}/${name}`,
      );
      return { name: row.name, sizeBytes: row.sizeBytes, version: row.version };
    } catch (error) {
      if (error instanceof AppError && [402, 413].includes(errorCodes[error.code].http))
        throw new ToolError(error.message, { cause: error });
      throw error;
    }
  }
}

function mustBeAllowed(authority: Authority, need: Need, act: string): void {
  const scope = missingScope(authority, need);
  if (scope !== null) throw new ToolError(notAllowed(act, scope));
}

function checkedName(path: string): string {
  const checked = checkFilePath(path);
  if ('problem' in checked) throw new ToolError(`${checked.problem}: use a name such as report.md or assets/app.css`);
  return checked.name;
}

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  const pieceBytes = 64 * 1024;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
