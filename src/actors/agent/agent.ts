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
import { advance, callDone, end, record } from './advance.ts';
import { type AgentAction, type AgentContract, agent as ref } from './messages.ts';
import { outputChecked, takeReply } from './model-turn.ts';
import { action, alive, emit, existing, newAgent, progressAfter, report, withApproval } from './state.ts';

type State = AgentRow | null;

/** The definition of agents, with the effects that reach models and tools (`effects.ts`) and the tools they are offered. */
export function agentActor(
  toolbox: Toolbox,
  effects: Record<'model' | 'tool' | 'checkOutput', EffectDefinition>,
): ActorDefinition<AgentRow, AgentContract> {
  /** Starts what follows; the caller of an action is answered with the status the action itself brings. */
  const go = (agent: AgentRow, ctx: TurnContext): Turn<State, undefined> => ({ state: advance(agent, ctx, toolbox), reply: undefined });
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
        return go(begun, ctx);
      },

      turnGranted(state, _input, ctx) {
        const agent = existing(state);
        if (agent.phase !== 'asking') return nothing(state);
        if (agent.status === 'paused') {
          // The grant goes back; resuming asks for it anew.
          const back: AgentRow = { ...agent, phase: 'ready' };
          report(ctx, back, { turn: { tokens: 0, costMillicents: 0, model: null } });
          return nothing(back);
        }
        const turn = agent.turn + 1;
        const next: AgentRow = {
          ...agent,
          turn,
          phase: 'modelling',
          status: 'thinking',
          updatedAt: ctx.nowMs,
          effectId: ctx.run('model', { turn }),
        };
        report(ctx, next);
        return nothing(next);
      },

      modelled(state, { effectId, outcome }, ctx) {
        if (!awaits(state, effectId)) return nothing(state);
        const idle: AgentRow = { ...state, effectId: null };
        if (outcome.kind !== 'done') {
          report(ctx, idle, { turn: { tokens: 0, costMillicents: 0, model: null } });
          return nothing(end(idle, ctx, 'error', outcome.kind === 'failed' ? outcome.message : 'The model did not answer'));
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
        report(ctx, counted, { turn });
        return go(takeReply(counted, reply, ctx, toolbox), ctx);
      },

      toolDone(state, { effectId, outcome }, ctx) {
        if (!awaits(state, effectId) || state.calls.length === 0) return nothing(state);
        return go(callDone(state, ctx, told(outcome)), ctx);
      },

      delegated(state, { callId, outcome }, ctx) {
        if (!awaits(state, callId)) return nothing(state);
        return go(callDone(state, ctx, outcome), ctx);
      },

      outputChecked(state, { effectId, outcome }, ctx) {
        if (!awaits(state, effectId)) return nothing(state);
        const problem = outcome.kind === 'done' ? outcome.value.problem : 'output.json could not be checked.';
        return go(outputChecked({ ...state, effectId: null }, problem, ctx), ctx);
      },

      taskEnded(state, _input, ctx) {
        if (state === null || state.phase === 'ended') return nothing(state);
        return nothing(end(state, ctx, 'cancelled', null));
      },

      pause(state, _input, ctx) {
        const agent = alive(state);
        if (agent.status === 'paused') throw new AppError('conflict', 'The agent is paused already');
        const paused: AgentRow = { ...agent, status: 'paused', updatedAt: ctx.nowMs };
        emit(ctx, paused, 'agent.paused');
        report(ctx, paused);
        const inFlight = agent.effectId === null ? '' : ' It finishes what is in flight and starts nothing after it.';
        return { state: paused, reply: action(agent, 'paused', `Agent paused.${inFlight}`) };
      },

      resume(state, _input, ctx) {
        const agent = alive(state);
        if (agent.status !== 'paused') throw new AppError('conflict', `The agent is not paused (${agent.status})`);
        const resumed = unpaused(agent, ctx);
        emit(ctx, resumed, 'agent.resumed');
        report(ctx, resumed);
        return { state: advance(resumed, ctx, toolbox), reply: action(agent, 'acting', 'Agent resumed where it left off.') };
      },

      guide(state, { message }, ctx) {
        const agent = alive(state);
        const heard: AgentRow = {
          ...(agent.status === 'paused' ? unpaused(agent, ctx) : agent),
          guidance: [...agent.guidance, message].slice(-maxGuidance),
        };
        emit(ctx, heard, 'agent.guided', { message });
        const next = advance(heard, ctx, toolbox);
        const status = next.status === 'waiting' ? 'waiting' : 'thinking';
        return { state: next, reply: action(agent, status, 'Guidance received; the agent uses it in its next step.') };
      },

      cancel(state, _input, ctx) {
        const ended = end(alive(state), ctx, 'cancelled', null);
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
        return { state: advance(after, ctx, toolbox), reply: answer(agent, status, approved) };
      },
    },
    queries: { get: (state) => state },
  });
}

/** Guidance kept until the next model turn. */
const maxGuidance = 50;

function unpaused(agent: AgentRow, ctx: TurnContext): AgentRow {
  const status = agent.phase === 'new' ? 'idle' : agent.phase === 'calling' ? 'acting' : 'thinking';
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
