/**
 * Names of an owner's database connections, by which others recognise the owner. The database truncates names at 63 bytes: the unique part
 * of an incarnation comes first, the node's name, for people, after it.
 */
const maxBytes = 63;

/** @param owner an incarnation, `NAME/unique` */
export function connectionName(use: 'commit' | 'node' | 'shards', owner: string): string {
  const at = owner.lastIndexOf('/');
  return `troupe ${use} ${owner.slice(at + 1)} ${owner.slice(0, Math.max(0, at))}`.slice(0, maxBytes);
}
