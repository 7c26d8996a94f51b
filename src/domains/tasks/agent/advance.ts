/**
 * The next step of an agent. Every command ends here: it changes the recorded state, and this code starts the one thing that follows from
 * it, unless a person has paused the agent or must decide first. So pause, resume, guidance, approval, a crash and a move are handled in
 * the same way: the next step starts from the recorded state.
 */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { idPrefixes } from '../../../ids.ts';
import type { ModelMessage } from '../../../providers/model/port.ts';
import { tasksIds } from '../ids.ts';
import { withApproval, withoutPending } from '../task/approvals.ts';
import type { Approval } from '../task/entity.ts';
import { task } from '../task/messages.ts';
import type { AgentType, Preview, Toolbox, ToolOutcome } from '../tools/port.ts';
import type { AgentRow, CallSource, PendingCall } from './entity.ts';
import { AgentStep } from './entity.ts';
import type { AgentContract, SourcedCall, ToolCall } from './messages.ts';
import { fullAutonomy, needsApproval } from './needs-approval.ts';
import { emit, narrowed, report, shown } from './state.ts';

/** Scopes of tools whose calls buy: what a call buys has an id that follows from the call and carries the account's slot. */
const spendingScopes: readonly string[] = ['commerce.write', 'trading.write'];
/** An agent with this many model turns is stopped: it would never end. */
const maxTurns = 200;

export function advance(agent: AgentRow, ctx: TurnContext<AgentContract>, toolbox: Toolbox): AgentRow {
  if (agent.status === 'paused' || agent.effectId !== null) return agent;
  if (agent.phase === 'calling') return nextCall(agent, ctx, toolbox);
  if (agent.phase === 'ready') return askForTurn(agent, ctx);
  if (agent.phase === 'closing') return close(agent, ctx);
  return agent;
}

