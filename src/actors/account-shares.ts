/** Counts the items of each account in memory, limited by a share for each account; and records which accounts have more in the database. */

export class AccountShares {
  private readonly counts = new Map<string, number>();
  /** Accounts that were refused an item: each has, or recently had, a full share. */
  private readonly refused = new Set<string>();
  private readonly maxEach: number;

  constructor(maxEach: number) {
    this.maxEach = maxEach;
  }

  /** Accounts whose further items need not be read now. */
  get full(): string[] {
    return [...this.refused];
  }

  /** False where the account's share is used up. */
  add(account: string): boolean {
    const count = this.counts.get(account) ?? 0;
    if (count >= this.maxEach) this.refused.add(account);
    else this.counts.set(account, count + 1);
    return count < this.maxEach;
  }

  /** True when an account that was refused has half of its share free again. */
  remove(account: string): boolean {
    const left = (this.counts.get(account) ?? 1) - 1;
    if (left === 0) this.counts.delete(account);
    else this.counts.set(account, left);
    return left <= this.maxEach / 2 && this.refused.delete(account);
  }
}
