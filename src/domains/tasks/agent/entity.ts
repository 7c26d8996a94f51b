/** Agents with each step of their conversation. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Need } from '../../../authority.ts';
import type { Granted } from '../../../scopes.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { Approval } from '../task/entity.ts';
import type { Preview } from '../tools/port.ts';

export type AgentStatus = 'idle' | 'thinking' | 'acting' | 'waiting' | 'complete' | 'error' | 'paused' | 'cancelled';
/** What an agent in status `waiting` waits for: a decision about a call, or a connection of a service. */
export type AgentWaitsFor = 'approval' | 'authorization';
/**
 * The next step of an agent, unless it is paused or waits for a person: `new` (not begun), `ready` (to ask for a model turn), `asking` (for
 * the task's grant of it), `modelling`, `calling` (tools), `queued` (for the task's admission to further calls), `closing` (it has its
 * final answer, and checks its output), `ended`.
 */
export type AgentPhase = 'new' | 'ready' | 'asking' | 'modelling' | 'calling' | 'queued' | 'closing' | 'ended';
/** Whether an agent may start something: `stopping` means that only running work may end. */
export type AgentPlace = 'none' | 'held' | 'stopping';
/** What a turn must know about a tool that came from a source, as it was at the end of the model turn that called it. */
export type CallSource = {
  /** As in `SourcedTool`. */
  connection: string | null;
  service: string;
  need: Need;
  highConsequence: boolean;
  repeatable: boolean;
  previews: boolean;
  untrusted: boolean;
};
/** A tool call of the step an agent is in. */
export type PendingCall = {
  id: string;
  name: string;
  arguments: unknown;
  approvalId: string | null;
  /** The approver changed the arguments: the result says so. */
  edited?: boolean;
  /** What a person is shown of it, where its tool makes such a text. */
  preview?: Preview;
  /** Of calls of sourced tools. */
  source?: CallSource;
  /** The account trusts the content of tools (setting `trust_tool_content`). */
  trusted?: boolean;
  /** Its tool asked for a person's decision: the call waits for one whatever the autonomy. */
  mustAsk?: boolean;
  /** Its connection was made while it was tried without. */
  connectionMade?: boolean;
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
    /** `config.allow_connect` of its task. */
    allowConnect: p.boolean(),
    /** Connections whose tools it has called, or wants to. */
    connections: json<string[]>(),
    /** Its conversation, or its task, holds text that others wrote. */
    holdsUntrusted: p.boolean(),
    /** The service whose connection the current call waits for. */
    waitingService: p.text().strictNullable(),
    /** While guidance waits: the common rights of all its givers. From the turn that reads it the agent has no more. */
    guideScopes: json<Granted>().strictNullable(),
    model: p.text().strictNullable(),
    outputSchema: json<object>().strictNullable(),
    status: p.text().$type<AgentStatus>(),
    currentTool: p.text().strictNullable(),
    progress: p.integer(),
    /** Number of requested model turns. */
    turn: p.integer(),
    phase: p.text().$type<AgentPhase>(),
    /** The running effect of this phase. */
    effectId: p.text().strictNullable(),
    place: p.text().$type<AgentPlace>(),
    /** Total time of its model turns and tool calls, and the part reported to the task. */
    workedMs: p.bigint('number'),
    reportedMs: p.bigint('number'),
    /** Tool calls of the last model turn that have no result yet; the first is the current one. */
    calls: json<PendingCall[]>(),
    /** Guidance since the last model turn. */
    guidance: json<string[]>(),
    approvals: json<Approval[]>(),
    /** Consecutive model turns without a usable result. */
    badTurns: p.integer(),
    /** The tool calls of the last turn, and how many consecutive turns have requested exactly these. */
    repeated: json<{ calls: string; times: number }>(),
    /** Entries in the agent's history. */
    steps: p.integer(),
    /** Number of final answers without a valid output.json. */
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

/** One entry of an agent's conversation, stored once: a user's message, a model's answer, a tool's result. */
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
