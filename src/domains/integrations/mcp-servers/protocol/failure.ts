/** Why a request to an MCP server failed, in kinds that callers act on. */

/** The contents of a 401's challenge. */
export type Challenge = { resourceMetadataUrl: string | null; scope: string | null };

export type McpFailure =
  /** It accepts no request without another token. */
  | { type: 'unauthorized'; challenge: Challenge }
  /** `scope`: the missing scope, if the server names it. */
  | { type: 'forbidden'; scope: string | null }
  | { type: 'not_found' }
  /** It refused the arguments, or its answer does not match its declaration. */
  | { type: 'invalid' }
  | { type: 'rate_limited'; retryAfterMs: number | null }
  /** No usable answer: `sent` is whether the call may have been carried out. */
  | { type: 'unavailable'; sent: boolean };

/** `message` may be shown to agents and people: it contains no header and no token. */
export class McpFailed extends Error {
  override name = 'McpFailed';
  readonly failure: McpFailure;
  constructor(failure: McpFailure, message: string, options?: ErrorOptions) {
    super(message.slice(0, maxMessageChars), options);
    this.failure = failure;
  }
}

const maxMessageChars = 2_000;
