/** A node as the others know it, and the numbered view of all of them. */

export type Role = 'edge' | 'actors';

export type Member = {
  /** New with every start of a process, never used twice: `NODE_NAME/uuid`. It is what `owner` in the database says. */
  readonly incarnation: string;
  readonly name: string;
  /** Where its gRPC is reached. */
  readonly host: string;
  readonly port: number;
  readonly roles: readonly Role[];
  /** It is on its way out: it gives its shards away and is given none. */
  readonly leaving: boolean;
  /** By its own wall clock. Absent: a version before this one. */
  readonly startedAtMs?: number;
  /** Incarnations of members that it cannot reach. Absent: none. */
  readonly unheard?: readonly string[];
  /** It does not reach the database, or only one that takes no writes. Absent: it can commit, or its version does not report it. */
  readonly cannotCommit?: true;
};

/** The live nodes, sorted by incarnation. Each change of them makes a new view with a larger number. */
export type View = { readonly number: number; readonly members: readonly Member[] };

/** Whether shards can be planned onto this member. */
export function canOwn(member: Member): boolean {
  return member.roles.includes('actors') && !member.leaving;
}
