/** A node in its form for other nodes, and the numbered view of all nodes. */

export type Role = 'edge' | 'actors';

export type Member = {
  /** New with every start of a process, never used twice: `NODE_NAME/uuid`. The column `owner` in the database contains it. */
  readonly incarnation: string;
  readonly name: string;
  /** Address of its gRPC server. */
  readonly host: string;
  readonly port: number;
  readonly roles: readonly Role[];
  /** The node is leaving: it hands over its shards and is assigned none. */
  readonly leaving: boolean;
  /** By its own wall clock. Absent: an older version. */
  readonly startedAtMs?: number;
  /** Incarnations of members that it cannot reach. Absent: none. */
  readonly unreachable?: readonly string[];
  /** It does not reach the database, or only one that refuses writes. Absent: it can commit, or its version does not report it. */
  readonly cannotCommit?: true;
};

/** The live nodes, sorted by incarnation. Each change creates a new view with a larger number. */
export type View = { readonly number: number; readonly members: readonly Member[] };

/** Whether shards can be planned onto this member. */
export function canOwn(member: Member): boolean {
  return member.roles.includes('actors') && !member.leaving;
}
