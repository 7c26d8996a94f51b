/** Why a request to an MCP server failed, in kinds that callers act on. */

/** What a 401 says of how to get in. */
export type Challenge = { resourceMetadataUrl: string | null; scope: string | null };

export type McpFailure =
  /** It takes no request without another token. */
  | { type: 'unauthorized'; challenge: Challenge }
  /** `scope`: what the token lacks, where the server says so. */
  | { type: 'forbidden'; scope: string | null }
  | { type: 'not_found' }
  /** It refused the arguments, or what it answered is not what it declared. */
  | { type: 'invalid' }
  | { type: 'rate_limited'; retryAfterMs: number | null }
  /** No usable answer: `sent` is whether the call may have been carried out. */
  | { type: 'unavailable'; sent: boolean };

/** `message` may be shown to agents and people: it holds no header and no token. */
export class McpFailed extends Error {
  override name = 'McpFailed';
  readonly failure: McpFailure;
  constructor(failure: McpFailure, message: string, options?: ErrorOptions) {
    super(message.slice(0, maxMessageChars), options);
    this.failure = failure;
  }
}

const maxMessageChars = 2_000;
