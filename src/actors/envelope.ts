/** A message inside one node: command, input, deadline, and the receiver of the answer. */
import type { AppError } from '../errors.ts';
import type { DeadLetterDraft } from '../storage/commit-unit.ts';

/** The origin of the envelope. Durable work must be deleted from the database when its turn is committed. */
export type Source =
  | { kind: 'ask' }
  /** Reads committed state as soon as it is loaded; runs no turn. */
  | { kind: 'query' }
  | { kind: 'message'; id: string }
  | { kind: 'effect'; id: string }
  /** `dueMs` shows whether the timer is still the one that fired. */
  | { kind: 'timer'; name: string; dueMs: number };

export type Envelope = {
  /** The name of the command, or of the query. */
  command: string;
  input: unknown;
  source: Source;
  /** By `monotonicMs`; Infinity for work without a deadline. */
  deadlineMs: number;
  /** The caller's idempotency key, if it has one. */
  commandId: string | null;
  /** An earlier try of the command may still take effect: a refusal is recorded before it is sent. */
  repeat: boolean;
  /** W3C traceparent of the cause; null if it is not traced. */
  readonly trace: string | null;
  /** Unexpected failures that its own command caused. */
  failures: number;
  /** It was in a unit that the database refused: it runs alone, so that the failure can be attributed. */
  alone: boolean;
  /** Durable work that failed too often: its next turn makes it a dead letter, with this reason. */
  deadLetterReason: Error | null;
  /** Stored in the commit of the turn that takes the envelope. */
  deadLetter: DeadLetterDraft | null;
  /** Number of its first turn, so that retries keep the order; 0 before. */
  order: number;
  /** By `monotonicMs`, when it arrived at this node; 0 if no caller waits. */
  askedAtMs: number;
  /** Where it is in the list of pending asks; -1: nowhere. */
  pendingAt: number;
  /** It was sent to another node, which does its own shedding. */
  isRemote: boolean;
  /** Its turn was run: from here on a missing answer is an unknown outcome. */
  mayHaveEffect: boolean;
  settled: boolean;
  /** The previous message of the same sender, which must be taken first; null if it is consumed. */
  predecessor: Envelope | null;
  /** The next message of the same sender, which waits until this one is taken. */
  successor: Envelope | null;
  /** The key under which a later turn answers it; null if its own turn does. */
  deferredKey: string | null;
  /** The commit of the turn that deferred it is undecided: until then that turn's unit decides where it goes. */
  deferralUndecided: boolean;
  resolve(reply: unknown): void;
  reject(error: AppError): void;
  /** The turn's answer, sent once it is committed. */
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
    repeat: false,
    trace,
    failures: 0,
    alone: false,
    deadLetterReason: null,
    deadLetter: null,
    order: 0,
    askedAtMs: 0,
    pendingAt: -1,
    isRemote: false,
    mayHaveEffect: false,
    settled: false,
    predecessor: null,
    successor: null,
    deferredKey: null,
    deferralUndecided: false,
    resolve: noCaller,
    reject: noCaller,
    reply: undefined,
    error: undefined,
  };
}

/** Messages, outcomes and timers are in the database until a turn consumes them; asks and queries are in memory only. */
export function isDurable({ source }: Envelope): boolean {
  return source.kind !== 'ask' && source.kind !== 'query';
}

function noCaller(): void {}
