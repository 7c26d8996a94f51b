/**
 * An agent: it asks its task for a model turn, runs the tools that the model calls, and asks again, until it has a final answer. Users
 * pause, resume, guide and cancel it and decide about approvals. `advance.ts` has the next steps.
 */

import {
  type ActorDefinition,
  defineActor,
  type EffectOutcome,
  type EffectsOf,
  type Turn,
  type TurnContext,
} from '../../../actors/define-actor.ts';
import { NotYet } from '../../../actors/not-yet.ts';
import { AppError } from '../../../errors.ts';
import type { Preview, Toolbox, ToolOutcome } from '../tools/port.ts';
import { advance, callDone, end, record, withPreview } from './advance.ts';
import { connected, reconsidered, waitForConnection, withoutConnection } from './connecting.ts';
import { decidable, decide, lossByGuidance, mustDirect, unknownDirector, withGuidance } from './direct.ts';
import { Agent, type AgentRow } from './entity.ts';
import { agentInputs } from './inputs.ts';
import { type AgentContract, agent as ref } from './messages.ts';
import { outputChecked, takeReply } from './model-turn.ts';
import { action, emit, existing, mustExist, newAgent, progressAfter, report, reportChange } from './state.ts';
import { isUntrusted } from './untrusted.ts';

type State = AgentRow | null;

