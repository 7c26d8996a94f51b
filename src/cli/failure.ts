/** The end of a command that fails: one line for the user, and the exit code. */

export const exitCodes = {
  complete: 0,
  /** The task failed, or the service refused a request. */
  failed: 1,
  usage: 2,
  cancelled: 3,
  unreachable: 4,
  /** The task waits for money, not for an answer at this terminal. */
  paused: 5,
} as const;

export type FailureKind = 'usage' | 'refused' | 'unreachable';

/** The message is one line that states the problem and the next step; it contains no secrets. */
export class Failure extends Error {
  readonly kind: FailureKind;
  /** HTTP status of a refusal; null without an answer. */
  readonly status: number | null;

  constructor(kind: FailureKind, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Failure';
    this.kind = kind;
    this.status = options.status ?? null;
  }

  get exitCode(): number {
    return exitCodes[this.kind === 'refused' ? 'failed' : this.kind];
  }
}

/** No answer, or a balancer or a leaving node reports that no answer is possible now: worth a retry later. */
export function mayPass(error: unknown): error is Failure {
  return error instanceof Failure && (error.kind === 'unreachable' || isBusy(error.status));
}

export function isBusy(status: number | null): boolean {
  return status === 502 || status === 503 || status === 504;
}
