/**
 * What an owner's connections are called in the database, so that others can tell whose they are. The database cuts names off at 63 bytes:
 * what makes an incarnation unlike any other stands first, its node's name after it, for people.
 */
const maxBytes = 63;

/** @param owner an incarnation, `NAME/unique` */
export function connectionName(use: 'commit' | 'node' | 'shards', owner: string): string {
  const at = owner.lastIndexOf('/');
  return `troupe ${use} ${owner.slice(at + 1)} ${owner.slice(0, Math.max(0, at))}`.slice(0, maxBytes);
}
