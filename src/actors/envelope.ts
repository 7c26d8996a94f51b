/** A message on its way through one node: what is asked of whom, until when, and who must hear the answer. */
import type { AppError } from '../errors.ts';
import type { DeadLetterDraft } from '../storage/commit-unit.ts';

/** What brought the envelope. Durable work must be gone from the database when its turn is committed. */
export type Source =
  | { kind: 'ask' }
  /** Looks at committed state as soon as it is loaded; takes no turn. */
  | { kind: 'query' }
  | { kind: 'message'; id: string }
  | { kind: 'effect'; id: string }
  /** `dueMs` tells whether the timer still is the one that fired. */
  | { kind: 'timer'; name: string; dueMs: number };

export type Envelope = {
  /** The name of the command, or of the query. */
  command: string;
  input: unknown;
  source: Source;
  /** By `monotonicMs`; Infinity for what must be done whenever it can be. */
  deadlineMs: number;
  /** The caller's idempotency key, if it has one. */
  commandId: string | null;
  /** W3C traceparent of what it is done for; null where nothing is traced. */
  readonly trace: string | null;
  /** Unexpected failures that were surely its own. */
  failures: number;
  /** It was in a unit that the database refused: it runs alone, so that it can be cleared or blamed alone. */
  alone: boolean;
  /** Durable work that failed too often: its next turn makes it a dead letter, with this reason. */
  givenUp: Error | null;
  /** Kept for a person in the commit of the turn that takes the envelope. */
  deadLetter: DeadLetterDraft | null;
  /** Counts turns as they were first taken, so that a repetition keeps their order; 0 before. */
  order: number;
  /** By `monotonicMs`, when it came to this node; 0 for what nobody waits for. */
  askedAtMs: number;
  /** It is on its way to another node, which sheds for itself. */
  elsewhere: boolean;
  /** Its turn has been taken: from here on a missing answer means that nobody knows. */
  taken: boolean;
  settled: boolean;
  /** The message before it from the same sender, which must be taken first; null where it is consumed. */
  behind: Envelope | null;
  /** The message after it, which came to its turn before this one was taken and waits for that. */
  follower: Envelope | null;
  /** Under which a later turn answers it; null when its own turn does. */
  deferredKey: string | null;
  resolve(reply: unknown): void;
  reject(error: AppError): void;
  /** The turn's answer, told once it is committed. */
  reply: unknown;
  error: unknown;
};

const ask: Source = { kind: 'ask' };

export function newEnvelope(
  command: string,
  input: unknown,
  deadlineMs: number,
  commandId: string | null,
  source: Source = ask,
  trace: string | null = null,
): Envelope {
  return {
    command,
    input,
    source,
    deadlineMs,
    commandId,
    trace,
    failures: 0,
    alone: false,
    givenUp: null,
    deadLetter: null,
    order: 0,
    askedAtMs: 0,
    elsewhere: false,
    taken: false,
    settled: false,
    behind: null,
    follower: null,
    deferredKey: null,
    resolve: noCaller,
    reject: noCaller,
    reply: undefined,
    error: undefined,
  };
}

/** Messages, outcomes and timers stand in the database until a turn consumes them; asks and queries live in memory alone. */
export function isDurable({ source }: Envelope): boolean {
  return source.kind !== 'ask' && source.kind !== 'query';
}

function noCaller(): void {}
