/** Tools: the actions of an agent. Each domain brings its own, each in a separate file; `catalogue.ts` makes one toolbox of all. */
import type { TObject } from 'typebox';
import type { Authority, Need } from '../../../authority.ts';
import type { ToolOffer, WithheldTool } from '../../../providers/model/port.ts';
import type { WorkspaceAccess } from '../../workspaces/contract.ts';
import type { CallSource } from '../agent/entity.ts';
import type { SourcedTool } from './source.ts';

export const agentTypes = ['researcher', 'builder', 'analyst', 'trader', 'email', 'social'] as const;
export type AgentType = (typeof agentTypes)[number];

/** Mails to people, on behalf of the agent's account. */
export interface AgentMail {
  /** Returns where the mail is, as a text. A `ToolError` if the account may not send it; otherwise rejects as `MailProvider.send` does. */
  send(mail: { to: string; subject: string; text: string }): Promise<{ detail: string }>;
}

export type ToolContext = {
  accountId: string;
  taskId: string;
  agentId: string;
  /** The same for every try of this call: the idempotency key if the receiving service supports one. */
  callId: string;
  /** An earlier try of this call may have been started. */
  isRepeat: boolean;
  /** The account whose slot is in ids derived from `callId`; null for a call that an earlier version recorded, whose ids have none. */
  slotOwner: string | null;
  /** The agent's rights; `mode` decides whether it spends live or test money. */
  authority: Authority;
  /** Aborted on cancel and at the tool's time limit. */
  signal: AbortSignal;
  workspace: WorkspaceAccess;
  workspaceId: string;
  mail: AgentMail;
  /** `basis` of the preview that a person approved; null if no approval was needed. */
  approvedBasis: unknown;
  /** Frees the call's concurrency slot: from now on the tool only waits for something that is bounded elsewhere. */
  releaseSlot(): void;
};

/** What a person reads before deciding about a call. */
export type Preview = {
  /** Plain text, a few lines. */
  text: string;
  /** JSON: the outside state that the text is based on, for `run` to compare. */
  basis: unknown;
};

/** Thrown by `run` before it has done anything, if the approved preview is out of date: this preview needs a new approval. */
export class ApprovalExpired extends Error {
  readonly preview: Preview;
  constructor(preview: Preview) {
    super('What was approved does not hold any more');
    this.preview = preview;
  }
}

export type Tool = {
  /** Part of recorded calls: never change it. */
  name: string;
  /** Which agent types have it. */
  agentTypes: 'all' | readonly AgentType[];
  /** Written for the model: what it does, when to use it, what it returns. */
  description: string;
  parameters: TObject;
  /** The scope that the task needs for this tool, and that a person needs to approve a call: the same as for the operation over REST. */
  need: Need;
  /** Sends something to a person, spends, trades or deploys: needs approval below autonomy 100. */
  highConsequence: boolean;
  /**
   * Repeating it after a crash, with the same `callId`, does no harm. If false, an interrupted call is not repeated: the agent gets an
   * unknown outcome.
   */
  repeatable: boolean;
  /** Its results hold text that others wrote, which must not direct the agent: a page, a mail, a message. Default: false. */
  untrusted?: boolean;
  timeoutMs: number;
  /**
   * For a call that waits for approval: what the person is shown beside the arguments, made before the approval is raised. A `ToolError` refuses
   * the call, and no approval is requested. It changes nothing.
   */
  preview?(args: any, context: ToolContext): Promise<Preview>;
  /** `args` match `parameters`. The result is JSON; it is shortened to `maxResultBytes` before it is recorded. */
  run(args: any, context: ToolContext): Promise<unknown>;
};

/** Longest recorded result of a tool call. Tools use pages or summaries for longer results. */
export const maxResultBytes = 64 * 1024;

/**
 * The outcome of a call, as recorded and sent to the model. With `askAgain` nothing was done, and the call waits for a person. The last three
 * are of sourced tools.
 */
export type ToolOutcome = {
  result: unknown;
  isError: boolean;
  /** It holds text that others wrote, which the call has read in a file of the workspace. */
  untrusted?: boolean;
  askAgain?: Preview;
  /** Nothing was done: the call waits until the service is connected. */
  needsConnection?: { service: string; tool: string; connectUrl: string };
  /** Nothing was done: a tool that had no connection when it was called has one now. */
  nowConnected?: CallSource;
  /** The agent ends with this error. */
  connectionLost?: string;
};

/** The agents' interface to tools: the instructions and tools of each type, and how a call is checked and run. */
export interface Toolbox {
  /** The system instructions of an agent type. */
  instructionsFor(type: AgentType): string;
  /**
   * Tools in the form for a model, including `delegate` and `finish`, in a fixed order: those of the type that the authority allows.
   *
   * @param sourced those of the sources that the agent may use; they replace others of the same name
   */
  offersFor(type: AgentType, authority: Authority, sourced?: readonly SourcedTool[]): ToolOffer[];
  /** The other tools of the type, each with the scope that is missing for it. */
  withheldFrom(type: AgentType, authority: Authority): WithheldTool[];
  /** Whether agents of this type have the tool, which scope a call needs, and whether it needs approval. */
  find(type: AgentType, name: string): Pick<Tool, 'name' | 'need' | 'highConsequence' | 'untrusted' | 'preview'> | undefined;
  /** Whether a call of the tool may be repeated after a crash. */
  isRepeatable(name: string): boolean;
  /** Arguments that match the tool's schema, or the error as a text that a model can act on. */
  check(name: string, sent: unknown): { ok: true; args: Record<string, unknown> } | { ok: false; message: string };
  /** What a person is to be shown of a call: a `Preview` as the result, or why it is refused. As `run` otherwise. */
  preview(name: string, args: unknown, context: ToolContext, onDefect: (error: unknown) => void): Promise<ToolOutcome>;
  /** Runs a call, unless `context.authority` does not allow it; rejects only when `context.signal` is aborted. Failures are outcomes. `onDefect` is called for defects of the service. */
  run(name: string, args: unknown, context: ToolContext, onDefect: (error: unknown) => void): Promise<ToolOutcome>;
  /** As `run` and `preview`, of a tool that a source has just named. A result that is too long for the model is kept in a file of the workspace. */
  runSourced(tool: SourcedTool, args: unknown, context: ToolContext, onDefect: (error: unknown) => void): Promise<ToolOutcome>;
  previewSourced(tool: SourcedTool, args: unknown, context: ToolContext, onDefect: (error: unknown) => void): Promise<ToolOutcome>;
}
