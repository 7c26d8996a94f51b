/**
 * What is open under numbers that this side gives out, found by them.
 *
 * Not a Map: one that is filled and emptied without end makes one table after another, and each old table keeps the next alive until the whole
 * heap is collected, with all that went through them. That doubled the collector's part of an asker's time.
 */
export class NumberSlots<T extends { readonly number: number }> {
  private count = 0;
  private lastNumber = 0;
  /** What is open under `number` lies at `number % slots.length`, a power of two. At most half of them are taken. */
  private slots: (T | undefined)[] = emptySlots(64);

  get size(): number {
    return this.count;
  }

  /** A number greater than all before it, with a slot that is free. */
  nextNumber(): number {
    if (this.count * 2 >= this.slots.length) this.grow();
    do this.lastNumber++;
    while (this.slots[this.slotOf(this.lastNumber)] !== undefined);
    return this.lastNumber;
  }

  /** @param item under a number that `nextNumber` gave just before */
  add(item: T): void {
    this.slots[this.slotOf(item.number)] = item;
    this.count++;
  }

  get(number: number): T | undefined {
    const item = this.slots[this.slotOf(number)];
    return item?.number === number ? item : undefined;
  }

  /** Undefined when nothing is open under that number. */
  take(number: number): T | undefined {
    const item = this.get(number);
    if (item === undefined) return undefined;
    this.slots[this.slotOf(number)] = undefined;
    this.count--;
    return item;
  }

  /** All that are open now, in no order. */
  all(): T[] {
    return this.slots.filter((item) => item !== undefined);
  }

  private slotOf(number: number): number {
    return number & (this.slots.length - 1);
  }

  /** Numbers that differ in the smaller array differ in the larger one. */
  private grow(): void {
    const open = this.all();
    this.slots = emptySlots(this.slots.length * 2);
    for (const item of open) this.slots[this.slotOf(item.number)] = item;
  }
}

function emptySlots(length: number): undefined[] {
  return new Array<undefined>(length).fill(undefined);
}
