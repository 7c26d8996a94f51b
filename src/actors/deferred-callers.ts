/**
 * Callers whose turn is committed but whose answer comes from a later turn. They are in memory only: a caller that no longer waits, or
 * whose node has ended, asks again.
 */
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';

type Deferred = { activation: Activation; callers: Set<Envelope> };

export class DeferredCallers {
  private readonly byKey = new Map<string, Deferred>();

  add(key: string, activation: Activation, envelope: Envelope): void {
    envelope.deferredKey = key;
    const others = this.byKey.get(key);
    if (others === undefined) this.byKey.set(key, { activation, callers: new Set([envelope]) });
    else others.callers.add(envelope);
  }

  /** Removes and returns all callers that wait under the key. */
  take(key: string): Envelope[] {
    const deferred = this.byKey.get(key);
    if (deferred === undefined) return [];
    this.byKey.delete(key);
    return [...deferred.callers];
  }

  /**
   * Removes and returns all callers that wait for actors of these shards: the answering turn runs on another node. Callers whose own turn is
   * undecided stay: its unit routes them when it is decided, and must find them deferred until then.
   */
  takeShards(shards: ReadonlySet<number>): { activation: Activation; envelope: Envelope }[] {
    const removed: { activation: Activation; envelope: Envelope }[] = [];
    for (const [key, { activation, callers }] of this.byKey) {
      if (!shards.has(activation.shard)) continue;
      for (const envelope of [...callers]) {
        if (envelope.deferralUndecided) continue;
        callers.delete(envelope);
        removed.push({ activation, envelope });
      }
      if (callers.size === 0) this.byKey.delete(key);
    }
    return removed;
  }

  /** The envelope is answered, its deadline has passed, or its turn is undone. */
  remove(envelope: Envelope): void {
    const { deferredKey } = envelope;
    if (deferredKey === null) return;
    const callers = this.byKey.get(deferredKey)?.callers;
    if (callers?.delete(envelope) && callers.size === 0) this.byKey.delete(deferredKey);
  }

  get size(): number {
    return this.byKey.size;
  }
}

/** The key, scoped to the actor. */
export function deferredKeyOf(activation: Activation, key: string): string {
  return `${activation.kind.name}/${activation.id}/${key}`;
}
