/**
 * Orders that the broker accepted and now does not have: neither its list nor a query by its id shows them. A broker may list an order late,
 * so an order is queried again, after growing pauses. The memory may be lost: then it is counted from the next absence.
 */
export type ForgottenTiming = {
  /** The first pause between two queries of an order. */
  pollMs: number;
  /** The longest pause. */
  reconcileMs: number;
  /** An order must be absent for this long, before it is certain that the broker does not show it late. */
  lookUpMs: number;
};

export class ForgottenOrders {
  private readonly timing: ForgottenTiming;
  /** By the broker's id. */
  private readonly absent = new Map<string, { sinceMs: number; pauseMs: number; dueAtMs: number }>();

  constructor(timing: ForgottenTiming) {
    this.timing = timing;
  }

  /** Whether it need not be queried now. */
  isResting(brokerOrderId: string, nowMs: number): boolean {
    return (this.absent.get(brokerOrderId)?.dueAtMs ?? nowMs) > nowMs;
  }

  /** The result of a round: `queried` orders were not in the list, `absent` ones of them do not exist at the broker. */
  update({ queried, absent }: { queried: readonly string[]; absent: readonly string[] }, nowMs: number): void {
    const { pollMs, reconcileMs } = this.timing;
    const isAbsent = new Set(absent);
    for (const id of queried) {
      if (!isAbsent.has(id)) this.absent.delete(id);
      else {
        const { sinceMs, pauseMs } = this.absent.get(id) ?? { sinceMs: nowMs, pauseMs: pollMs / 2 };
        const next = Math.min(reconcileMs, 2 * pauseMs);
        this.absent.set(id, { sinceMs, pauseMs: next, dueAtMs: nowMs + next });
      }
    }
  }

  /** Keeps only these orders: the others have ended, or the list shows them. */
  keep(missing: ReadonlySet<string>): void {
    for (const id of this.absent.keys()) if (!missing.has(id)) this.absent.delete(id);
  }

  delete(brokerOrderId: string): void {
    this.absent.delete(brokerOrderId);
  }

  /** Absent for longer than a broker may be late, and in two rounds a regular pause apart. */
  overdue(nowMs: number): string[] {
    const { reconcileMs, lookUpMs } = this.timing;
    const untilMs = nowMs - Math.max(reconcileMs, lookUpMs);
    return [...this.absent].flatMap(([id, { sinceMs }]) => (sinceMs <= untilMs ? [id] : []));
  }
}
