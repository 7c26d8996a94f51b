/**
 * Which tools of a server agents may use. Each is approved by the hash of its name, description and input schema, so that a server cannot change what a
 * person has seen.
 *
 * P1 A tool is offered only with the hash that was approved.
 * P2 A tool is never less watched than when it was approved: `readOnly` holds only if it held then too.
 */
import { createHash } from 'node:crypto';

/** A tool as the server lists it now. */
export type FoundTool = {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown> | null;
  /** The server says that it changes nothing. */
  readOnly: boolean;
};

export type PinnedTool = FoundTool & {
  hash: string;
  /** null: it was never approved. */
  approvedHash: string | null;
  /** What the server said of it when it was approved. */
  approvedReadOnly: boolean;
  /** Whether the server lists it now. */
  listed: boolean;
};

export type PinStatus = 'approved' | 'changed' | 'new' | 'removed';

/** What differs between two lists, by the server's own names. */
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

/** The tools of a server that was named just now: all approved. */
export function firstPins(found: readonly FoundTool[]): PinnedTool[] {
  return merge([], found).tools.map(approved);
}

/** The tools after the server was asked again. Removed ones stay known, so that they need approval only if they come back changed. */
export function merge(before: readonly PinnedTool[], found: readonly FoundTool[]): { tools: PinnedTool[]; changes: PinChanges } {
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const changes: PinChanges = { changed: [], added: [], removed: [] };
  const listed = new Map<string, PinnedTool>();
  for (const tool of found) {
    if (listed.has(tool.name)) continue;
    const hash = hashOf(tool);
    const earlier = known.get(tool.name);
    if (earlier === undefined || !earlier.listed) changes.added.push(tool.name);
    else if (earlier.hash !== hash) changes.changed.push(tool.name);
    const { approvedHash = null, approvedReadOnly = false } = earlier ?? {};
    listed.set(tool.name, { ...tool, hash, approvedHash, approvedReadOnly, listed: true });
  }
  const gone = before.filter(({ name }) => !listed.has(name));
  changes.removed.push(...gone.filter((tool) => tool.listed).map(({ name }) => name));
  const kept = gone.filter(({ approvedHash }) => approvedHash !== null).slice(0, mostRemoved);
  return { tools: [...listed.values(), ...kept.map((tool) => ({ ...tool, listed: false }))], changes };
}

/** Approves tools by the hash that a person saw; null: one of them is not there with this hash. */
export function approve(tools: readonly PinnedTool[], asked: readonly { name: string; hash: string }[]): PinnedTool[] | null {
  const hashes = new Map(asked.map(({ name, hash }) => [name, hash]));
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

/** The name that models see, at most 64 characters: a longer one ends with a hash of the whole. */
export function toolNameOf(server: string, tool: string): string {
  const plain = `mcp_${server}_${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  const isExact = plain.length <= longestName && plain.endsWith(tool);
  if (isExact) return plain;
  const suffix = `_${createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 8)}`;
  return `${plain.slice(0, longestName - suffix.length)}${suffix}`;
}

const longestName = 64;
const mostRemoved = 200;

function approved(tool: PinnedTool): PinnedTool {
  return { ...tool, approvedHash: tool.hash, approvedReadOnly: tool.readOnly };
}

/** The order of an object's fields says nothing. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, inOrder(inner)]),
  );
}
