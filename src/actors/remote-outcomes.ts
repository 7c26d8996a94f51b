/**
 * Outcomes of effects that ran on other nodes, for actors of this node. The other node repeats its ask while it has no answer, which may be
 * as long as the database refuses the outcome; here each outcome is in flight once.
 */
import type { RemoteAsk } from '../cluster/placement.ts';
import { AppError } from '../errors.ts';
import { type Envelope, newEnvelope } from './envelope.ts';

export class RemoteOutcomes {
  private readonly inFlight = new Map<string, Promise<null>>();

  /** Resolves when the outcome is committed. */
  deliver({ name, input, trace }: RemoteAsk, effectId: string, deliver: (envelope: Envelope) => boolean): Promise<null> {
    const pending = this.inFlight.get(effectId);
    if (pending !== undefined) return pending;
    const committed = new Promise<null>((resolve, reject) => {
      const envelope = newEnvelope(name, input, Infinity, null, { kind: 'effect', id: effectId }, trace);
      envelope.resolve = () => resolve(null);
      envelope.reject = reject;
      if (!deliver(envelope)) reject(new AppError('overloaded', 'No room for the outcome now', { retryAfterS: 1 }));
    });
    this.inFlight.set(effectId, committed);
    const remove = () => this.inFlight.delete(effectId);
    committed.then(remove, remove);
    return committed;
  }
}
