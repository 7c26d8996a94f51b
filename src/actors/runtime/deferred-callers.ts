/**
 * Callers whose turn is committed but whose answer comes from a later turn. They live in memory alone: a caller that gave up, or whose
 * node is gone, asks again.
 */
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';

export class DeferredCallers {
  private readonly byKey = new Map<string, Set<Envelope>>();

  hold(key: string, envelope: Envelope): void {
    envelope.deferredKey = key;
    const others = this.byKey.get(key);
    if (others === undefined) this.byKey.set(key, new Set([envelope]));
    else others.add(envelope);
  }

  /** Everyone who waits under the key waits no longer. */
  take(key: string): Envelope[] {
    const callers = this.byKey.get(key);
    if (callers === undefined) return [];
    this.byKey.delete(key);
    return [...callers];
  }

  /** Its answer has come, or its deadline has passed, or its turn is undone. */
  forget(envelope: Envelope): void {
    const { deferredKey } = envelope;
    if (deferredKey === null) return;
    const callers = this.byKey.get(deferredKey);
    if (callers?.delete(envelope) && callers.size === 0) this.byKey.delete(deferredKey);
  }

  get size(): number {
    return this.byKey.size;
  }
}

/** Keys are an actor's own. */
export function deferredKeyOf(activation: Activation, key: string): string {
  return `${activation.kind.name}/${activation.id}/${key}`;
}
