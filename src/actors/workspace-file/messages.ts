/** What can be asked of a file of a workspace. */
import { derivedId, idPrefixes } from '../../ids.ts';
import type { WorkspaceFileRow } from '../../storage/entities/work.ts';
import { actorRef, type EffectResult } from '../runtime/define-actor.ts';

/** A content that is stored already and becomes the newest version. */
export type PutFile = {
  workspaceId: string;
  accountId: string;
  name: string;
  type: string;
  sizeBytes: number;
  sha256: string;
  contentKey: string;
  /** The task whose agent wrote it, and which is told of the deliverable; null for an upload. */
  deliverFor: string | null;
};

/** What came of removing a content; `again`: it was still needed or the store was away, so that a later look makes sense. */
export type RemovalResult = { contentKey: string; again: boolean };

export type WorkspaceFileContract = {
  commands: {
    /** The first version, or the next one of the same file, also after it was deleted. The same content key again changes nothing. */
    put(input: PutFile): WorkspaceFileRow;
    /** For good. Refused with `not_found` where there is no such file. */
    remove(input: null): null;
    contentRemoved(input: EffectResult<RemovalResult>): null;
    /** Looks a second time whether a content that was still needed can go. */
    removeAgain(input: { contentKey: string }): null;
  };
  queries: {
    /** Null where there is no such file, or no longer. */
    describe(input: null): WorkspaceFileRow | null;
  };
};

export const workspaceFile = actorRef<WorkspaceFileContract>('workspace_file');

/** A name within a workspace always has the same id, so all who write it meet at one actor. */
export function workspaceFileId(workspaceId: string, name: string): string {
  return derivedId(idPrefixes.file, workspaceId, name);
}
