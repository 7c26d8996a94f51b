/** Derived state of an agent, and its reports and events. */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { unrecordedScopes } from '../../../authority.ts';
import { AppError } from '../../../errors.ts';
import { idPrefixes } from '../../../ids.ts';
import { grantedByBoth } from '../../../scopes.ts';
import { type AgentReport, task } from '../task/messages.ts';
import type { AgentRow, AgentStatus, AgentWaitsFor } from './entity.ts';
import type { AgentAction, AgentContract, CreateAgent } from './messages.ts';

export function newAgent(id: string, input: CreateAgent, nowMs: number): AgentRow {
  return {
    ...input,
    // A task on a node of an older version does not send these.
    mode: input.mode ?? 'live',
    scopes: input.scopes === undefined ? unrecordedScopes : input.scopes,
    ownsWorkspace: input.ownsWorkspace ?? false,
    allowConnect: input.allowConnect ?? false,
    connections: [],
    holdsUntrusted: false,
    waitingService: null,
    guideScopes: null,
    id,
    status: 'idle',
    currentTool: null,
    progress: 0,
    turn: 0,
    phase: 'new',
    effectId: null,
    place: 'none',
    workedMs: 0,
    reportedMs: 0,
    calls: [],
    guidance: [],
    approvals: [],
    badTurns: 0,
    repeated: { calls: '', times: 0 },
    steps: 0,
    outputRefusals: 0,
    tokensUsed: 0,
    costMillicents: 0,
    modelUsed: null,
    result: null,
    error: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}

/** The agent, or `not_found`. */
export function existing(state: AgentRow | null): AgentRow {
  if (state === null) throw new AppError('not_found', 'No such agent');
  return state;
}

/** The agent if a user can still act on it; otherwise `conflict`. */
export function mustExist(state: AgentRow | null): AgentRow {
  const agent = existing(state);
  if (agent.phase === 'ended') throw new AppError('conflict', `The agent has ended (${agent.status})`);
  return agent;
}

/** From now on the agent has only rights that every giver of the newly read guidance has. */
export function narrowed(agent: AgentRow): AgentRow {
  return agent.guideScopes === null ? agent : { ...agent, scopes: grantedByBoth(agent.scopes, agent.guideScopes), guideScopes: null };
}

/** Estimated: each model turn covers a part of the rest. */
export function progressAfter(turns: number): number {
  return Math.round(95 * (1 - 0.85 ** turns));
}

export function action(agent: AgentRow, status: AgentStatus, message: string): AgentAction {
  return { id: agent.id, status, message };
}

/** Events of an agent belong to its task's history. */
export function emit(ctx: TurnContext<AgentContract>, agent: AgentRow, type: string, data: object = {}): void {
  ctx.emit({
    accountId: agent.accountId,
    type,
    taskId: agent.taskId,
    data: { task_id: agent.taskId, agent_id: agent.id, agent_type: agent.type, ...data },
  });
}

export function waitsFor({ status, waitingService }: AgentRow): AgentWaitsFor | null {
  if (status !== 'waiting') return null;
  return waitingService === null ? 'approval' : 'authorization';
}

/** Whether a model turn, a tool call or a check of it is in flight. */
export function isAtWork(agent: AgentRow): boolean {
  return agent.effectId?.startsWith(idPrefixes.effect) === true;
}

/**
 * Reports to the task the displayed state of this agent, and other data that the task needs. Worked time is reported with a model turn,
 * when the agent rests, and at its end: with every tool call would be too often.
 */
export function report(
  ctx: TurnContext<AgentContract>,
  agent: AgentRow,
  changes: Partial<Pick<AgentReport, 'turn' | 'approval' | 'rests'>> = {},
): AgentRow {
  const { id: agentId, status, currentTool, progress, result, error, workedMs, reportedMs } = agent;
  const shown = { agentId, status, waitingFor: waitsFor(agent), currentTool, progress, result, error };
  const isDue = workedMs > reportedMs && (changes.turn != null || changes.rests === true || agent.phase === 'ended');
  const work = isDue ? { ms: workedMs - reportedMs, inAllMs: workedMs } : null;
  const untrusted = agent.holdsUntrusted ? { untrusted: true } : null;
  ctx.send(task, agent.taskId, 'report', { ...shown, ...untrusted, turn: null, approval: null, rests: false, ...changes, work });
  return isDue ? { ...agent, reportedMs: workedMs } : agent;
}

/** Reports if the displayed state has changed, or to return the place of an agent without running work. */
export function reportChange(ctx: TurnContext<AgentContract>, before: AgentRow, after: AgentRow): AgentRow {
  if (after.place !== 'none' && !isAtWork(after)) return report(ctx, { ...after, place: 'none' }, { rests: true });
  const isSame =
    before.status === after.status &&
    before.waitingService === after.waitingService &&
    before.holdsUntrusted === after.holdsUntrusted &&
    before.currentTool === after.currentTool &&
    before.progress === after.progress &&
    before.result === after.result &&
    before.error === after.error;
  return isSame ? after : report(ctx, after);
}

/** The agent's history has long arguments and results in full; an event shows their beginning. */
export function shown(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= maxShown ? value : { truncated: true, text: text.slice(0, maxShown) };
}
const maxShown = 8_000;
