/** The one live copy of an actor in memory: its newest state, its last committed state, and what waits for it. */
import type { Envelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import type { TurnUnit } from './turn-unit.ts';

export class Activation {
  readonly id: string;
  readonly kind: Kind;
  readonly shard: number;
  phase: 'loading' | 'ready' | 'dropped' = 'loading';
  /** What the next turn sees; may not be committed yet. */
  state: object | null = null;
  /** What queries see. */
  committed: object | null = null;
  /** Turns taken since the open batch began, and those on their way to the database. */
  open: TurnUnit | null = null;
  sending: TurnUnit | null = null;
  /** Envelopes that wait for the state to be loaded or for room in the batch; null while there are none, which is nearly always. */
  mailbox: Envelope[] | null = null;
  /** Set by every use, cleared by passivation's sweep, which notes the time: so a use costs no look at the clock. */
  used = true;
  /** When a sweep last found it used. */
  lastUsedMs = 0;

  constructor(kind: Kind, id: string, shard: number) {
    this.kind = kind;
    this.id = id;
    this.shard = shard;
  }

  /** Nothing waits, nothing is uncommitted: it can leave memory and come back as it was. */
  get idle(): boolean {
    return this.phase === 'ready' && this.open === null && this.sending === null && this.mailbox === null;
  }
}
