/** How many requests of each caller are under way at this node, from their headers' arrival to the end of their answers. */
import type { HttpRequest } from '../http/message.ts';
import { isWithin } from './entitlements.ts';

export class Concurrency {
  readonly #underWay = new Map<string, number>();

  /** Whether the caller has a place for one more, -1 being no limit; it is given back when the request has ended, however it ends. */
  enter(caller: string, limit: number, request: HttpRequest): boolean {
    const count = this.#underWay.get(caller) ?? 0;
    if (!isWithin(count, limit)) return false;
    this.#underWay.set(caller, count + 1);
    request.whenEnded(() => this.#leave(caller));
    return true;
  }

  countOf(caller: string): number {
    return this.#underWay.get(caller) ?? 0;
  }

  /** Callers with requests under way. */
  get callers(): number {
    return this.#underWay.size;
  }

  #leave(caller: string): void {
    const count = this.#underWay.get(caller)! - 1;
    if (count === 0) this.#underWay.delete(caller);
    else this.#underWay.set(caller, count);
  }
}
