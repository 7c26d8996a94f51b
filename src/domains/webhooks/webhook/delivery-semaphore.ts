/**
 * How many deliveries a node has on their way, over all webhooks and to one receiver, whichever accounts' webhooks go there. Webhooks whose
 * receivers fail or hang share half of the places at most, so that the others always find one.
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

  /** False: there is none; `onFree` is called, once, when it is worth asking again. */
  take(origin: string, isTroubled: boolean, onFree: () => void): boolean {
    const hasPlace = this.taken < (isTroubled ? this.total / 2 : this.total) && (this.byOrigin.get(origin) ?? 0) < this.toOneReceiver;
    if (hasPlace) this.takeAnyway(origin);
    else this.waiting.add(onFree);
    return hasPlace;
  }

  /** Beyond the bounds: for what a person has asked for, which is bounded by itself. */
  takeAnyway(origin: string): void {
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
