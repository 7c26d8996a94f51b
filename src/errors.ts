/** The one closed table of failures. Edge, transport and retry read only the code; message texts are for people. */

export const errorCodes = {
  bad_request: { http: 400, retry: 'never', public: true },
  unauthenticated: { http: 401, retry: 'never', public: true },
  plan_required: { http: 402, retry: 'never', public: true },
  forbidden: { http: 403, retry: 'never', public: true },
  not_found: { http: 404, retry: 'never', public: true },
  method_not_allowed: { http: 405, retry: 'never', public: true },
  conflict: { http: 409, retry: 'never', public: true },
  payload_too_large: { http: 413, retry: 'never', public: true },
  /** The command has had its effect; its reply cannot be sent. */
  reply_too_large: { http: 413, retry: 'never', public: true },
  unsupported_media_type: { http: 415, retry: 'never', public: true },
  invalid: { http: 422, retry: 'never', public: true },
  rate_limited: { http: 429, retry: 'later', public: true },
  internal: { http: 500, retry: 'never', public: false },
  /** A service that a request relies on gave no answer that can be used; nothing was stored. */
  upstream_failed: { http: 502, retry: 'later', public: true },
  /** This node has more work than it accepts in its queues. */
  overloaded: { http: 503, retry: 'later', public: true },
  /** One actor has more waiting messages than its mailbox holds. */
  mailbox_full: { http: 503, retry: 'later', public: true },
  /** The node is stopping; another node answers. */
  draining: { http: 503, retry: 'later', public: true },
  /** A provider, the database or the sandbox does not answer now. */
  unavailable: { http: 503, retry: 'later', public: true },
  /** The disk is full: nothing new is accepted until the operator has freed space. */
  storage_full: { http: 503, retry: 'later', public: true },
  shard_not_owned: { http: 503, retry: 'reroute', public: false },
  stale_epoch: { http: 503, retry: 'reroute', public: false },
  /** No answer in time; the command may have taken effect. Retry with the same idempotency key. */
  outcome_unknown: { http: 504, retry: 'same_key', public: true },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One entry of a 422 body, in the shape of `interface.md` §7. */
export type Issue = { loc: string[]; msg: string; type: string; input: unknown; ctx: Record<string, unknown> };

/** A failure with a code of the table. `message` is shown to callers when the code is public: no secrets, no internals. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Only with code `invalid`: the fields and their errors. */
  readonly issues: Issue[] | undefined;
  /** Seconds after which a retry makes sense, if known. */
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; issues?: Issue[]; retryAfterS?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = options.issues;
    this.retryAfterS = options.retryAfterS;
  }
}

/**
 * A tool call failed in a way that this message explains to the agent, which may find another way. Any other error of a tool is a defect
 * and is reported as such.
 */
export class ToolError extends Error {
  override name = 'ToolError';
  /** JSON. With it the agent gets `{error: {message, ...details}}` in place of `{error: message}`. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, { cause, details }: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.details = details;
  }
}

/** Whether the effect may have happened despite this error, or has happened. For an unexpected error the effect is unknown. */
export function mayHaveHappened(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'outcome_unknown' || error.code === 'reply_too_large');
}

/** A 504: no answer in time, and the request may have had its effect. */
export function outcomeUnknown(cause?: unknown): AppError {
  return new AppError(
    'outcome_unknown',
    'No answer in time: it may have happened. Ask again with the same Idempotency-Key to learn its outcome',
    cause === undefined ? {} : { cause },
  );
}

/** A 422 about one field, e.g. `invalidField(['body', 'name'], 'Name is taken', 'value_error')`. */
export function invalidField(loc: string[], msg: string, type = 'value_error', input: unknown = null): AppError {
  return new AppError('invalid', msg, { issues: [{ loc, msg, type, input, ctx: {} }] });
}
