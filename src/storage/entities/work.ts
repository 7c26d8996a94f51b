/** Work and its results: tasks, their agents with each step, workspaces with their files, deliverables. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Granted } from '../../scopes.ts';
import { epochMs, json } from '../column-types.ts';

export const taskStatuses = ['pending', 'planning', 'running', 'paused', 'complete', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof taskStatuses)[number];
export type AgentStatus = 'idle' | 'thinking' | 'acting' | 'waiting' | 'complete' | 'error' | 'paused' | 'cancelled';
/** `expired`: the agent ended before anybody decided. */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

/**
 * What an agent does next, unless it is paused or waits for a person: `new` (not begun), `ready` (to ask for a model turn), `asking` (for
 * the task's grant of it), `modelling`, `calling` (tools), `queued` (for the task's leave to go on calling), `closing` (it has its closing
 * words, and checks its output), `ended`.
 */
export type AgentPhase = 'new' | 'ready' | 'asking' | 'modelling' | 'calling' | 'queued' | 'closing' | 'ended';
/** Whether an agent may start something: `stopping` means only what is in flight may end. */
export type AgentPlace = 'none' | 'held' | 'stopping';
/** `counting`: the account has been told of the last model turn, and has not said that it has counted it. */
/** `lacking`: the account has said that it cannot give the place now, as so many agents are at work as its plan allows at once. */
export type Place = { name: string; held: boolean; counting: boolean; lacking?: number };
/** What an agent asks its task for: a model turn, or to go on with its tool calls. */
export type TurnRequest = { agentId: string; wants: 'turn' | 'calls' };

/**
 * What keeps a task waiting: the plan lets no more tasks or agents work at once (`allowed` is how many), or what it allows in a billing
 * period is used up until `resetsAtMs`.
 */
export type WaitingFor =
  | { kind: 'concurrency'; of: 'tasks' | 'agents'; allowed: number }
  | { kind: 'plan_limit'; of: 'tasks' | 'agent_minutes' | 'credits'; allowed: number; resetsAtMs: number };

/** `config` of a task as the caller gave it, defaults filled in. */
export type TaskConfig = {
  max_agents: number;
  autonomy_level: number;
  auto_deploy: boolean;
  deploy_target: string | null;
  model?: string;
  max_credits?: number;
  output_schema?: object;
};

/** What the task knows of one of its agents; the agent itself is the authority. */
export type AgentSummary = {
  id: string;
  type: string;
  title: string;
  prompt: string;
  status: AgentStatus;
  currentTool: string | null;
  progress: number;
  tokensUsed: number;
  model: string | null;
  result: string | null;
  error: string | null;
  /** Agents that must have ended before this one begins. */
  after: string[];
  begun: boolean;
  /** It writes the task's output.json: without it the task has failed. */
  owesOutput: boolean;
  /** The agent and the tool call that asked for this one. */
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
  /** What the call was made with instead of `arguments`. */
  editedArguments?: object | null;
};

export const Task = defineEntity({
  name: 'Task',
  tableName: 'task',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    userId: p.text(),
    mode: p.text().$type<'live' | 'test'>(),
    /** Of the key that made it; null: a session made it, which holds all. */
    scopes: json<Granted>().strictNullable(),
    /** Its workspace was made for it. */
    ownsWorkspace: p.boolean(),
    status: p.text().$type<TaskStatus>(),
    pauseReason: p.text().strictNullable(),
    prompt: p.text(),
    config: json<TaskConfig>(),
    workspaceId: p.text(),
    agents: json<AgentSummary[]>(),
    approvals: json<Approval[]>(),
    /** The effect that plans, while it runs. */
    planEffectId: p.text().strictNullable(),
    /** Agents whose model turn was granted and has not come back. */
    granted: json<string[]>(),
    /** Agents that wait for a grant, first come first served. */
    waiting: json<TurnRequest[]>(),
    /** Places at work asked of the account, by agent; and how many have been asked for so far, which numbers them. */
    places: json<Record<string, Place>>(),
    placesAsked: p.integer(),
    /** A limit of the account's plan is reached: nothing is started. */
    limitReached: p.boolean(),
    /** Why nothing of it is at work, where the account's plan is the reason. */
    waitingFor: json<WaitingFor>().strictNullable(),
    deliverables: json<string[]>(),
    tokensUsed: p.integer(),
    costMillicents: p.bigint('number'),
    error: p.text().strictNullable(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
    completedAt: epochMs().strictNullable(),
  },
});
export type TaskRow = InferEntity<typeof Task>;

