/** Commands and queries of a task. */

import { type ActorRef, actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Granted } from '../../../scopes.ts';
import type { TaskPort, WaitingFor } from '../../accounts/contract.ts';
import type { DeliveredFile, DeliveryPort } from '../../workspaces/contract.ts';
import type { AgentStatus, AgentWaitsFor } from '../agent/entity.ts';
import type { Approval, TaskConfig, TaskRow, TurnRequest } from './entity.ts';
import type { Planned } from './plan.ts';

export type CreateTask = {
  accountId: string;
  userId: string;
  mode: 'live' | 'test';
  /** Scopes of the key that creates it; null: a session creates it, with all scopes. */
  scopes: Granted;
  prompt: string;
  config: TaskConfig;
  /** null: the task gets a workspace of its own. */
  workspaceId: string | null;
};

/** An agent's report to its task when something displayed has changed. */
export type AgentReport = {
  agentId: string;
  status: AgentStatus;
  /** Not sent by a node of an older version. */
  waitingFor?: AgentWaitsFor | null;
  /** Its conversation holds text of others. */
  untrusted?: boolean;
  currentTool: string | null;
  progress: number;
  result: string | null;
  error: string | null;
  /** A granted model turn has ended; null: none has. */
  turn: { tokens: number; costMillicents: number; model: string | null } | null;
  /** An approval that is new or was decided. */
  approval: Approval | null;
  /** It has no running work and requests nothing: its place is free. */
  rests: boolean;
  /** How long it has worked since the last report, and in total. */
  work: { ms: number; inAllMs: number } | null;
};

export type TaskContract = {
  commands: {
    create(input: CreateTask): TaskRow;
    /** From its account: it is this task's turn. */
    begin(input: Record<string, never>): void;
    planned(input: EffectResult<Planned>): void;
    /** From an agent without running work. */
    requestTurn(input: TurnRequest): void;
    /** From its account: the task cannot begin now; contains the reason. */
    mustWait(input: { waitingFor: WaitingFor }): void;
    /** From its account: a requested place cannot be given now, because the plan allows no more agents at work at once. */
    placeLacking(input: { place: string; allowed: number }): void;
    /** From its account: a requested place is given. */
    placeGiven(input: { place: string }): void;
    /** From its account: the usage of an agent is counted. */
    counted(input: { place: string }): void;
    /** From its account: a limit of the plan is reached, or no longer is. */
    planLimit(input: { reached: boolean; limit: WaitingFor | null }): void;
    report(input: AgentReport): void;
    /** `scopes`: the rights of the requesting agent, which the new agent gets too. */
    delegate(input: { agentId: string; callId: string; type: string; prompt: string; scopes: Granted }): void;
    delivered(input: DeliveredFile): void;
    /** Sets `max_credits`; null: no budget. Refused with `conflict` when the task has ended. */
    changeBudget(input: { maxCredits: number | null }): TaskRow;
    /** Ends the task and all its agents. Refused with `conflict` when it has ended. */
    cancel(input: Record<string, never>): TaskRow;
  };
  queries: { get(input: null): TaskRow | null };
  effects: {
    plan(input: Record<string, never>): Planned;
  };
};

export const task = actorRef<TaskContract>('task') satisfies ActorRef<TaskPort & DeliveryPort>;
