/** Tasks: their configuration, summaries of their agents, approvals and deliverables. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Need } from '../../../authority.ts';
import type { Granted } from '../../../scopes.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { WaitingFor } from '../../accounts/contract.ts';
import type { AgentStatus, AgentWaitsFor } from '../agent/entity.ts';

export const taskStatuses = ['pending', 'planning', 'running', 'paused', 'complete', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof taskStatuses)[number];
/** `expired`: the agent ended before a decision. */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

/** `counting`: the last model turn was reported to the account, which has not confirmed that it is counted. */
/** `lacking`: the account cannot give the place now, because its plan allows no more agents at work at once. */
export type Place = { name: string; held: boolean; counting: boolean; lacking?: number };
/** What an agent requests of its task: a model turn, or to continue its tool calls. */
export type TurnRequest = { agentId: string; wants: 'turn' | 'calls' };

/** `config` of a task as the caller gave it, with defaults. */
export type TaskConfig = {
  max_agents: number;
  autonomy_level: number;
  auto_deploy: boolean;
  deploy_target: string | null;
  model?: string;
  max_credits?: number;
  output_schema?: object;
  /** Agents may wait until a service is connected. */
  allow_connect?: boolean;
};

/** The task's copy of an agent's state; the agent itself is authoritative. */
export type AgentSummary = {
  id: string;
  type: string;
  title: string;
  prompt: string;
  status: AgentStatus;
  /** Missing in reports of earlier versions. */
  waitingFor?: AgentWaitsFor | null;
  currentTool: string | null;
  progress: number;
  tokensUsed: number;
  model: string | null;
  result: string | null;
  error: string | null;
  /** Agents that must have ended before this one begins. */
  after: string[];
  begun: boolean;
  /** It writes the task's output.json: without it the task fails. */
  owesOutput: boolean;
  /** The agent and the tool call that requested this one. */
  delegatedBy: { agentId: string; callId: string } | null;
};

export type Approval = {
  id: string;
  agentId: string;
  action: string;
  arguments: unknown;
  status: ApprovalStatus;
  reason: string | null;
  createdAt: number;
  decidedAt: number | null;
  /** The user or key that decided. These three are missing in approvals of earlier versions. */
  decidedBy?: string | null;
  decidedVia?: 'session' | 'api_key' | null;
  /** The arguments of the call, in place of `arguments`. */
  editedArguments?: object | null;
  /** What it does, in words, where its tool says so. */
  summary?: string;
  /** Of sourced tools: the scope for deciding about it. */
  need?: Need;
};

export const Task = defineEntity({
  name: 'Task',
  tableName: 'task',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    userId: p.text(),
    mode: p.text().$type<'live' | 'test'>(),
    /** Scopes of the key that created it; null: a session created it, with all scopes. */
    scopes: json<Granted>().strictNullable(),
    /** Its workspace was created for it. */
    ownsWorkspace: p.boolean(),
    /** One of its agents has read text that others wrote. */
    holdsUntrusted: p.boolean(),
    status: p.text().$type<TaskStatus>(),
    pauseReason: p.text().strictNullable(),
    prompt: p.text(),
    config: json<TaskConfig>(),
    workspaceId: p.text(),
    agents: json<AgentSummary[]>(),
    approvals: json<Approval[]>(),
    /** The effect that plans, while it runs. */
    planEffectId: p.text().strictNullable(),
    /** Agents whose model turn was granted and has not ended. */
    granted: json<string[]>(),
    /** Agents that wait for a grant, in order of arrival. */
    waiting: json<TurnRequest[]>(),
    /** Places requested of the account, by agent; and how many were requested so far, which numbers them. */
    places: json<Record<string, Place>>(),
    placesAsked: p.integer(),
    /** A limit of the account's plan is reached: nothing is started. */
    limitReached: p.boolean(),
    /** Why none of its agents is at work, if the account's plan is the reason. */
    waitingFor: json<WaitingFor>().strictNullable(),
    deliverables: json<string[]>(),
    /** Of `auto_deploy`, from its completion on. */
    deploymentId: p.text().strictNullable(),
    tokensUsed: p.integer(),
    costMillicents: p.bigint('number'),
    error: p.text().strictNullable(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
    completedAt: epochMs().strictNullable(),
  },
});
export type TaskRow = InferEntity<typeof Task>;

/** A file that a task has delivered: its content at the agent's last write, independent of later changes in the workspace. */
export const Deliverable = defineEntity({
  name: 'Deliverable',
  tableName: 'deliverable',
  properties: {
    id: p.text().primary(),
    taskId: p.text(),
    accountId: p.text(),
    name: p.text(),
    type: p.text(),
    sizeBytes: p.bigint('number'),
    sha256: p.text(),
    contentKey: p.text(),
    createdAt: epochMs(),
  },
});
export type DeliverableRow = InferEntity<typeof Deliverable>;
