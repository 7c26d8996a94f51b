/**
 * A table of open items under numbers that this side assigns.
 *
 * Not a Map: a Map that is continuously filled and emptied creates one table after another, and each old table references the next, so both
 * stay in memory, with all items, until the whole heap is collected. That doubled the time of the calling node in garbage collection.
 */
export class NumberSlots<T extends { readonly number: number }> {
  private count = 0;
  private lastNumber = 0;
  /** The item with `number` is at `number % slots.length`, a power of two. At most half of the slots are used. */
  private slots: (T | undefined)[] = emptySlots(64);

  get size(): number {
    return this.count;
  }

  /** A number greater than all earlier ones, with a free slot. */
  nextNumber(): number {
    if (this.count * 2 >= this.slots.length) this.grow();
    do this.lastNumber++;
    while (this.slots[this.slotOf(this.lastNumber)] !== undefined);
    return this.lastNumber;
  }

  /** @param item its number is the last result of `nextNumber` */
  add(item: T): void {
    this.slots[this.slotOf(item.number)] = item;
    this.count++;
  }

  get(number: number): T | undefined {
    const item = this.slots[this.slotOf(number)];
    return item?.number === number ? item : undefined;
  }

  /** Undefined if no item is open under that number. */
  take(number: number): T | undefined {
    const item = this.get(number);
    if (item === undefined) return undefined;
    this.slots[this.slotOf(number)] = undefined;
    this.count--;
    return item;
  }

  /** All open items, in no order. */
  all(): T[] {
    return this.slots.filter((item) => item !== undefined);
  }

  private slotOf(number: number): number {
    return number & (this.slots.length - 1);
  }

  /** Numbers with different slots in the smaller array have different slots in the larger one. */
  private grow(): void {
    const open = this.all();
    this.slots = emptySlots(this.slots.length * 2);
    for (const item of open) this.slots[this.slotOf(item.number)] = item;
  }
}

function emptySlots(length: number): undefined[] {
  return new Array<undefined>(length).fill(undefined);
}
