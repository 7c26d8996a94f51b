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

/** What an action of a person on an agent answers. */
export type AgentAction = { id: string; status: AgentStatus; message: string };

/** Who directs an agent, and what they may do themselves. */
export type DirectedBy = {
  /** The user or the key; null: not known. */
  id: string | null;
  via: 'session' | 'api_key';
  mode: 'live' | 'test';
  scopes: Granted;
};

export type Approve = {
  approvalId: string;
  approved: boolean;
  reason: string | null;
  /** Takes the place of the arguments the model gave; null: they stay. */
  editedArguments: object | null;
  by: DirectedBy;
};

/** `callId`: the model's own. */
export type ToolCall = { callId: string; name: string; arguments: unknown };

export type AgentContract = {
  commands: {
    create(input: CreateAgent): void;
    /** What it depends on has ended; `context` tells what came of it. */
    begin(input: { context: string }): void;
    /** What it asked its task for; it has a place at work now. */
    turnGranted(input: Record<string, never>): void;
    /** Starts nothing more until it is granted a turn anew: a limit of the plan is reached. */
    stop(input: Record<string, never>): void;
    modelled(input: EffectResult<ModelReply>): void;
    toolDone(input: EffectResult<ToolOutcome>): void;
    outputChecked(input: EffectResult<{ problem: string | null }>): void;
    delegated(input: { callId: string; outcome: ToolOutcome }): void;
    /** The task has ended: so does the agent, if it has not. */
    taskEnded(input: Record<string, never>): void;
    pause(input: Record<string, never>): AgentAction;
    resume(input: Record<string, never>): AgentAction;
    cancel(input: Record<string, never>): AgentAction;
    guide(input: { message: string; by: DirectedBy }): AgentAction;
    approve(input: Approve): AgentAction;
  };
  queries: {
    get(input: null): AgentRow | null;
    /** The approval, if the caller may decide about it; refused as `approve` is, whatever became of it. */
    decidable(input: { approvalId: string; by: DirectedBy }): Approval;
  };
  effects: {
    model(input: { turn: number }): ModelReply;
    tool(input: ToolCall): ToolOutcome;
    /** A tool that spends. Versions whose orders carry no slot know it not, so they cannot run the call under other ids, and spend twice. */
    purchase(input: ToolCall): ToolOutcome;
    checkOutput(input: Record<string, never>): { problem: string | null };
  };
};

export const agent = actorRef<AgentContract>('agent');
