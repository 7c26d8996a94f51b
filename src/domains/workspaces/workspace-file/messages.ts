/** Commands and queries of a file of a workspace. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import { derivedId } from '../../../ids.ts';
import { workspacesIds } from '../ids.ts';
import type { WorkspaceFileRow } from './entity.ts';
import type { Removal } from './workspace-file.ts';

/** A stored content that becomes the newest version. */
export type PutFile = {
  workspaceId: string;
  accountId: string;
  name: string;
  type: string;
  sizeBytes: number;
  sha256: string;
  contentKey: string;
  /** The task whose agent wrote it, which is sent the deliverable; null for an upload. */
  deliverFor: string | null;
  /** The writer is an agent that has read text that others wrote; false: the content is a user's own. Earlier versions do not send it. */
  holdsUntrusted?: boolean;
};

/** The result of removing a content; `again`: it was still needed or the store did not answer, so it is retried later. */
export type RemovalResult = { contentKey: string; again: boolean };

export type WorkspaceFileContract = {
  commands: {
    /**
     * The next version of the file, or, if there is none or it was deleted, the first version of a new file. The same content key again
     * changes nothing.
     */
    put(input: PutFile): WorkspaceFileRow;
    /** Permanent. Refused with `not_found` if there is no such file, or another file has its name by now. */
    remove(input: { fileId: string } | null): null;
    contentRemoved(input: EffectResult<RemovalResult>): null;
    /** Checks once more whether a content that was still needed can be removed. */
    removeAgain(input: { contentKey: string }): null;
  };
  queries: {
    /** Null if there is no such file, or it was deleted. */
    describe(input: null): WorkspaceFileRow | null;
  };
  effects: {
    removeContent(input: Removal): RemovalResult;
  };
};

export const workspaceFile = actorRef<WorkspaceFileContract>('workspace_file');

/**
 * The id of the actor of a name within a workspace: always the same, in every version, so all writers of the name use one actor. It has no
 * slot, because nodes of the previous version, which may be asked for the same name, use it without one.
 */
export function workspaceFileId(workspaceId: string, name: string): string {
  return derivedId(workspacesIds.file, null, workspaceId, name);
}

/** The file's id for callers. The first file of a name that an earlier version made has its actor's id. */
export function publicFileId({ fileId, id }: Pick<WorkspaceFileRow, 'fileId' | 'id'>): string {
  return fileId ?? id;
}
