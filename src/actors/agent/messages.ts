/** What can be asked of an agent. */
import type { ModelReply } from '../../providers/model/port.ts';
import type { ToolOutcome } from '../../providers/tools/port.ts';
import type { AgentRow, AgentStatus } from '../../storage/entities/work.ts';
import { actorRef, type EffectResult } from '../runtime/define-actor.ts';

export type CreateAgent = {
  taskId: string;
  accountId: string;
  workspaceId: string;
  type: string;
  title: string;
  prompt: string;
  autonomyLevel: number;
  model: string | null;
  /** Set for the agent that must write output.json. */
  outputSchema: object | null;
};

/** What an action of a person on an agent answers. */
export type AgentAction = { id: string; status: AgentStatus; message: string };

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
    guide(input: { message: string }): AgentAction;
    approve(input: { approvalId: string; approved: boolean; reason: string | null }): AgentAction;
  };
  queries: { get(input: null): AgentRow | null };
};

export const agent = actorRef<AgentContract>('agent');
