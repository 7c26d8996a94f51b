/** What commits together, or not at all: the newest rows of an actor, or of several in a co-located transaction, and all that these turns recorded. */
import type { RawJson, Table } from './table.ts';

export type EventDraft = { accountId: string; id: string; type: string; taskId: string | null; data: RawJson; createdAt: number };
export type MessageDraft = {
  id: string;
  shard: number;
  kind: string;
  actorId: string;
  command: string;
  input: unknown;
  createdAt: number;
  /** Kind and id of the sender; null, or absent, where the version that sent it did not record it. */
  sender?: string | null;
  /**
   * The message before it from the same sender to the same actor; null: all of these are certainly taken, or there was none; absent: the sender
   * does not know. In memory only: in the database the numbers give the order.
   */
  after?: string | null;
  /** W3C traceparent of the turn that sent it. In memory only: what is found in the database after a loss begins no trace. */
  trace?: string | null;
};
export type TimerDraft = { kind: string; actorId: string; name: string; shard: number; command: string; input: unknown; dueAt: number };
export type EffectDraft = {
  id: string;
  shard: number;
  kind: string;
  actorId: string;
  name: string;
  input: unknown;
  startedBy: string | null;
  /** The incarnation that commits it; filled in by the commit. */
  recordedBy: string | null;
  /** The account it works for; null where there is none. */
  accountId: string | null;
  /** How often it was restarted after the process that ran it had died. */
  starts: number;
  createdAt: number;
  /** As with messages; once it runs, that of its own span. */
  trace?: string | null;
};
export type CommandDraft = { id: string; reply: unknown; createdAt: number };
/** What its actor could not take; `effect`: one that ended each process that ran it, whose actor was told so. */
export type DeadLetterSource = 'message' | 'outcome' | 'timer' | 'effect';
export type DeadLetterDraft = {
  id: string;
  source: DeadLetterSource;
  /** The id of the message or effect, the name of the timer. */
  sourceId: string;
  attempts: number;
  kind: string;
  actorId: string;
  command: string;
  input: unknown;
  error: string;
  createdAt: number;
};

export type CommitOutcome =
  /** `seqs[i]` is the number that event i was given. */
  | { kind: 'committed'; seqs: number[] }
  /** Another owner has the shard now: nothing of the unit was written. */
  | { kind: 'refused' }
  /** The database refused the unit's own contents; nothing of it was written, other units were. */
  | { kind: 'failed'; error: Error }
  /** As `failed`, because something the unit consumes or a command id it records was there before: it has taken effect already. */
  | { kind: 'repeated'; error: Error }
  /** Nothing of the unit was written, and its contents are not the cause: repeated lock or statement time-outs, or a failing database. */
  | { kind: 'unavailable'; error: Error };

/** What one actor adds of its own. */
export type ActorPart = {
  readonly kind: string;
  readonly id: string;
  /** Its newest row and where it goes; null: as it was. */
  table: Table | null;
  row: object | null;
  /** By name; null clears it. */
  timers: Map<string, TimerDraft | null> | null;
};

export class CommitUnit<P extends ActorPart = ActorPart> {
  readonly shard: number;
  /** All of the unit's shard; nearly always one. */
  readonly parts: P[] = [];
  turns = 0;
  events: EventDraft[] = [];
  messages: MessageDraft[] = [];
  /** By table, then by primary key: the last version of a row wins. */
  rows: Map<Table, Map<string, object>> | null = null;
  effects: Map<string, EffectDraft> | null = null;
  /** Effects started by this incarnation, where that must be durable (`Effect.startedBy`). */
  startedEffects: string[] = [];
  /** The same for those that may have ended the process that ran them: it is counted. */
  restartedEffects: string[] = [];
  /** Cancelled: deleted if they still exist. */
  cancelledEffects: string[] = [];
  /** Must still exist: an outcome or a message takes effect once. */
  consumedEffects: string[] = [];
  consumedMessages: string[] = [];
  commands: CommandDraft[] = [];
  deadLetters: DeadLetterDraft[] = [];
  /** The turns' spans, where they are traced. */
  traces: string[] | null = null;
  /** Its shard was lost, or is being handed over, since it was added: it is not sent again. */
  lost = false;
  /**
   * Since when it has waited outside the main lane, by the monotonic clock: for a lock, or for a unit that waits for one. Until it is settled
   * or back in the open batch no turn may be added to it or build on it. null: it is not waiting.
   */
  lockWaitSinceMs: number | null = null;
  readonly settle: (outcome: CommitOutcome) => void;

  constructor(shard: number, settle: (outcome: CommitOutcome) => void) {
    this.shard = shard;
    this.settle = settle;
  }

  /** The unit leaves the open batch: no turn may be added from here on. */
  onSent(): void {}
}
