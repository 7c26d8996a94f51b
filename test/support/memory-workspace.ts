/** A task's workspace in memory, for tests of tools: names are checked and versions counted as the real one does. */

import { Readable } from 'node:stream';
import type { Authority } from '../../src/authority.ts';
import type { DirectedBy } from '../../src/domains/tasks/agent/messages.ts';
import type { ToolContext } from '../../src/domains/tasks/tools/port.ts';
import { checkFilePath, type WorkspaceAccess } from '../../src/domains/workspaces/contract.ts';
import { ToolError } from '../../src/errors.ts';

export type MemoryWorkspace = WorkspaceAccess & {
  files: Map<string, { content: Uint8Array; version: number }>;
  text(name: string): string;
};

export function memoryWorkspace(initial: Record<string, string | Uint8Array> = {}): MemoryWorkspace {
  const files = new Map<string, { content: Uint8Array; version: number }>();
  const put = (name: string, content: string | Uint8Array) => {
    if ('problem' in checkFilePath(name)) throw new ToolError(`"${name}" is not a file name`);
    const version = (files.get(name)?.version ?? 0) + 1;
    files.set(name, { content: typeof content === 'string' ? Buffer.from(content) : content, version });
    return { name, sizeBytes: Buffer.byteLength(content), version };
  };
  for (const [name, content] of Object.entries(initial)) put(name, content);
  return {
    files,
    text: (name) => Buffer.from(files.get(name)!.content).toString(),
    list: async () => [...files].map(([name, { content }]) => ({ name, type: 'text/plain', sizeBytes: content.length })),
    async open(name) {
      const file = files.get(name);
      if (!file) throw new ToolError(`There is no file "${name}"`);
      return { stream: Readable.from(pieces(file.content)), sizeBytes: file.content.length, type: 'text/plain' };
    },
    write: async (name, content) => put(name, content),
    keep: async (name, content) => put(name, content),
    hasReadUntrusted: () => false,
  };
}

/** Odd sizes, so that characters are cut between pieces. */
function* pieces(content: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += 30_001) yield content.subarray(at, at + 30_001);
}

export function toolContext(workspace: WorkspaceAccess, signal: AbortSignal = new AbortController().signal): ToolContext {
  return {
    accountId: 'acct_1',
    taskId: 'task_1',
    agentId: 'agnt_1',
    callId: 'call_1',
    isRepeat: false,
    slotOwner: null,
    authority: everything,
    signal,
    workspace,
    workspaceId: 'ws_1',
    mail: { send: async () => ({ detail: 'posted' }) },
    approvedBasis: null,
    releaseSlot() {},
  };
}

/** What the task of a person may do. */
export const everything: Authority = { mode: 'live', scopes: null, ownsWorkspace: true };

/** A user with a session. */
export const somebody: DirectedBy = { id: 'usr_1', via: 'session', mode: 'live', scopes: null };
