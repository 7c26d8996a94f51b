/**
 * An agent: it asks its task for a model turn, runs the tools the model calls, and asks again, until it has closing words. People pause,
 * resume, guide, cancel it and decide about what it may not do alone. What happens next is in `advance.ts`.
 */
import { AppError } from '../../errors.ts';
import type { Toolbox, ToolOutcome } from '../../providers/tools/port.ts';
import { Agent, type AgentRow } from '../../storage/entities/work.ts';
import {
  type ActorDefinition,
  defineActor,
  type EffectDefinition,
  type EffectOutcome,
  type Turn,
  type TurnContext,
} from '../runtime/define-actor.ts';
import { withApproval } from '../task/approvals.ts';
import { advance, callDone, end, record } from './advance.ts';
import { type AgentAction, type AgentContract, agent as ref } from './messages.ts';
import { outputChecked, takeReply } from './model-turn.ts';
import { action, alive, emit, existing, newAgent, progressAfter, report, reportChange } from './state.ts';

type State = AgentRow | null;

/** The definition of agents, with the effects that reach models and tools (`effects.ts`) and the tools they are offered. */
export function agentActor(
  toolbox: Toolbox,
  effects: Record<'model' | 'tool' | 'checkOutput', EffectDefinition>,
): ActorDefinition<AgentRow, AgentContract> {
  /** Starts what follows, and tells the task what it must show from now on. `before` is the agent as the task was last told of it. */
  const proceed = (before: AgentRow, agent: AgentRow, ctx: TurnContext): AgentRow =>
    reportChange(ctx, before, advance(agent, ctx, toolbox));
  const go = (before: AgentRow, agent: AgentRow, ctx: TurnContext) => nothing(proceed(before, agent, ctx));
  const nothing = (state: State): Turn<State, undefined> => ({ state, reply: undefined });
  /** An effect's outcome counts only while the agent waits for just that effect. */
  const awaits = (state: State, effectId: string): state is AgentRow =>
    state !== null && state.phase !== 'ended' && state.effectId === effectId;

  return defineActor<AgentRow, AgentContract>({
    ref,
    entity: Agent,
    effects,
    commands: {
      create(state, input, ctx) {
        return nothing(state ?? newAgent(ctx.id, input, ctx.nowMs));
      },

      begin(state, { context }, ctx) {
        const agent = existing(state);
        if (agent.phase !== 'new') return nothing(state);
        const text = context === '' ? agent.prompt : `${agent.prompt}\n\nWhat came before:\n${context}`;
        const begun = record({ ...agent, phase: 'ready' }, ctx, { role: 'user', text });
        emit(ctx, begun, 'agent.started', { title: agent.title });
        return go(agent, begun, ctx);
      },

      turnGranted(state, _input, ctx) {
        const agent = existing(state);
        if (agent.phase !== 'asking' && agent.phase !== 'queued') return nothing(state);
        const wantsTurn = agent.phase === 'asking';
        if (agent.status === 'paused') {
          // The grant goes back; resuming asks for it anew.
          const back: AgentRow = { ...agent, phase: wantsTurn ? 'ready' : 'calling' };
          return nothing(report(ctx, back, { turn: wantsTurn ? noTurn : null, rests: true }));
        }
        if (!wantsTurn) return go(agent, { ...agent, phase: 'calling', place: 'held' }, ctx);
        const turn = agent.turn + 1;
        const effectId = ctx.run('model', { turn });
        return nothing({ ...agent, turn, phase: 'modelling', place: 'held', updatedAt: ctx.nowMs, effectId });
      },

      stop(state) {
        return nothing(state?.place === 'held' ? { ...state, place: 'stopping' } : state);
      },

      modelled(state, { effectId, outcome, tookMs }, ctx) {
        if (!awaits(state, effectId)) return nothing(state);
        let idle: AgentRow = { ...state, effectId: null, workedMs: state.workedMs + tookMs };
        if (outcome.kind !== 'done') {
          idle = report(ctx, idle, { turn: noTurn });
          return go(state, end(idle, ctx, 'error', outcome.kind === 'failed' ? outcome.message : 'The model did not answer'), ctx);
        }
        const reply = outcome.value;
        const turn = { tokens: reply.inputTokens + reply.outputTokens, costMillicents: reply.costMillicents, model: reply.model };
        const counted: AgentRow = {
          ...idle,
          tokensUsed: idle.tokensUsed + turn.tokens,
          costMillicents: idle.costMillicents + turn.costMillicents,
          modelUsed: reply.model,
          progress: progressAfter(idle.turn),
          updatedAt: ctx.nowMs,
        };
        const reported = report(ctx, counted, { turn });
        return go(reported, takeReply(reported, reply, ctx, toolbox), ctx);
      },

      toolDone(state, { effectId, outcome, tookMs }, ctx) {
        if (!awaits(state, effectId) || state.calls.length === 0) return nothing(state);
        return go(state, callDone({ ...state, workedMs: state.workedMs + tookMs }, ctx, told(outcome)), ctx);
      },

      delegated(state, { callId, outcome }, ctx) {
        if (!awaits(state, callId)) return nothing(state);
        return go(state, callDone(state, ctx, outcome), ctx);
      },

      outputChecked(state, { effectId, outcome }, ctx) {
        if (!awaits(state, effectId)) return nothing(state);
        const problem = outcome.kind === 'done' ? outcome.value.problem : 'output.json could not be checked.';
        return go(state, outputChecked({ ...state, effectId: null }, problem, ctx), ctx);
      },

      taskEnded(state, _input, ctx) {
        if (state === null || state.phase === 'ended') return nothing(state);
        return go(state, end(state, ctx, 'cancelled', null), ctx);
      },

      pause(state, _input, ctx) {
        const agent = alive(state);
        if (agent.status === 'paused') throw new AppError('conflict', 'The agent is paused already');
        const paused: AgentRow = { ...agent, status: 'paused', updatedAt: ctx.nowMs };
        emit(ctx, paused, 'agent.paused');
        const inFlight = agent.effectId === null ? '' : ' It finishes what is in flight and starts nothing after it.';
        return { state: proceed(agent, paused, ctx), reply: action(agent, 'paused', `Agent paused.${inFlight}`) };
      },

      resume(state, _input, ctx) {
        const agent = alive(state);
        if (agent.status !== 'paused') throw new AppError('conflict', `The agent is not paused (${agent.status})`);
        const resumed = unpaused(agent, ctx);
        emit(ctx, resumed, 'agent.resumed');
        const next = proceed(agent, resumed, ctx);
        const status = next.status === 'waiting' ? 'waiting' : 'acting';
        return { state: next, reply: action(agent, status, 'Agent resumed where it left off.') };
      },

      guide(state, { message }, ctx) {
        const agent = alive(state);
        if (agent.guidance.length >= maxGuidance) {
          throw new AppError('conflict', `The agent has ${maxGuidance} messages that it has not heard yet; wait until it has`);
        }
        const heard: AgentRow = {
          ...(agent.status === 'paused' ? unpaused(agent, ctx) : agent),
          guidance: [...agent.guidance, message],
        };
        emit(ctx, heard, 'agent.guided', { message });
        const next = proceed(agent, heard, ctx);
        const status = next.status === 'waiting' ? 'waiting' : 'thinking';
        return { state: next, reply: action(agent, status, 'Guidance received; the agent uses it in its next step.') };
      },

      cancel(state, _input, ctx) {
        const agent = alive(state);
        const ended = proceed(agent, end(agent, ctx, 'cancelled', null), ctx);
        return { state: ended, reply: action(ended, 'cancelled', 'Agent cancelled.') };
      },

      approve(state, { approvalId, approved, reason }, ctx) {
        const agent = existing(state);
        const approval = agent.approvals.find((one) => one.id === approvalId);
        if (approval === undefined) throw new AppError('not_found', 'No such approval request');
        if (agent.phase === 'ended') throw new AppError('conflict', `The agent has ended (${agent.status})`);
        if (approval.status !== 'pending') throw new AppError('conflict', `This was ${approval.status} already`);
        const decided = { ...approval, status: approved ? ('approved' as const) : ('rejected' as const), reason, decidedAt: ctx.nowMs };
        const status = agent.status === 'paused' ? ('paused' as const) : ('thinking' as const);
        const next: AgentRow = { ...agent, status, approvals: withApproval(agent.approvals, decided), updatedAt: ctx.nowMs };
        emit(ctx, next, approved ? 'approval.approved' : 'approval.rejected', { approval_id: approvalId, action: approval.action, reason });
        report(ctx, next, { approval: decided });
        const told = { error: `A person rejected this: ${reason ?? 'no reason given'}. Do not do it again; revise your approach.` };
        const after = approved ? next : callDone(next, ctx, { result: told, isError: true });
        return { state: proceed(next, after, ctx), reply: answer(agent, status, approved) };
      },
    },
    queries: { get: (state) => state },
  });
}

const noTurn = { tokens: 0, costMillicents: 0, model: null };
/** Messages of people that may wait for the next model turn; none is dropped for a newer one. */
const maxGuidance = 50;

function unpaused(agent: AgentRow, ctx: TurnContext): AgentRow {
  const status = agent.phase === 'new' ? 'idle' : agent.phase === 'calling' || agent.phase === 'queued' ? 'acting' : 'thinking';
  return { ...agent, status, updatedAt: ctx.nowMs };
}

function answer(agent: AgentRow, status: 'paused' | 'thinking', approved: boolean): AgentAction {
  return action(agent, status, approved ? 'Approved; the agent goes on.' : 'Rejected; the agent revises its approach.');
}

function told(outcome: EffectOutcome<ToolOutcome>): ToolOutcome {
  if (outcome.kind === 'done') return outcome.value;
  const error =
    outcome.kind === 'failed'
      ? outcome.message
      : 'The service was interrupted while this ran: its outcome is unknown. Do not simply repeat it; say so in your closing words.';
  return { result: { error }, isError: true };
}
