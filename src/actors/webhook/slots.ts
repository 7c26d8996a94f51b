/**
 * How many deliveries a node has on their way, over all webhooks. Those whose receivers fail or hang share half of it at most, so that the
 * others always find a place.
 */
export class Slots {
  taken = 0;
  private readonly total: number;
  private readonly waiting = new Set<() => void>();

  constructor(total: number) {
    this.total = total;
  }

  /** False: there is none; `onFree` is called, once, when it is worth asking again. */
  take(isTroubled: boolean, onFree: () => void): boolean {
    if (this.taken < (isTroubled ? this.total / 2 : this.total)) {
      this.taken++;
      return true;
    }
    this.waiting.add(onFree);
    return false;
  }

  free(): void {
    this.taken--;
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const onFree of waiting) onFree();
  }

  forget(onFree: () => void): void {
    this.waiting.delete(onFree);
  }
}
