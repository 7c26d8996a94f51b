/** The one live copy of an actor in memory: its newest state, its last committed state, and its waiting envelopes. */
import type { MessageDraft } from '../storage/commit-unit.ts';
import type { Envelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import { SentMessages } from './sent-messages.ts';
import type { TurnPart } from './turn-unit.ts';

export class Activation {
  readonly id: string;
  readonly kind: Kind;
  readonly shard: number;
  phase: 'loading' | 'ready' | 'dropped' = 'loading';
  /** Newest state, which the next turn sees; may not be committed yet. */
  state: object | null = null;
  /** Committed state, which queries see. */
  committed: object | null = null;
  /** Its part of the open batch, and of the batch being committed. */
  open: TurnPart | null = null;
  sending: TurnPart | null = null;
  /** Envelopes that wait for the state to be loaded or for capacity in the batch; null while there are none, which is nearly always. */
  mailbox: Envelope[] | null = null;
  /** An envelope that must run alone, as soon as nothing of the actor is open or being committed; until then no other envelope is taken. */
  next: Envelope | null = null;
  /** Actors with a co-located transaction that waits for this one's state to be loaded. */
  awaitedBy: Set<Activation> | null = null;
  /** Answers of turns that changed nothing, which wait for the confirmation of ownership. */
  unconfirmed = 0;
  /** The actor had no row when it was loaded. */
  isNew = false;
  /** null: it has sent nothing, or nothing recently. */
  sent: SentMessages | null = null;
  /** Set by every use; the passivation sweep clears it and notes the time, so a use does not read the clock. */
  used = true;
  /** When a sweep last found it used. */
  lastUsedMs = 0;

  constructor(kind: Kind, id: string, shard: number) {
    this.kind = kind;
    this.id = id;
    this.shard = shard;
  }

  /** Whether this envelope's turn may be added to the open part, or to the one being committed. */
  admits(envelope: Envelope, maxWaiting: number): boolean {
    const { open, sending, next } = this;
    if (next !== null) {
      if (next !== envelope && !next.settled) return false;
      this.next = null;
    }
    const last = open ?? sending;
    if (last === null) return true;
    if (open?.unit.alone === true || sending?.unit.alone === true) return false;
    if ((open !== null && open.unit.lockWaitSinceMs !== null) || (sending !== null && sending.unit.lockWaitSinceMs !== null)) return false;
    if (envelope.alone) this.next = envelope;
    return !envelope.alone && last.waiting.length < maxWaiting;
  }

  /** Records in a message its predecessor. Call in the order of the turns. */
  recordSent(message: MessageDraft): void {
    const { kind, id, isNew } = this;
    this.sent ??= new SentMessages(`${kind.name}/${id}`, isNew && !kind.sendsBeforeItExists);
    this.sent.record(message);
  }

  /** Frees memory: the next message may have a predecessor that it does not name. */
  clearSent(): void {
    this.sent = null;
    this.isNew = false;
  }

  /** Nothing waits and nothing is uncommitted: it can be dropped and loaded again, and no turn has to run again after later ones. */
  get idle(): boolean {
    return this.phase === 'ready' && this.open === null && this.sending === null && this.mailbox === null && this.unconfirmed === 0;
  }
}
