/** The known renewal count of each member, and when this node first saw it. */

export type Renewals = { count: number /** Monotonic. */; seenAtMs: number };

export class RenewalCounts {
  private readonly seen = new Map<string, Renewals>();

  of(incarnation: string): Renewals | null {
    return this.seen.get(incarnation) ?? null;
  }

  /** A count that is not larger than the known one is not a renewal. */
  record(counts: readonly (readonly [string, number])[], nowMs: number): void {
    for (const [incarnation, count] of counts) {
      if (count > (this.seen.get(incarnation)?.count ?? -1)) this.seen.set(incarnation, { count, seenAtMs: nowMs });
    }
  }

  /** Removes the counts of all others. */
  retain(members: ReadonlyMap<string, unknown>): void {
    for (const incarnation of this.seen.keys()) if (!members.has(incarnation)) this.seen.delete(incarnation);
  }
}
