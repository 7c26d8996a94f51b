/** Commands and queries of a task. */

import { type ActorRef, actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Granted } from '../../../scopes.ts';
import type { TaskPort, WaitingFor } from '../../accounts/contract.ts';
import type { DeliveredFile, DeliveryPort } from '../../workspaces/contract.ts';
import type { AgentStatus } from '../agent/entity.ts';
import type { Approval, TaskConfig, TaskRow, TurnRequest } from './entity.ts';
import type { Planned } from './plan.ts';

export type CreateTask = {
  accountId: string;
  userId: string;
  mode: 'live' | 'test';
  /** Of the key that makes it; null: a session makes it, which holds all. */
  scopes: Granted;
  prompt: string;
  config: TaskConfig;
  /** null: the task gets a workspace of its own. */
  workspaceId: string | null;
};

/** What an agent tells its task whenever something that the task shows has changed. */
export type AgentReport = {
  agentId: string;
  status: AgentStatus;
  currentTool: string | null;
  progress: number;
  result: string | null;
  error: string | null;
  /** A model turn that was granted has come back; null when none has. */
  turn: { tokens: number; costMillicents: number; model: string | null } | null;
  /** An approval that is new or was decided. */
  approval: Approval | null;
  /** Nothing of it is in flight and it asks for nothing: its place at work is free. */
  rests: boolean;
  /** How long it has worked since it was last told, and in all. */
  work: { ms: number; inAllMs: number } | null;
};

export type TaskContract = {
  commands: {
    create(input: CreateTask): TaskRow;
    /** From its account: it is this task's turn. */
    begin(input: Record<string, never>): void;
    planned(input: EffectResult<Planned>): void;
    /** From an agent that has nothing in flight. */
    requestTurn(input: TurnRequest): void;
    /** From its account: it cannot begin now, and why. */
    mustWait(input: { waitingFor: WaitingFor }): void;
    /** From its account: a place that was asked for cannot be given now, as so many agents are at work as may be at once. */
    placeLacking(input: { place: string; allowed: number }): void;
    /** From its account: a place at work that was asked for. */
    placeGiven(input: { place: string }): void;
    /** From its account: what an agent used is counted. */
    counted(input: { place: string }): void;
    /** From its account: a limit of the plan is reached, or is not any more. */
    planLimit(input: { reached: boolean; limit: WaitingFor | null }): void;
    report(input: AgentReport): void;
    /** `scopes`: what the agent may do that asks, and so the one that it asks for. */
    delegate(input: { agentId: string; callId: string; type: string; prompt: string; scopes: Granted }): void;
    delivered(input: DeliveredFile): void;
    /** Ends the task and all its agents. Refused with `conflict` when it has ended. */
    cancel(input: Record<string, never>): TaskRow;
  };
  queries: { get(input: null): TaskRow | null };
  effects: {
    plan(input: Record<string, never>): Planned;
  };
};

export const task = actorRef<TaskContract>('task') satisfies ActorRef<TaskPort & DeliveryPort>;
