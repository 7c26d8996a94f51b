/**
 * The messages that this node has read or received and that their actors have not consumed yet, and the order in which they must be taken.
 *
 * H1 One sender's messages to one actor that are in flight form a run without a gap, which begins with the first unconsumed message: none
 *    is added before all earlier ones are consumed or in flight, and when one is released without being consumed, later ones are released
 *    too.
 * H2 Each names its predecessor in the run (`Envelope.behind`); turns are taken in this order (`turns.ts`).
 */
import type { MessageDraft } from '../storage/commit-unit.ts';
import type { Envelope } from './envelope.ts';

type InFlightMessage = { envelope: Envelope; message: MessageDraft; pair: string | null; next: InFlightMessage | null };

/** Most consumed messages that are recorded: their successors and duplicates need no read of the database. */
const maxConsumed = 20_000;

export class InFlightMessages {
  private readonly held = new Map<string, InFlightMessage>();
  /** The last message of each run, by sender and receiver. */
  private readonly tails = new Map<string, InFlightMessage>();
  /** Each with the shard of its actor. */
  private readonly consumed = new Map<string, number>();
  /** While true, no consumed message is forgotten, because a page being read may contain it. */
  keepsAllConsumed = false;

  get size(): number {
    return this.held.size;
  }

  /** Whether it is in flight, or recorded as consumed. */
  has(id: string): boolean {
    return this.held.has(id) || this.consumed.has(id);
  }

  /**
   * Whether every earlier message of this pair is certainly in flight or consumed. If not, the database must be read. Messages of versions
   * that did not record the sender have no order.
   */
  isInOrder({ sender, after, kind, actorId }: MessageDraft): boolean {
    if (sender == null || after === null) return true;
    if (after === undefined) return false;
    return this.tails.get(pairOf(sender, kind, actorId))?.message.id === after || this.consumed.has(after);
  }

  add(message: MessageDraft, envelope: Envelope): void {
    const pair = message.sender == null ? null : pairOf(message.sender, message.kind, message.actorId);
    const held: InFlightMessage = { envelope, message, pair, next: null };
    this.held.set(message.id, held);
    if (pair === null) return;
    const tail = this.tails.get(pair);
    if (tail !== undefined) {
      tail.next = held;
      envelope.predecessor = tail.envelope;
    }
    this.tails.set(pair, held);
  }

  /** Its actor has consumed it. */
  done(id: string): void {
    const held = this.remove(id);
    if (held === null) return;
    this.consumed.set(id, held.message.shard);
    if (!this.keepsAllConsumed && this.consumed.size > maxConsumed) this.trimConsumed();
  }

  /** It stays in the database. Returns its follower, which must be released too. */
  release(id: string): Envelope | null {
    return this.remove(id)?.next?.envelope ?? null;
  }

  /** Forgets consumed messages: a database that lost commits may contain them again. */
  lost(shards: ReadonlySet<number>): void {
    for (const [id, shard] of this.consumed) if (shards.has(shard)) this.consumed.delete(id);
  }

  /** Forgets the oldest consumed messages. */
  trimConsumed(): void {
    let excess = this.consumed.size - maxConsumed;
    for (const id of this.consumed.keys()) {
      if (excess-- <= 0) return;
      this.consumed.delete(id);
    }
  }

  private remove(id: string): InFlightMessage | null {
    const held = this.held.get(id);
    if (held === undefined) return null;
    this.held.delete(id);
    held.envelope.predecessor = null;
    if (held.pair !== null && this.tails.get(held.pair) === held) this.tails.delete(held.pair);
    return held;
  }
}

export function pairOf(sender: string, kind: string, actorId: string): string {
  return `${sender} ${kind}/${actorId}`;
}
