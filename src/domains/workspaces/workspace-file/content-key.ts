/** The file store's key of a version of a workspace's file. A key is used once, so content under it never changes. */

import { newId } from '../../../ids.ts';
import { workspacesIds } from '../ids.ts';

const wellFormed = /^(ws_[0-9a-z]{26})\/(wsf_[0-9a-z]{26})\/[0-9a-z]{26}$/;

/** A new key: `<workspace>/<file>/<ULID>`, which contains the account's slot. */
export function newContentKey(workspaceId: string, fileId: string, accountId: string): string {
  return `${workspaceId}/${fileId}/${newId(workspacesIds.file, accountId).slice(workspacesIds.file.length)}`;
}

/** The workspace and file of a key; null for a key of another form. */
export function ownersOf(key: string): { workspaceId: string; fileId: string } | null {
  const match = wellFormed.exec(key);
  return match === null ? null : { workspaceId: match[1]!, fileId: match[2]! };
}
