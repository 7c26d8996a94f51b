/**
 * A task: it waits for its turn, has a plan made, starts its agents, admits their work so that budget and limits hold, and ends when they
 * have ended. It shows its agents' state from their reports.
 */

import { type ActorDefinition, defineActor, type EffectsOf, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { account } from '../../accounts/contract.ts';
import { workspace, workspacesIds } from '../../workspaces/contract.ts';
import { agent } from '../agent/messages.ts';
import { agentHasEnded, beginReady, createPlannedAgents, delegate, hasEnded } from './agent-scheduling.ts';
import { withApproval, withoutPending } from './approvals.ts';
import { deployCompleted } from './auto-deploy.ts';
import { type AgentSummary, type Approval, Deliverable, Task, type TaskRow } from './entity.ts';
import { taskInputs } from './inputs.ts';
import { type AgentReport, task as ref, type TaskContract } from './messages.ts';
import { deliverableOf, emit, newTask } from './state.ts';
import { budgetIsSpent, changePlace, grantTurns, hasPlace, removeAgent, returnIdlePlace } from './turn-admission.ts';
import { budgetMessage, withWaitingReason } from './waiting.ts';

type State = TaskRow | null;
type TaskCommands = ActorDefinition<TaskRow, TaskContract>['commands'];

export function taskActor(effects: EffectsOf<TaskContract>): ActorDefinition<TaskRow, TaskContract> {
  return defineActor<TaskRow, TaskContract>({
    ref,
    entity: Task,
    inputs: taskInputs,
    effects,
    commands: withWaitingReason<TaskCommands>({
      create(state, input, ctx) {
        if (state !== null) return { state, reply: state };
        const workspaceId = input.workspaceId ?? ctx.newId(workspacesIds.workspace, input.accountId);
        if (input.workspaceId === null) {
          ctx.send(workspace, workspaceId, 'create', { accountId: input.accountId, name: `Task ${ctx.id}`, description: null });
        }
        const created = newTask(ctx.id, { ...input, workspaceId, ownsWorkspace: input.workspaceId === null }, ctx.nowMs);
        emit(ctx, created, 'task.created', { prompt: created.prompt.slice(0, 1_000), workspace_id: workspaceId });
        ctx.send(account, created.accountId, 'taskWaits', { taskId: ctx.id });
        return { state: created, reply: created };
      },

      begin(state, _input, ctx) {
        if (state !== null && hasEnded(state)) ctx.send(account, state.accountId, 'beganTooLate', { taskId: ctx.id });
        if (state?.status !== 'pending') return nothing(state);
        const planning: TaskRow = { ...state, status: 'planning', planEffectId: ctx.run('plan', {}), updatedAt: ctx.nowMs };
        emit(ctx, planning, 'task.planning');
        return nothing(planning);
      },

      planned(state, { effectId, outcome }, ctx) {
        if (state === null || state.status !== 'planning' || state.planEffectId !== effectId) return nothing(state);
        const idle: TaskRow = { ...state, planEffectId: null, updatedAt: ctx.nowMs };
        if (outcome.kind !== 'done')
          return nothing(fail(idle, ctx, outcome.kind === 'failed' ? outcome.message : 'Planning was interrupted'));
        const { result, tokens, costMillicents } = outcome.value;
        const counted: TaskRow = { ...idle, tokensUsed: idle.tokensUsed + tokens, costMillicents: idle.costMillicents + costMillicents };
        ctx.send(account, state.accountId, 'planned', { taskId: ctx.id, tokens });
        if ('problem' in result) return nothing(fail(counted, ctx, result.problem));
        const running = createPlannedAgents({ ...counted, status: 'running' }, result.plan, ctx);
        emit(ctx, running, 'task.running', { agents: running.agents.map(({ id, type, title }) => ({ id, type, title })) });
        return nothing(settle(beginReady(running, ctx), ctx));
      },

      requestTurn(state, request, ctx) {
        if (state === null || hasEnded(state) || state.waiting.some((one) => one.agentId === request.agentId)) return nothing(state);
        if (isOver(state, request.agentId)) return nothing(state);
        return nothing(grantTurns({ ...state, waiting: [...state.waiting, request], updatedAt: ctx.nowMs }, ctx));
      },

      mustWait(state, { waitingFor }, _ctx) {
        return nothing(state?.status === 'pending' ? { ...state, waitingFor } : state);
      },

      placeLacking(state, { place, allowed }, ctx) {
        return nothing(state === null ? state : changePlace(state, place, { lacking: allowed }, ctx));
      },

      placeGiven(state, { place }, ctx) {
        if (state === null) return nothing(state);
        // The place was returned before it was given.
        if (!hasPlace(state, place)) ctx.send(account, state.accountId, 'agentRests', { place });
        return nothing(changePlace(state, place, { held: true }, ctx));
      },

      counted(state, { place }, ctx) {
        return nothing(state === null ? state : changePlace(state, place, { counting: false }, ctx));
      },

      planLimit(state, { reached, limit = null }, ctx) {
        if (state === null || hasEnded(state)) return nothing(state);
        // A repetition may contain something new: which allowance is used up.
        if (state.limitReached === reached) return nothing(reached && state.status === 'paused' ? { ...state, waitingFor: limit } : state);
        if (reached) for (const [id, place] of Object.entries(state.places)) if (place.held) ctx.send(agent, id, 'stop', {});
        ctx.send(account, state.accountId, 'goOn', { heard: { taskId: ctx.id, reached } });
        const next: TaskRow = { ...state, limitReached: reached, waitingFor: limit, updatedAt: ctx.nowMs };
        return nothing(next.agents.length === 0 ? next : settle(next, ctx));
      },

      report(state, progress, ctx) {
        if (state === null) return nothing(state);
        const { agentId, turn, approval, rests, work, untrusted = false, ...shown } = progress;
        // A decision that the agent has taken stands, also where the task ended before it heard of it.
        if (hasEnded(state))
          return nothing(
            isDecided(approval) ? { ...state, approvals: withApproval(state.approvals, approval), updatedAt: ctx.nowMs } : state,
          );
        // An ended agent stays ended; late reports do not change that.
        const wasOver = isOver(state, agentId);
        const shownFields = wasOver ? {} : shown;
        const agents = state.agents.map((one) => (one.id === agentId ? { ...one, ...shownFields, ...usage(one, turn) } : one));
        let next: TaskRow = { ...state, agents, holdsUntrusted: state.holdsUntrusted || untrusted, updatedAt: ctx.nowMs };
        next = reportUsage(next, progress, ctx);
        if (approval !== null && !(wasOver && approval.status === 'pending'))
          next = { ...next, approvals: withApproval(next.approvals, approval) };
        if (turn !== null) {
          const granted = next.granted.filter((id) => id !== agentId);
          next = { ...next, granted, tokensUsed: next.tokensUsed + turn.tokens, costMillicents: next.costMillicents + turn.costMillicents };
        }
        if (rests) next = returnIdlePlace(next, agentId, ctx);
        if (agentHasEnded(shown.status)) next = agentEnded({ ...next, approvals: withoutPending(next.approvals, agentId) }, agentId, ctx);
        return nothing(settle(next, ctx));
      },

      delegate(state, { agentId, callId, ...asked }, ctx) {
        if (state === null || hasEnded(state) || isOver(state, agentId)) return nothing(state);
        return nothing(delegate({ ...state, updatedAt: ctx.nowMs }, { agentId, callId }, asked, ctx));
      },

      delivered(state, file, ctx) {
        if (state === null) return nothing(state);
        const row = deliverableOf(state, file, ctx.nowMs);
        const known = state.deliverables.includes(row.id);
        ctx.append(Deliverable, row);
        const next: TaskRow = {
          ...state,
          deliverables: known ? state.deliverables : [...state.deliverables, row.id],
          updatedAt: ctx.nowMs,
        };
        emit(ctx, next, known ? 'deliverable.updated' : 'deliverable.created', {
          deliverable_id: row.id,
          name: row.name,
          type: row.type,
          size_bytes: row.sizeBytes,
        });
        return nothing(next);
      },

      changeBudget(state, { maxCredits }, ctx) {
        const task = unended(state);
        const { max_credits: _, ...others } = task.config;
        const config = maxCredits === null ? others : { ...others, max_credits: maxCredits };
        const changed: TaskRow = { ...task, config, updatedAt: ctx.nowMs };
        const next = changed.agents.length === 0 ? changed : settle(changed, ctx);
        return { state: next, reply: next };
      },

      cancel(before, _input, ctx) {
        const state = unended(before);
        if (state.planEffectId !== null) ctx.cancel(state.planEffectId);
        for (const one of live(state)) ctx.send(agent, one.id, 'taskEnded', {});
        const agents = state.agents.map((one) =>
          agentHasEnded(one.status) ? one : { ...one, status: 'cancelled' as const, currentTool: null },
        );
        const approvals = agents.reduce((all, one) => withoutPending(all, one.id), state.approvals);
        const cancelled = ended({ ...state, agents, approvals, planEffectId: null }, 'cancelled', ctx);
        emit(ctx, cancelled, 'task.cancelled');
        return { state: cancelled, reply: cancelled };
      },
    }),
    queries: { get: (state) => state },
  });
}

function nothing(state: State): Turn<State, undefined> {
  return { state, reply: undefined };
}

function unended(state: State): TaskRow {
  if (state === null) throw new AppError('not_found', 'No such task');
  if (hasEnded(state)) throw new AppError('conflict', `The task has ended (${state.status})`);
  return state;
}

/** The agent has reported its end. */
function isOver(task: TaskRow, agentId: string): boolean {
  return task.agents.some((one) => one.id === agentId && agentHasEnded(one.status));
}

function isDecided(approval: Approval | null): approval is Approval {
  return approval?.status === 'approved' || approval?.status === 'rejected';
}

function live(task: TaskRow): AgentSummary[] {
  return task.agents.filter((one) => !agentHasEnded(one.status));
}

function usage(one: AgentSummary, turn: { tokens: number; model: string | null } | null): Partial<AgentSummary> {
  return turn === null ? {} : { tokensUsed: one.tokensUsed + turn.tokens, model: turn.model ?? one.model };
}

/** Usage is reported to the account with each model turn; the agent's next turn waits until it is counted. */
function reportUsage(task: TaskRow, { agentId, turn, rests, work }: AgentReport, ctx: TurnContext<TaskContract>): TaskRow {
  const tokens = turn?.tokens ?? 0;
  const one = task.agents.find((other) => other.id === agentId);
  if (one === undefined || (tokens === 0 && work === null)) return task;
  const place = rests ? undefined : task.places[agentId];
  const of = work === null ? null : { id: agentId, name: one.title, workedMs: work.inAllMs };
  ctx.send(account, task.accountId, 'used', { place: place?.name ?? null, tokens, workedMs: work?.ms ?? 0, agent: of });
  return place === undefined ? task : { ...task, places: { ...task.places, [agentId]: { ...place, counting: true } } };
}

/** Notifies the delegating agent, and starts agents that waited for this one. */
function agentEnded(task: TaskRow, agentId: string, ctx: TurnContext<TaskContract>): TaskRow {
  const one = task.agents.find((other) => other.id === agentId);
  if (one?.delegatedBy) {
    const { agentId: by, callId } = one.delegatedBy;
    const outcome =
      one.status === 'complete'
        ? { result: { agent: one.id, result: one.result }, isError: false }
        : {
            result: { error: `The agent ended without a result (${one.status})${one.error === null ? '' : `: ${one.error}`}` },
            isError: true,
          };
    ctx.send(agent, by, 'delegated', { callId, outcome });
  }
  return beginReady(removeAgent(task, agentId, ctx), ctx);
}

/** Derives the task's state from its agents' states: it ends, pauses or continues. */
function settle(task: TaskRow, ctx: TurnContext<TaskContract>): TaskRow {
  const working = live(task);
  if (working.length === 0) return conclude(task, ctx);
  const allPaused = working.every((one) => one.status === 'paused');
  const pauseReason = task.limitReached ? 'plan_limit' : budgetIsSpent(task) ? 'budget' : allPaused ? 'agents' : null;
  if (pauseReason === task.pauseReason) return grantTurns(task, ctx);
  const next: TaskRow = { ...task, status: pauseReason === null ? 'running' : 'paused', pauseReason };
  if (pauseReason === null) emit(ctx, next, 'task.running');
  else
    emit(ctx, next, 'task.paused', {
      pause_reason: pauseReason,
      ...(pauseReason === 'budget' ? { message: budgetMessage(task.config) } : {}),
    });
  return grantTurns(next, ctx);
}

/** All agents have ended: if one completed, the task is complete, unless the requested output.json is missing. */
function conclude(task: TaskRow, ctx: TurnContext<TaskContract>): TaskRow {
  const withoutOutput = task.agents.find((one) => one.owesOutput && one.status !== 'complete');
  if (withoutOutput === undefined && task.agents.some((one) => one.status === 'complete')) {
    const complete = deployCompleted(ended(task, 'complete', ctx), ctx);
    emit(ctx, complete, 'task.completed', { deliverables_count: complete.deliverables.length });
    return complete;
  }
  const errors = task.agents.flatMap((one) => (one.error === null ? [] : [`${one.title}: ${one.error}`]));
  if (withoutOutput?.status === 'cancelled') errors.unshift('The agent that was to write output.json was cancelled');
  return fail(task, ctx, errors.length > 0 ? errors.join('; ') : 'All agents were cancelled');
}

function fail(task: TaskRow, ctx: TurnContext<TaskContract>, error: string): TaskRow {
  const failed = ended({ ...task, error: error.slice(0, 4_000) }, 'failed', ctx);
  emit(ctx, failed, 'task.failed', { error: failed.error });
  return failed;
}

function ended(task: TaskRow, status: 'complete' | 'failed' | 'cancelled', ctx: TurnContext<TaskContract>): TaskRow {
  const [places, asked] = [true, false].map((held) => Object.values(task.places).flatMap((one) => (one.held === held ? [one.name] : [])));
  const started = task.status !== 'pending';
  ctx.send(account, task.accountId, 'taskEnded', { taskId: task.id, started, places: places!, asked, returnsPlaces: true });
  return { ...task, status, pauseReason: null, granted: [], waiting: [], places: {}, updatedAt: ctx.nowMs, completedAt: ctx.nowMs };
}
