/** The port to a language model: one turn at a time. The loop, the tools and the history belong to the agent. */

export type ToolCall = { id: string; name: string; arguments: unknown };

/** One entry of a conversation, oldest first. */
export type ModelMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; toolCalls: ToolCall[] }
  /** `untrusted`: the result holds text that others wrote. */
  | { role: 'tool'; callId: string; name: string; result: unknown; isError: boolean; untrusted?: boolean };

/** A tool in the model's view. `parameters` is a JSON Schema of an object. */
export type ToolOffer = { name: string; description: string; parameters: object };

/** A tool that exists but is not available in this conversation, because a scope was not granted. */
export type WithheldTool = { name: string; scope: string };

export type ModelRequest = {
  system: string;
  messages: ModelMessage[];
  tools: ToolOffer[];
  /** Tools that are not offered, with the reason; `system` contains it too. */
  withheld?: WithheldTool[];
  /** If set, the answer's text must be one JSON value that matches this schema (`response_format: json_schema`). */
  outputSchema?: { name: string; schema: object };
  maxOutputTokens: number;
  /** The model to use instead of the configured one (`config.model` of a task). */
  model?: string;
};

export type ModelReply = {
  text: string;
  toolCalls: ToolCall[];
  inputTokens: number;
  outputTokens: number;
  /** US cents × 1,000, from the price list; 0 for a model without cost. */
  costMillicents: number;
  /** The model that answered. */
  model: string;
};

export type TurnOptions = {
  signal: AbortSignal;
  /** The same for every try of one turn; sent to the provider if it supports such keys. */
  idempotencyKey: string;
  /** The account of the turn: if the model runs in this service itself, accounts are served round-robin. */
  account?: string;
  /** Called with each piece of text as it streams in. After an interrupted try, the pieces start again from the beginning. */
  onText?: (piece: string) => void;
};

export interface Model {
  /** The name for display, e.g. `offline` or `gpt-5`. */
  readonly name: string;
  /**
   * Runs one turn. Retries 429, 5xx and broken connections with back-off, a limited number of times. Throws `AppError('unavailable')` when
   * the model cannot be reached, refuses, or its answer cannot be read; the message states the cause for the task's owner. Aborting
   * `signal` rejects at once and ends the request. Tool-call arguments that are not valid JSON are returned as the raw string, so that the
   * agent gets an error for them.
   */
  turn(request: ModelRequest, options: TurnOptions): Promise<ModelReply>;
}
