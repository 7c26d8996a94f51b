/**
 * Which tools of a server agents may use. Each is approved by the hash of its name, description and input schema, so that a server cannot change what a
 * person has seen.
 *
 * P1 A tool is offered only with the hash that was approved.
 * P2 A tool never needs less approval than when it was approved: `readOnly` holds only if it held then too.
 * P3 Tools of one account have different names for models, and a tool keeps its name.
 */
import { createHash } from 'node:crypto';
import { freeToolName, type NamesInUse, noNames, toolNameOf } from './tool-names.ts';

/** A tool as the server lists it now. */
export type FoundTool = {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown> | null;
  /** The server says that it changes nothing. */
  readOnly: boolean;
  /** `hashOf` the tool as the server lists it, where `description` has masked secrets. Absent: nothing was masked. */
  hash?: string;
};

export type PinnedTool = FoundTool & {
  /** The name that models see, as it was when the tool was first listed. Absent in rows that an earlier version wrote: `shownName`. */
  toolName?: string;
  hash: string;
  /** null: it was never approved. */
  approvedHash: string | null;
  /** The server's description at the time of approval. */
  approvedReadOnly: boolean;
  /** Whether the server lists it now. */
  listed: boolean;
};

export type PinStatus = 'approved' | 'changed' | 'new' | 'removed';

/** The fields of a server that the names of its tools depend on. */
export type NamedServer = { name: string; namesInUse?: NamesInUse | undefined };

/** The differences between two lists, by the server's own names. */
export type PinChanges = { changed: string[]; added: string[]; removed: string[] };

export function pinStatus({ hash, approvedHash, listed }: PinnedTool): PinStatus {
  if (!listed) return 'removed';
  if (approvedHash === null) return 'new';
  return approvedHash === hash ? 'approved' : 'changed';
}

/** Whether it may be called without a person's approval of the call. */
export function isReadOnly({ readOnly, approvedReadOnly }: PinnedTool): boolean {
  return readOnly && approvedReadOnly;
}

/** The name that models see. */
export function shownName(server: string, tool: Pick<PinnedTool, 'name' | 'toolName'>): string {
  return tool.toolName ?? toolNameOf(server, tool.name);
}

/** The tools of a server that was just connected: all approved. */
export function firstPins(found: readonly FoundTool[], server: NamedServer): PinnedTool[] {
  return merge([], found, server).tools.map(approved);
}

/** The tools after another list request. Removed ones stay known, so that they need approval only if they come back changed. */
export function merge(
  before: readonly PinnedTool[],
  found: readonly FoundTool[],
  server: NamedServer,
): { tools: PinnedTool[]; changes: PinChanges } {
  const names = namesOf(before, server);
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const changes: PinChanges = { changed: [], added: [], removed: [] };
  const listed = new Map<string, PinnedTool>();
  for (const tool of found) {
    if (listed.has(tool.name)) continue;
    const { hash = hashOf(tool) } = tool;
    const earlier = known.get(tool.name);
    if (earlier === undefined || !earlier.listed) changes.added.push(tool.name);
    else if (earlier.hash !== hash) changes.changed.push(tool.name);
    const { approvedHash = null, approvedReadOnly = false } = earlier ?? {};
    listed.set(tool.name, { ...tool, toolName: names(tool.name), hash, approvedHash, approvedReadOnly, listed: true });
  }
  const gone = before.filter(({ name }) => !listed.has(name));
  changes.removed.push(...gone.filter((tool) => tool.listed).map(({ name }) => name));
  const kept = gone.filter(({ approvedHash }) => approvedHash !== null).slice(0, maxRemoved);
  return { tools: [...listed.values(), ...kept.map((tool) => ({ ...tool, toolName: names(tool.name), listed: false }))], changes };
}

/** Approves tools by the hash that a person saw; null: a tool with this hash does not exist. */
export function approve(tools: readonly PinnedTool[], approvals: readonly { name: string; hash: string }[]): PinnedTool[] | null {
  const hashes = new Map(approvals.map(({ name, hash }) => [name, hash]));
  const present = tools.filter(({ name, hash, listed }) => listed && hashes.get(name) === hash);
  if (present.length !== hashes.size) return null;
  return tools.map((tool) => (hashes.has(tool.name) ? approved(tool) : tool));
}

export function isSameList({ changed, added, removed }: PinChanges): boolean {
  return changed.length + added.length + removed.length === 0;
}

export function hashOf({ name, description, inputSchema }: Pick<FoundTool, 'name' | 'description' | 'inputSchema'>): string {
  return createHash('sha256')
    .update(JSON.stringify([name, description, inOrder(inputSchema)]))
    .digest('hex');
}

const maxRemoved = 200;

/** Known tools keep their names, unless a server that was connected earlier uses the same. */
function namesOf(before: readonly PinnedTool[], { name: server, namesInUse = noNames }: NamedServer): (tool: string) => string {
  const [others, older] = [new Set(namesInUse.all), new Set(namesInUse.older)];
  const own = new Map<string, string>();
  const taken = new Set<string>();
  for (const tool of before) {
    const name = shownName(server, tool);
    if (older.has(name) || taken.has(name)) continue;
    own.set(tool.name, name);
    taken.add(name);
  }
  return (tool) => {
    const name = own.get(tool) ?? freeToolName(server, tool, (one) => others.has(one) || taken.has(one));
    own.set(tool, name);
    taken.add(name);
    return name;
  };
}

function approved(tool: PinnedTool): PinnedTool {
  return { ...tool, approvedHash: tool.hash, approvedReadOnly: tool.readOnly };
}

/** The order of an object's fields has no meaning. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, inOrder(inner)]),
  );
}
