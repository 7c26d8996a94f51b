/**
 * Limits the concurrent deliveries of a node, over all webhooks and to one receiver, independent of accounts. Webhooks whose receivers fail
 * or hang share at most half of the slots, so that others always get one.
 */
export class DeliverySemaphore {
  taken = 0;
  private readonly total: number;
  private readonly toOneReceiver: number;
  private readonly byOrigin = new Map<string, number>();
  private readonly waiting = new Set<() => void>();

  constructor(total: number, toOneReceiver: number) {
    this.total = total;
    this.toOneReceiver = toOneReceiver;
  }

  /** False: no slot is free; `onFree` is called once when another try makes sense. */
  take(origin: string, isFailing: boolean, onFree: () => void): boolean {
    const hasPlace = this.taken < (isFailing ? this.total / 2 : this.total) && (this.byOrigin.get(origin) ?? 0) < this.toOneReceiver;
    if (hasPlace) this.takeOverLimit(origin);
    else this.waiting.add(onFree);
    return hasPlace;
  }

  /** Ignores the limit: for deliveries requested by hand, which have a limit of their own. */
  takeOverLimit(origin: string): void {
    this.taken++;
    this.byOrigin.set(origin, (this.byOrigin.get(origin) ?? 0) + 1);
  }

  free(origin: string): void {
    this.taken--;
    const left = this.byOrigin.get(origin)! - 1;
    if (left === 0) this.byOrigin.delete(origin);
    else this.byOrigin.set(origin, left);
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const onFree of waiting) onFree();
  }

  forget(onFree: () => void): void {
    this.waiting.delete(onFree);
  }
}