/** A tool call of the step an agent is in. */
export type PendingCall = {
  id: string;
  name: string;
  arguments: unknown;
  approvalId: string | null;
  /** Whoever approved it changed the arguments: the result says so. */
  edited?: boolean;
};

export const Agent = defineEntity({
  name: 'Agent',
  tableName: 'agent',
  properties: {
    id: p.text().primary(),
    taskId: p.text(),
    accountId: p.text(),
    workspaceId: p.text(),
    type: p.text(),
    title: p.text(),
    prompt: p.text(),
    autonomyLevel: p.integer(),
    mode: p.text().$type<'live' | 'test'>(),
    /** Those of its task, or fewer; null: all. */
    scopes: json<Granted>().strictNullable(),
    ownsWorkspace: p.boolean(),
    /** Where guidance waits: what all who gave it may do. From the turn that hears it the agent may do no more. */
    guideScopes: json<Granted>().strictNullable(),
    model: p.text().strictNullable(),
    outputSchema: json<object>().strictNullable(),
    status: p.text().$type<AgentStatus>(),
    currentTool: p.text().strictNullable(),
    progress: p.integer(),
    /** How many model turns have been asked for. */
    turn: p.integer(),
    phase: p.text().$type<AgentPhase>(),
    /** The effect that runs for this phase. */
    effectId: p.text().strictNullable(),
    place: p.text().$type<AgentPlace>(),
    /** How long its model turns and tool calls have taken, and how much of it the task was told. */
    workedMs: p.bigint('number'),
    reportedMs: p.bigint('number'),
    /** Tool calls of the last model turn that have no result yet; the first is the one at work. */
    calls: json<PendingCall[]>(),
    /** What people said since the last model turn. */
    guidance: json<string[]>(),
    approvals: json<Approval[]>(),
    /** Model turns in a row that brought nothing usable. */
    badTurns: p.integer(),
    /** The tool calls of the last turn, and how many turns in a row have asked for just these. */
    repeated: json<{ calls: string; times: number }>(),
    /** Entries in the agent's history. */
    steps: p.integer(),
    /** How often the closing words came without a valid output.json. */
    outputRefusals: p.integer(),
    tokensUsed: p.integer(),
    costMillicents: p.bigint('number'),
    modelUsed: p.text().strictNullable(),
    result: p.text().strictNullable(),
    error: p.text().strictNullable(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
  },
});
export type AgentRow = InferEntity<typeof Agent>;

/** One entry of an agent's conversation, stored once: what a person said, what the model answered, what a tool gave. */
export const AgentStep = defineEntity({
  name: 'AgentStep',
  tableName: 'agent_step',
  properties: {
    agentId: p.text().primary(),
    step: p.integer().primary(),
    entry: json<unknown>(),
    createdAt: epochMs(),
  },
});

export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspace',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    name: p.text(),
    description: p.text().strictNullable(),
    status: p.text().$type<'active'>(),
    /** Not used any more: files are counted where they are read. */
    fileCount: p.integer(),
    createdAt: epochMs(),
  },
});
export type WorkspaceRow = InferEntity<typeof Workspace>;

/** One row a workspace name of an account: its actor makes names unique. */
export const WorkspaceName = defineEntity({
  name: 'WorkspaceName',
  tableName: 'workspace_name',
  properties: { id: p.text().primary(), workspaceId: p.text() },
});
export type WorkspaceNameRow = InferEntity<typeof WorkspaceName>;

export const WorkspaceFile = defineEntity({
  name: 'WorkspaceFile',
  tableName: 'workspace_file',
  properties: {
    /** Belongs to the name for as long as the workspace lives. */
    id: p.text().primary(),
    /** What callers know the file by: a name that was deleted and is used again is another file. Null: as `id`. */
    fileId: p.text().strictNullable(),
    /** How many files of this name there have been. */
    generation: p.integer(),
    workspaceId: p.text(),
    accountId: p.text(),
    name: p.text(),
    type: p.text(),
    sizeBytes: p.bigint('number'),
    sha256: p.text(),
    version: p.integer(),
    /** Where the content of this version lies in the file store. */
    contentKey: p.text(),
    status: p.text().$type<'present' | 'deleted'>(),
    createdAt: epochMs(),
  },
});
export type WorkspaceFileRow = InferEntity<typeof WorkspaceFile>;

/** A file a task has delivered: the content it had when the agent last wrote it, whatever the workspace holds later. */
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