/** The definition of agents, with the effects that reach models and tools (`effects.ts`) and the tools they are offered. */
export function agentActor(toolbox: Toolbox, effects: EffectsOf<AgentContract>): ActorDefinition<AgentRow, AgentContract> {
  /** Starts the next step, and reports the new displayed state to the task. `before` is the agent as last reported. */
  const proceed = (before: AgentRow, agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow =>
    reportChange(ctx, before, advance(agent, ctx, toolbox));
  const go = (before: AgentRow, agent: AgentRow, ctx: TurnContext<AgentContract>) => nothing(proceed(before, agent, ctx));
  const nothing = (state: State): Turn<State, undefined> => ({ state, reply: undefined });
  /** An effect's outcome counts only while the agent waits for exactly that effect. */
  const awaits = (state: State, effectId: string): state is AgentRow =>
    state !== null && state.phase !== 'ended' && state.effectId === effectId;

  return defineActor<AgentRow, AgentContract>({
    ref,
    entity: Agent,
    inputs: agentInputs,
    effects,
    commands: {
      create(state, input, ctx) {
        return nothing(state ?? newAgent(ctx.id, input, ctx.nowMs));
      },

      begin(state, { context }, ctx) {
        // Not a refusal: the message would be consumed, and the agent would wait forever once it is created.
        if (state === null) throw new NotYet('An agent is to begin before it is created');
        const agent = state;
        if (agent.phase !== 'new') return nothing(state);
        const text = context === '' ? agent.prompt : `${agent.prompt}\n\nWhat came before:\n${context}`;
        const begun = record({ ...agent, phase: 'ready' }, ctx, { role: 'user', text });
        emit(ctx, begun, 'agent.started', { title: agent.title });
        return go(agent, begun, ctx);
      },

      turnGranted(state, { untrusted = false }, ctx) {
        const before = existing(state);
        const agent = untrusted && !before.holdsUntrusted ? { ...before, holdsUntrusted: true } : before;
        if (agent.phase !== 'asking' && agent.phase !== 'queued') return nothing(state);
        const wantsTurn = agent.phase === 'asking';
        if (agent.status === 'paused') {
          // The grant is returned; resuming requests it again.
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
        const worked: AgentRow = { ...state, workedMs: state.workedMs + tookMs };
        const value = outcome.kind === 'done' ? outcome.value : null;
        if (value?.askAgain !== undefined) return go(state, withPreview(worked, value.askAgain, { mustAsk: true }), ctx);
        if (value?.needsConnection !== undefined) return go(state, waitForConnection(worked, value.needsConnection, ctx), ctx);
        if (value?.nowConnected !== undefined) return go(state, connected(worked, value.nowConnected), ctx);
        const done = callDone(worked, ctx, { ...toolOutcome(outcome), untrusted: isUntrusted(state, outcome, toolbox) });
        if (value?.connectionLost !== undefined) return go(state, end(done, ctx, 'error', value.connectionLost), ctx);
        return go(state, isAbandoned(outcome) ? end(done, ctx, 'error', outcome.message) : done, ctx);
      },

      previewed(state, { effectId, outcome, tookMs }, ctx) {
        if (!awaits(state, effectId) || state.calls.length === 0) return nothing(state);
        const worked: AgentRow = { ...state, workedMs: state.workedMs + tookMs };
        if (outcome.kind === 'done' && !outcome.value.isError) return go(state, withPreview(worked, outcome.value.result as Preview), ctx);
        const refused = callDone(worked, ctx, toolOutcome(outcome));
        const lost = outcome.kind === 'done' ? outcome.value.connectionLost : undefined;
        if (lost !== undefined) return go(state, end(refused, ctx, 'error', lost), ctx);
        return go(state, isAbandoned(outcome) ? end(refused, ctx, 'error', outcome.message) : refused, ctx);
      },

      delegated(state, { callId, outcome }, ctx) {
        if (!awaits(state, callId)) return nothing(state);
        return go(state, callDone(state, ctx, outcome), ctx);
      },

      outputChecked(state, { effectId, outcome }, ctx) {
        if (!awaits(state, effectId)) return nothing(state);
        if (isAbandoned(outcome)) return go(state, end({ ...state, effectId: null }, ctx, 'error', outcome.message), ctx);
        const { problem, untrusted = false } = outcome.kind === 'done' ? outcome.value : { problem: 'output.json could not be checked.' };
        const holdsUntrusted = state.holdsUntrusted || (untrusted && problem !== null);
        return go(state, outputChecked({ ...state, holdsUntrusted, effectId: null }, problem, ctx), ctx);
      },

      connectionMade(state, { service }, ctx) {
        if (state === null || state.phase === 'ended') return nothing(state);
        return go(state, reconsidered(state, service, ctx), ctx);
      },

      connectionLost(state, { connection, message }, ctx) {
        if (state === null || state.phase === 'ended' || !state.connections.includes(connection)) return nothing(state);
        return go(state, end(state, ctx, 'error', message), ctx);
      },

      taskEnded(state, _input, ctx) {
        if (state === null || state.phase === 'ended') return nothing(state);
        return go(state, end(state, ctx, 'cancelled', null), ctx);
      },

      pause(state, _input, ctx) {
        const agent = mustExist(state);
        if (agent.status === 'paused') throw new AppError('conflict', 'The agent is paused already');
        const paused: AgentRow = { ...agent, status: 'paused', updatedAt: ctx.nowMs };
        emit(ctx, paused, 'agent.paused');
        const inFlight = agent.effectId === null ? '' : ' It finishes what is in flight and starts nothing after it.';
        return { state: proceed(agent, paused, ctx), reply: action(agent, 'paused', `Agent paused.${inFlight}`) };
      },

      resume(state, _input, ctx) {
        const agent = mustExist(state);
        if (agent.status !== 'paused') throw new AppError('conflict', `The agent is not paused (${agent.status})`);
        const resumed = unpaused(agent, ctx);
        emit(ctx, resumed, 'agent.resumed');
        const next = proceed(agent, resumed, ctx);
        const waits = next.status === 'waiting';
        const what = next.waitingService === null ? 'an approval' : `the connection of ${next.waitingService}`;
        const isNew = agent.phase === 'new';
        const goesOn = isNew ? 'Agent resumed; it has not begun yet.' : 'Agent resumed where it left off.';
        const reply = waits ? `Agent resumed; it waits for ${what}.` : goesOn;
        return { state: next, reply: action(agent, waits ? 'waiting' : isNew ? 'idle' : 'acting', reply) };
      },

      guide(state, { message, by = unknownDirector }, ctx) {
        const agent = mustExist(state);
        mustDirect(agent, by);
        if (agent.guidance.length >= maxGuidance) {
          throw new AppError('conflict', `The agent has ${maxGuidance} messages that it has not read yet; wait until it has`);
        }
        const activeAgent = agent.status === 'paused' ? unpaused(agent, ctx) : agent;
        const guided = withGuidance(withoutConnection(activeAgent, ctx), message, by);
        emit(ctx, guided, 'agent.guided', { message });
        const next = proceed(agent, guided, ctx);
        const status = next.status === 'waiting' ? 'waiting' : 'thinking';
        const when = status === 'waiting' ? 'once the approval it waits for is decided' : 'in its next step';
        const reply = `Guidance received; the agent uses it ${when}.${lossByGuidance(guided, toolbox)}`;
        return { state: next, reply: action(agent, status, reply) };
      },

      cancel(state, _input, ctx) {
        const agent = mustExist(state);
        const ended = proceed(agent, end(agent, ctx, 'cancelled', null), ctx);
        return { state: ended, reply: action(ended, 'cancelled', 'Agent cancelled.') };
      },

      approve(state, input, ctx) {
        const decided = decide(state, input, ctx, toolbox);
        const next = proceed(decided, decided, ctx);
        return { state: next, reply: action(next, decided.status, afterDecision(decided, input.approved, toolbox)) };
      },
    },
    queries: {
      get: (state) => state,
      decidable: (state, { approvalId, by }) => decidable(existing(state), approvalId, by, toolbox),
    },
  });
}

const noTurn = { tokens: 0, costMillicents: 0, model: null };
/** Messages of users that may wait for the next model turn; none is dropped for a newer one. */
const maxGuidance = 50;

function unpaused(agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow {
  const status = agent.phase === 'new' ? 'idle' : agent.phase === 'calling' || agent.phase === 'queued' ? 'acting' : 'thinking';
  return { ...agent, status, updatedAt: ctx.nowMs };
}

function afterDecision(agent: AgentRow, approved: boolean, toolbox: Toolbox): string {
  const paused = agent.status === 'paused';
  if (approved) return paused ? 'Approved; the agent is paused and does it once it is resumed.' : 'Approved; the agent goes on.';
  const revises = paused ? 'the agent is paused and revises its approach once it is resumed.' : 'the agent revises its approach.';
  return `Rejected; ${revises}${lossByGuidance(agent, toolbox)}`;
}

/** The model might act in the same way on a retry. */
function isAbandoned(outcome: EffectOutcome): outcome is Extract<EffectOutcome, { kind: 'failed' }> {
  return outcome.kind === 'failed' && outcome.abandoned === true;
}

function toolOutcome(outcome: EffectOutcome<ToolOutcome>): ToolOutcome {
  if (outcome.kind === 'done') return outcome.value;
  const error =
    outcome.kind === 'failed'
      ? outcome.message
      : 'This was interrupted while it ran: its outcome is unknown. Do not simply repeat it; say so in your closing words.';
  return { result: { error }, isError: true };
}
