/** Commands and queries of an agent. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { ModelReply, ToolCall as ModelToolCall } from '../../../providers/model/port.ts';
import type { Granted } from '../../../scopes.ts';
import type { Approval } from '../task/entity.ts';
import type { ToolOutcome } from '../tools/port.ts';
import type { CheckedArguments } from '../tools/source.ts';
import type { AgentRow, AgentStatus, CallSource } from './entity.ts';

export type CreateAgent = {
  taskId: string;
  accountId: string;
  workspaceId: string;
  type: string;
  title: string;
  prompt: string;
  autonomyLevel: number;
  mode: 'live' | 'test';
  scopes: Granted;
  ownsWorkspace: boolean;
  model: string | null;
  /** Set for the agent that must write output.json. */
  outputSchema: object | null;
  /** Not sent by a node of an older version. */
  allowConnect?: boolean;
};

/** The answer to a user's action on an agent. */
export type AgentAction = { id: string; status: AgentStatus; message: string };

/** The caller who directs an agent, and the caller's own rights. */
export type DirectedBy = {
  /** The user or the key; null: unknown. */
  id: string | null;
  via: 'session' | 'api_key';
  mode: 'live' | 'test';
  scopes: Granted;
};

export type Approve = {
  approvalId: string;
  approved: boolean;
  reason: string | null;
  /** Replaces the model's arguments; null: they stay. */
  editedArguments: object | null;
  by: DirectedBy;
};

/** `callId`: the model's own. `approvedBasis`: of the preview that a person approved. */
export type ToolCall = { callId: string; name: string; arguments: unknown; approvedBasis?: unknown };

/** A call of a tool that came from a source. */
export type SourcedCall = ToolCall & { connection: string | null; repeatable: boolean };

/**
 * A model's answer; its calls of sourced tools are checked, and carry what turns must know about the tool. `isGone`: the tool was offered and
 * is not there any more.
 */
export type AgentReply = Omit<ModelReply, 'toolCalls'> & {
  toolCalls: (ModelToolCall & { sourced?: { source: CallSource; checked: CheckedArguments }; isGone?: boolean })[];
  /** The account's setting `trust_tool_content`. */
  trustsContent?: boolean;
};

/** `problem`: the error in output.json, as a text for the model, or null. `untrusted`: the file holds text that others wrote. */
export type OutputCheck = { problem: string | null; untrusted?: boolean };

export type AgentContract = {
  commands: {
    create(input: CreateAgent): void;
    /** The agents it depends on have ended; `context` has their results. */
    begin(input: { context: string }): void;
    /** The task grants what was requested; the agent has a place now. `untrusted`: an agent of the task has read text of others. */
    turnGranted(input: { untrusted?: boolean }): void;
    /** Starts nothing more until it is granted a turn again: a limit of the plan is reached. */
    stop(input: Record<string, never>): void;
    modelled(input: EffectResult<AgentReply>): void;
    toolDone(input: EffectResult<ToolOutcome>): void;
    previewed(input: EffectResult<ToolOutcome>): void;
    outputChecked(input: EffectResult<OutputCheck>): void;
    delegated(input: { callId: string; outcome: ToolOutcome }): void;
    /** This service is connected now. */
    connectionMade(input: { service: string }): void;
    /** The agent ends if it relies on this connection. `message` is its error. */
    connectionLost(input: { connection: string; message: string }): void;
    /** The task has ended: the agent ends too, if it has not. */
    taskEnded(input: Record<string, never>): void;
    pause(input: Record<string, never>): AgentAction;
    resume(input: Record<string, never>): AgentAction;
    cancel(input: Record<string, never>): AgentAction;
    guide(input: { message: string; by: DirectedBy }): AgentAction;
    approve(input: Approve): AgentAction;
  };
  queries: {
    get(input: null): AgentRow | null;
    /** The approval, if the caller may decide about it; refused as `approve` is, also if it is already decided. */
    decidable(input: { approvalId: string; by: DirectedBy }): Approval;
  };
  effects: {
    model(input: { turn: number }): AgentReply;
    tool(input: ToolCall): ToolOutcome;
    /**
     * A tool that spends. Versions without slots in the ids of orders do not know this effect, so they cannot run the call under other ids,
     * and spend twice.
     */
    purchase(input: ToolCall): ToolOutcome;
    /** What a person is shown of a call before deciding about it: a `Preview` as its result. */
    preview(input: ToolCall): ToolOutcome;
    /** These two leave calls of sourced tools to nodes that know such tools. */
    sourcedTool(input: SourcedCall): ToolOutcome;
    sourcedPreview(input: SourcedCall): ToolOutcome;
    checkOutput(input: Record<string, never>): OutputCheck;
  };
};

export const agent = actorRef<AgentContract>('agent');
