/** Applies a model's answer to an agent: its calls in order, or its end; and stops an agent that makes no progress. */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { missingScope, notAllowed } from '../../../authority.ts';
import type { ToolCall } from '../../../providers/model/port.ts';
import type { AgentType, Toolbox } from '../tools/port.ts';
import { callDone, end, record } from './advance.ts';
import type { AgentRow, PendingCall } from './entity.ts';
import type { AgentContract, AgentReply } from './messages.ts';
import { goneError } from './sourced-calls.ts';
import { emit } from './state.ts';

/** Consecutive answers without a usable call or text, and consecutive turns with exactly the same calls, before the agent is stopped. */
const maxBadTurns = 3;
const maxRepeats = 5;
/** Most calls of one answer; further ones are dropped, and the history shows the answer without them. */
const maxCallsPerTurn = 20;

/** Adds the answer to the history. Returns the agent in phase `calling`, `ready` for another turn, `closing`, or ended. */
export function takeReply(agent: AgentRow, reply: AgentReply, ctx: TurnContext<AgentContract>, toolbox: Toolbox): AgentRow {
  const answered = uniqueIds(reply.toolCalls.slice(0, maxCallsPerTurn), agent.turn);
  const toolCalls = answered.map(({ id, name, arguments: args }): ToolCall => ({ id, name, arguments: args }));
  let next = record(agent, ctx, { role: 'assistant', text: reply.text, toolCalls });
  emit(ctx, next, 'agent.thinking', { turn: agent.turn, text: reply.text.slice(0, 8_000), tools: toolCalls.map((call) => call.name) });
  if (toolCalls.length === 0) return reply.text.trim() === '' ? emptyAnswer(next, ctx) : { ...next, phase: 'closing', result: reply.text };
  next = countRepeats(next, toolCalls);
  if (next.repeated.times >= maxRepeats) {
    return end(
      next,
      ctx,
      'error',
      `The model asked for the same tool calls ${maxRepeats} times in a row (${toolCalls[0]!.name}); it was going round in circles`,
    );
  }
  const calls = checkedCalls(next, answered, toolbox);
  const trusted = reply.trustsContent ? { trusted: true } : null;
  return takeCalls(
    next,
    calls.map(({ call, refusal }) => ({ call: { ...call, ...trusted }, refusal })),
    ctx,
  );
}

type Checked = { call: PendingCall; refusal: string | { type: string; message: string } | null };

/** The calls with their checked arguments, or why each is refused. */
function checkedCalls(agent: AgentRow, calls: AgentReply['toolCalls'], toolbox: Toolbox): Checked[] {
  const type = agent.type as AgentType;
  const names = () => toolbox.offersFor(type, agent).map((offer) => offer.name);
  return calls.map(({ id, name, arguments: args, sourced, isGone = false }): Checked => {
    const pending: PendingCall = { id, name, arguments: args, approvalId: null };
    const tool = sourced === undefined ? toolbox.find(type, name) : { name, need: sourced.source.need };
    if (tool === undefined && isGone) return { call: pending, refusal: goneError(name) };
    if (tool === undefined) {
      return { call: pending, refusal: `There is no tool "${name.slice(0, 100)}". Tools: ${names().join(', ')}` };
    }
    const missing = missingScope(agent, tool.need);
    if (missing !== null) {
      const message = notAllowed(name, missing);
      return { call: pending, refusal: sourced === undefined ? message : { type: 'forbidden', message } };
    }
    const checked = sourced === undefined ? toolbox.check(name, args) : sourced.checked;
    if (!checked.ok)
      return { call: pending, refusal: sourced === undefined ? checked.message : { type: 'invalid', message: checked.message } };
    const call = { ...pending, arguments: checked.args };
    return { call: sourced === undefined ? call : { ...call, source: sourced.source }, refusal: null };
  });
}

/** Refuses invalid calls, each with a result that gives the model the reason; the others run in order. */
function takeCalls(agent: AgentRow, calls: readonly Checked[], ctx: TurnContext<AgentContract>): AgentRow {
  const usable = calls.flatMap(({ call, refusal }) => (refusal === null ? [call] : []));
  const refused = calls.flatMap(({ call, refusal }) => (refusal === null ? [] : [{ call, error: refusal }]));
  let next = agent;
  for (const { call, error } of refused)
    next = { ...callDone({ ...next, calls: [call] }, ctx, { result: { error }, isError: true }), calls: [] };
  const badTurns = usable.length === 0 ? agent.badTurns + 1 : 0;
  next = { ...next, badTurns, calls: usable, connections: withConnections(next.connections, usable), phase: 'calling' };
  if (badTurns < maxBadTurns) return next;
  const { error } = refused[0]!;
  return end(
    next,
    ctx,
    'error',
    `The model asked for tools that do not exist or are not allowed, or with arguments that do not fit, ${maxBadTurns} times in a row. Last: ${typeof error === 'string' ? error : error.message}`,
  );
}

/** The agent relies on these from now on: it ends with an error if one is lost. */
export function withConnections(connections: string[], calls: readonly PendingCall[]): string[] {
  const used = calls.flatMap(({ source }) => source?.connection ?? []);
  return used.every((id) => connections.includes(id)) ? connections : [...new Set([...connections, ...used])];
}

function emptyAnswer(agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow {
  const badTurns = agent.badTurns + 1;
  if (badTurns >= maxBadTurns) return end(agent, ctx, 'error', `The model answered with nothing, ${maxBadTurns} times in a row`);
  const next = record(agent, ctx, { role: 'user', text: 'Your answer was empty. Call a tool, or call finish with your closing words.' });
  return { ...next, badTurns, phase: 'ready' };
}

/** @param problem the error in output.json; null if it is valid */
export function outputChecked(agent: AgentRow, problem: string | null, ctx: TurnContext<AgentContract>): AgentRow {
  if (problem === null) {
    // A paused agent ends when it is resumed, one with new guidance continues: both through phase `closing`.
    const mayEnd = agent.status !== 'paused' && agent.guidance.length === 0;
    return mayEnd ? end(agent, ctx, 'complete', agent.result) : agent;
  }
  const outputRefusals = agent.outputRefusals + 1;
  if (outputRefusals >= maxBadTurns) return end(agent, ctx, 'error', `output.json does not satisfy the task's output_schema: ${problem}`);
  const next = record(agent, ctx, {
    role: 'user',
    text: `You have not finished: ${problem} Write output.json so that it satisfies the schema, then call finish.`,
  });
  return { ...next, outputRefusals, result: null, phase: 'ready' };
}

function countRepeats(agent: AgentRow, calls: ToolCall[]): AgentRow {
  const fingerprint = JSON.stringify(calls.map((call) => [call.name, call.arguments])).slice(0, 4_000);
  const times = fingerprint === agent.repeated.calls ? agent.repeated.times + 1 : 1;
  return { ...agent, repeated: { calls: fingerprint, times } };
}

/** Models repeat call ids across turns, and some within one; in the history each call has its own. */
function uniqueIds<C extends ToolCall>(calls: C[], turn: number): C[] {
  return calls.map((call, index) => ({ ...call, id: `call_${turn}_${index}` }));
}
