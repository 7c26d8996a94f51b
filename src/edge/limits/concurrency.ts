/** Counts concurrent requests of each caller and group of callers at this node, from the arrival of the headers to the end of the answer. */
import type { HttpRequest } from '../http/message.ts';
import { isWithin } from './entitlements.ts';

export class Concurrency {
  private readonly underWay = new Map<string, number>();

  /**
   * Takes a slot of the caller and one of its group, or neither; both are released when the request has ended. Returns null, or which of
   * the two has no free slot. A limit of -1 means unlimited.
   *
   * @param group shares its slots between several callers; null: none
   */
  enter(caller: string, limit: number, group: string | null, groupLimit: number, request: HttpRequest): null | 'caller' | 'group' {
    const count = this.countOf(caller);
    if (!isWithin(count, limit)) return 'caller';
    if (group === null) {
      this.underWay.set(caller, count + 1);
      request.whenEnded(() => this.leave(caller));
      return null;
    }
    const together = this.countOf(group);
    if (!isWithin(together, groupLimit)) return 'group';
    this.underWay.set(caller, count + 1);
    this.underWay.set(group, together + 1);
    request.whenEnded(() => {
      this.leave(caller);
      this.leave(group);
    });
    return null;
  }

  countOf(caller: string): number {
    return this.underWay.get(caller) ?? 0;
  }

  /** Callers and groups of callers with requests in progress. */
  get callers(): number {
    return this.underWay.size;
  }

  private leave(caller: string): void {
    const count = this.underWay.get(caller)! - 1;
    if (count === 0) this.underWay.delete(caller);
    else this.underWay.set(caller, count);
  }
}
