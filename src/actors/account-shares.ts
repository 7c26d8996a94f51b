/** How many of something each account has in memory, none of them more than its share; and which accounts have more that stands in the database. */

export class AccountShares {
  private readonly counts = new Map<string, number>();
  /** They were refused. Few: each of them has a whole share, or had one lately. */
  private readonly refused = new Set<string>();
  private readonly maxEach: number;

  constructor(maxEach: number) {
    this.maxEach = maxEach;
  }

  /** Accounts whose further items need not be looked at now. */
  get full(): string[] {
    return [...this.refused];
  }

  /** False where the account has its share. */
  add(account: string): boolean {
    const count = this.counts.get(account) ?? 0;
    if (count >= this.maxEach) this.refused.add(account);
    else this.counts.set(account, count + 1);
    return count < this.maxEach;
  }

  /** True when an account that was refused has room again for half of its share. */
  remove(account: string): boolean {
    const left = (this.counts.get(account) ?? 1) - 1;
    if (left === 0) this.counts.delete(account);
    else this.counts.set(account, left);
    return left <= this.maxEach / 2 && this.refused.delete(account);
  }
}
