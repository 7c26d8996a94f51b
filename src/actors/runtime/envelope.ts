/** A message on its way through one node: what is asked of whom, until when, and who must hear the answer. */

/** What brought the envelope, and must be gone from the database when its turn is committed. */
export type Source =
  | { kind: 'ask' }
  | { kind: 'message'; id: string }
  | { kind: 'effect'; id: string }
  /** `dueMs` tells whether the timer still is the one that fired. */
  | { kind: 'timer'; name: string; dueMs: number };

export type Envelope = {
  command: string;
  input: unknown;
  source: Source;
  /** Wall clock, milliseconds; Infinity for what must be done whenever it can be. */
  deadlineMs: number;
  /** The caller's idempotency key, if it has one. */
  commandId: string | null;
  /** How often its turn or its commit has failed unexpectedly. From the first failure on it runs alone, so that it can be blamed alone. */
  failures: number;
  /** Its turn has been taken: from here on a missing answer means that nobody knows. */
  taken: boolean;
  settled: boolean;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
  /** The turn's answer, told once it is committed. */
  reply: unknown;
  error: unknown;
  deferred: boolean;
};

const ask: Source = { kind: 'ask' };

export function newEnvelope(command: string, input: unknown, deadlineMs: number, commandId: string | null, source: Source = ask): Envelope {
  return {
    command,
    input,
    source,
    deadlineMs,
    commandId,
    failures: 0,
    taken: false,
    settled: false,
    resolve: noCaller,
    reject: noCaller,
    reply: undefined,
    error: undefined,
    deferred: false,
  };
}

function noCaller(): void {}