function askForTurn(agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow {
  if (agent.turn >= maxTurns) return end(agent, ctx, 'error', `The agent gave up after ${maxTurns} model turns without coming to an end`);
  let next = narrowed(agent);
  for (const text of agent.guidance) next = record(next, ctx, { role: 'user', text: `A person says: ${text}` });
  ctx.send(task, agent.taskId, 'requestTurn', { agentId: agent.id, wants: 'turn' });
  return { ...next, guidance: [], phase: 'asking', place: 'none', status: 'thinking', currentTool: null, updatedAt: ctx.nowMs };
}

function nextCall(agent: AgentRow, ctx: TurnContext<AgentContract>, toolbox: Toolbox): AgentRow {
  const [call] = agent.calls;
  if (call === undefined) return advance({ ...agent, phase: 'ready' }, ctx, toolbox);
  if (call.name === 'finish') return finishCall(agent, call, ctx, toolbox);
  const approval = agent.approvals.find((one) => one.id === call.approvalId);
  if (approval?.status === 'pending') return waitFor(agent, ctx, approval);
  if (agent.waitingService !== null) return { ...agent, status: 'waiting', currentTool: call.name };
  const acting: AgentRow = { ...agent, status: 'acting', currentTool: call.name, updatedAt: ctx.nowMs };
  const tool = toolbox.find(agent.type as AgentType, call.name);
  const input: ToolCall = { callId: call.id, name: call.name, arguments: call.arguments };
  const { source } = call;
  if (approval === undefined && needsApproval(agent, call, tool)) {
    const previews = source === undefined ? tool?.preview !== undefined : source.previews;
    if (!previews || call.preview !== undefined) return waitFor(agent, ctx, null);
    if (agent.place !== 'held') return askToGoOn(agent, ctx);
    const effectId = source === undefined ? ctx.run('preview', input) : ctx.run('sourcedPreview', sourcedCall(input, source));
    return { ...acting, effectId };
  }
  if (call.name === 'delegate') {
    const { type, prompt } = call.arguments as { type: string; prompt: string };
    ctx.send(task, agent.taskId, 'delegate', { agentId: agent.id, callId: call.id, type, prompt, scopes: agent.scopes });
    return announce({ ...acting, effectId: call.id }, call, ctx);
  }
  if (agent.place !== 'held') return askToGoOn(agent, ctx);
  if (approval !== undefined && call.preview !== undefined) input.approvedBasis = call.preview.basis;
  if (source !== undefined) {
    const effectId = ctx.run('sourcedTool', sourcedCall(input, source));
    // Without a connection nothing is done yet.
    return source.connection === null ? { ...acting, effectId } : announce({ ...acting, effectId }, call, ctx);
  }
  const effect = spendingScopes.includes(tool?.need?.scope ?? '') ? 'purchase' : 'tool';
  return announce({ ...acting, effectId: ctx.run(effect, input) }, call, ctx);
}

function sourcedCall(input: ToolCall, { connection, repeatable }: CallSource): SourcedCall {
  // A call without connection does nothing.
  return { ...input, connection, repeatable: repeatable || connection === null };
}

/** Requests admission again: its place was returned while it waited for a user or another agent, or was stopped. */
function askToGoOn(agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow {
  ctx.send(task, agent.taskId, 'requestTurn', { agentId: agent.id, wants: 'calls' });
  return { ...agent, phase: 'queued', place: 'none', updatedAt: ctx.nowMs };
}

function announce(agent: AgentRow, call: PendingCall, ctx: TurnContext<AgentContract>): AgentRow {
  emit(ctx, agent, 'agent.action', { tool: call.name, call_id: call.id, arguments: shown(call.arguments) });
  return agent;
}

/** Calls after `finish` are not executed; each gets a result that says so, because models refuse a conversation with an unanswered call. */

function finishCall(agent: AgentRow, call: PendingCall, ctx: TurnContext<AgentContract>, toolbox: Toolbox): AgentRow {
  const { summary } = call.arguments as { summary: string };
  let next = callDone(agent, ctx, { result: { finished: agent.guidance.length === 0 }, isError: false });
  while (next.calls.length > 0) next = callDone(next, ctx, { result: { error: 'Not done: finish was called before it.' }, isError: true });
  return advance({ ...next, phase: 'closing', result: summary }, ctx, toolbox);
}

/** A final answer ends the agent, unless it has unread guidance, or its output.json for the task is still missing. */
function close(agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow {
  if (agent.guidance.length > 0) return askForTurn({ ...agent, result: null }, ctx);
  if (agent.outputSchema === null) return end(agent, ctx, 'complete', agent.result);
  return { ...agent, status: 'thinking', updatedAt: ctx.nowMs, effectId: ctx.run('checkOutput', {}) };
}

/** Waits for a user's decision: with a new approval for the current call, or for the pending one. */
function waitFor(agent: AgentRow, ctx: TurnContext<AgentContract>, pending: Approval | null): AgentRow {
  const [call, ...others] = agent.calls as [PendingCall, ...PendingCall[]];
  const waiting: AgentRow = { ...agent, status: 'waiting', currentTool: call.name, updatedAt: ctx.nowMs };
  if (pending !== null) return waiting;
  const approval: Approval = {
    id: ctx.newId(tasksIds.approval, agent.accountId),
    agentId: agent.id,
    action: call.name,
    arguments: call.arguments,
    status: 'pending',
    reason: null,
    createdAt: ctx.nowMs,
    decidedAt: null,
    decidedBy: null,
    decidedVia: null,
    editedArguments: null,
    ...(call.preview === undefined ? null : { summary: call.preview.text }),
    ...(call.source === undefined ? null : { need: call.source.need }),
  };
  const because = agent.autonomyLevel < fullAutonomy || call.mustAsk === true ? null : { reason: 'untrusted_content' };
  emit(ctx, waiting, 'agent.waiting', { tool: call.name, ...because });
  const approvalEvent = { approval_id: approval.id, action: call.name, arguments: shown(call.arguments), ...because };
  emit(ctx, waiting, 'approval.required', approval.summary === undefined ? approvalEvent : { ...approvalEvent, summary: approval.summary });
  report(ctx, waiting, { approval });
  return { ...waiting, approvals: withApproval(agent.approvals, approval), calls: [{ ...call, approvalId: approval.id }, ...others] };
}

/** Adds an entry to the agent's history; each is stored once. */
export function record(agent: AgentRow, ctx: TurnContext<AgentContract>, entry: ModelMessage): AgentRow {
  ctx.append(AgentStep, { agentId: agent.id, step: agent.steps, entry, createdAt: ctx.nowMs });
  return { ...agent, steps: agent.steps + 1 };
}

/** The current call as it waits for a person, who is shown this. A decision about an earlier preview does not count. */
export function withPreview(agent: AgentRow, preview: Preview, more: Pick<PendingCall, 'mustAsk'> = {}): AgentRow {
  const [call, ...others] = agent.calls as [PendingCall, ...PendingCall[]];
  return { ...agent, effectId: null, calls: [{ ...call, approvalId: null, preview, ...more }, ...others] };
}

/** Records the result of the current call and removes it from the list. */
export function callDone(
  agent: AgentRow,
  ctx: TurnContext<AgentContract>,
  { result, isError, untrusted = false }: ToolOutcome & { untrusted?: boolean },
): AgentRow {
  const [call, ...calls] = agent.calls as [PendingCall, ...PendingCall[]];
  // The history has the model's call with its own arguments: the result must contain the changed ones.
  const toolResult = call.edited ? { approved_with_arguments: call.arguments, result } : result;
  const entry = { role: 'tool' as const, callId: call.id, name: call.name, result: toolResult, isError };
  const next = record(agent, ctx, untrusted ? { ...entry, untrusted } : entry);
  emit(ctx, next, 'agent.tool_result', { tool: call.name, call_id: call.id, is_error: isError, result: shown(result) });
  const holdsUntrusted = agent.holdsUntrusted || untrusted;
  return { ...next, holdsUntrusted, calls, effectId: null, currentTool: null, updatedAt: ctx.nowMs };
}

/** Ends the agent and its running work. `text` is its final answer, or the error. */
export function end(
  agent: AgentRow,
  ctx: TurnContext<AgentContract>,
  status: 'complete' | 'error' | 'cancelled',
  text: string | null,
): AgentRow {
  if (agent.effectId?.startsWith(idPrefixes.effect)) ctx.cancel(agent.effectId);
  const ended: AgentRow = {
    ...agent,
    approvals: withoutPending(agent.approvals, agent.id),
    guideScopes: null,
    waitingService: null,
    status,
    phase: 'ended',
    effectId: null,
    calls: [],
    guidance: [],
    currentTool: null,
    progress: status === 'complete' ? 100 : agent.progress,
    result: status === 'complete' ? text : agent.result,
    error: status === 'error' ? text : agent.error,
    updatedAt: ctx.nowMs,
  };
  for (const { id, action, status: was } of agent.approvals) {
    if (was === 'pending') emit(ctx, ended, 'approval.expired', { approval_id: id, action });
  }
  if (status === 'complete') emit(ctx, ended, 'agent.completed', { result: text });
  else if (status === 'error') emit(ctx, ended, 'agent.error', { error: text });
  else emit(ctx, ended, 'agent.cancelled');
  return ended;
}
