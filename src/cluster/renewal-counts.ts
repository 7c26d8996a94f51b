/** How often each member has renewed its lease, as this node has heard, and since when it has known. */

export type Renewals = { count: number /** Monotonic. */; seenAtMs: number };

export class RenewalCounts {
  private readonly seen = new Map<string, Renewals>();

  of(incarnation: string): Renewals | null {
    return this.seen.get(incarnation) ?? null;
  }

  /** A count that is told again, by a node that had seen less, is no renewal. */
  learn(counts: readonly (readonly [string, number])[], nowMs: number): void {
    for (const [incarnation, count] of counts) {
      if (count > (this.seen.get(incarnation)?.count ?? -1)) this.seen.set(incarnation, { count, seenAtMs: nowMs });
    }
  }

  /** Forgets who is none of these. */
  keep(members: ReadonlyMap<string, unknown>): void {
    for (const incarnation of this.seen.keys()) if (!members.has(incarnation)) this.seen.delete(incarnation);
  }
}
