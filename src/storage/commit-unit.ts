/**
 * A commit unit: committed as a whole or not at all. The newest rows of an actor, or of several in a co-located transaction, and everything
 * that these turns recorded.
 */
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
  /** Kind and id of the sender; null or absent if the version that sent it did not record them. */
  sender?: string | null;
  /**
   * The previous message of the same sender to the same actor; null: all earlier ones are certainly consumed, or there were none; absent:
   * the sender does not know. In memory only: in the database the numbers give the order.
   */
  after?: string | null;
  /** W3C traceparent of the turn that sent it. In memory only: a message that is read from the database has no trace. */
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
  /** The incarnation that commits it; set by the commit. */
  recordedBy: string | null;
  /** The account of the effect; null if there is none. */
  accountId: string | null;
  /** How often it was restarted after a process that ran it died. */
  starts: number;
  createdAt: number;
  /** As for messages; while the effect runs, that of its own span. */
  trace?: string | null;
};
export type CommandDraft = { id: string; reply: unknown; createdAt: number };
/** The origin of a dead letter; `effect`: an effect that ended each process that ran it, and whose actor got `failed`. */
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
  /** `seqs[i]` is the number of event i. */
  | { kind: 'committed'; seqs: number[] }
  /** Another owner has the shard now: nothing of the unit was written. */
  | { kind: 'refused' }
  /** The database refused the unit's contents; nothing of the unit was written, but other units were. */
  | { kind: 'failed'; error: Error }
  /**
   * As `failed`, because something the unit consumes was already consumed, or its command id already recorded: the turn has taken effect
   * before.
   */
  | { kind: 'repeated'; error: Error }
  /** Nothing of the unit was written, and its contents are not the cause: repeated lock or statement time-outs, or a failing database. */
  | { kind: 'unavailable'; error: Error };

/** What one actor adds to the unit. */
export type ActorPart = {
  readonly kind: string;
  readonly id: string;
  /** Its newest row and table; null: unchanged. */
  table: Table | null;
  row: object | null;
  /** By name; null deletes the timer. */
  timers: Map<string, TimerDraft | null> | null;
};

export class CommitUnit<P extends ActorPart = ActorPart> {
  readonly shard: number;
  /** All on the unit's shard; nearly always one. */
  readonly parts: P[] = [];
  turns = 0;
  events: EventDraft[] = [];
  messages: MessageDraft[] = [];
  /** By table, then by primary key: the last version of a row wins. */
  rows: Map<Table, Map<string, object>> | null = null;
  effects: Map<string, EffectDraft> | null = null;
  /** Effects started by this incarnation, if that must be durable (`Effect.startedBy`). */
  startedEffects: string[] = [];
  /** Likewise, for effects that may have ended the process that ran them: the start is counted. */
  restartedEffects: string[] = [];
  /** Cancelled: deleted if they still exist. */
  cancelledEffects: string[] = [];
  /** Must still exist, because an outcome or a message takes effect once. */
  consumedEffects: string[] = [];
  consumedMessages: string[] = [];
  commands: CommandDraft[] = [];
  deadLetters: DeadLetterDraft[] = [];
  /** Spans of traced turns. */
  traces: string[] | null = null;
  /** Its shard was lost or handed over after the unit was added: the unit is not sent again. */
  lost = false;
  /**
   * Since when the unit has waited outside the main lane, on the monotonic clock: for a lock, or for a unit that waits for one. Until it is
   * settled or back in the open batch, no turn may be added to it or build on it. null: not waiting.
   */
  lockWaitSinceMs: number | null = null;
  readonly settle: (outcome: CommitOutcome) => void;

  constructor(shard: number, settle: (outcome: CommitOutcome) => void) {
    this.shard = shard;
    this.settle = settle;
  }

  /** The unit leaves the open batch: no turn may be added from now on. */
  onSent(): void {}
}
