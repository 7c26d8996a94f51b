/** Commands and queries of an agent. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { ModelReply } from '../../../providers/model/port.ts';
import type { Granted } from '../../../scopes.ts';
import type { Approval } from '../task/entity.ts';
import type { ToolOutcome } from '../tools/port.ts';
import type { AgentRow, AgentStatus } from './entity.ts';

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

export type AgentContract = {
  commands: {
    create(input: CreateAgent): void;
    /** The agents it depends on have ended; `context` has their results. */
    begin(input: { context: string }): void;
    /** The task grants what was requested; the agent has a place now. */
    turnGranted(input: Record<string, never>): void;
    /** Starts nothing more until it is granted a turn again: a limit of the plan is reached. */
    stop(input: Record<string, never>): void;
    modelled(input: EffectResult<ModelReply>): void;
    toolDone(input: EffectResult<ToolOutcome>): void;
    previewed(input: EffectResult<ToolOutcome>): void;
    outputChecked(input: EffectResult<{ problem: string | null }>): void;
    delegated(input: { callId: string; outcome: ToolOutcome }): void;
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
    model(input: { turn: number }): ModelReply;
    tool(input: ToolCall): ToolOutcome;
    /**
     * A tool that spends. Versions without slots in the ids of orders do not know this effect, so they cannot run the call under other ids,
     * and spend twice.
     */
    purchase(input: ToolCall): ToolOutcome;
    /** What a person is shown of a call before deciding about it: a `Preview` as its result. */
    preview(input: ToolCall): ToolOutcome;
    checkOutput(input: Record<string, never>): { problem: string | null };
  };
};

export const agent = actorRef<AgentContract>('agent');
