/** Why a task waits, if the account's plan is the reason: computed after every turn of the task, shown by it, and sent as an event. */

import type { Turn, TurnContext } from '../../../actors/define-actor.ts';
import { isoTimestamp } from '../../../clock.ts';
import type { WaitingFor } from '../../accounts/contract.ts';
import type { TaskConfig, TaskRow } from './entity.ts';
import type { TaskContract } from './messages.ts';
import { emit } from './state.ts';

/** In the callers' form: fields of the task, and of the event `task.waiting`. */
export type WaitingView = { waiting_for: 'concurrency' | 'plan_limit' | null; waiting_message: string | null };

type Command = (state: TaskRow | null, input: any, ctx: TurnContext<TaskContract>) => Turn<TaskRow | null, any>;

/** Wraps commands: after each, the reason for waiting is updated. */
export function withWaitingReason<C extends Record<string, Command>>(commands: C): C {
  const entries = Object.entries(commands).map(([name, run]) => {
    const wrapped: Command = (before, input, ctx) => {
      const turn = run(before, input, ctx);
      if (turn.state === null || turn.state === before) return turn;
      const state = emitWaitingReason(before?.waitingFor ?? null, turn.state, ctx);
      return { ...turn, state, reply: turn.reply === turn.state ? state : turn.reply };
    };
    return [name, wrapped];
  });
  return Object.fromEntries(entries) as C;
}

export function waitingView({ waitingFor, pauseReason, config }: Pick<TaskRow, 'waitingFor' | 'pauseReason' | 'config'>): WaitingView {
  if (waitingFor !== null) return { waiting_for: waitingFor.kind, waiting_message: waitingMessage(waitingFor) };
  // Paused under an earlier version, which did not record which allowance was used up.
  if (pauseReason === 'plan_limit') return { waiting_for: 'plan_limit', waiting_message: 'A limit of the plan is reached.' };
  return { waiting_for: null, waiting_message: pauseReason === 'budget' ? budgetMessage(config) : null };
}

/** Of a task that is paused because its budget is spent. */
export function budgetMessage({ max_credits: credits }: Pick<TaskConfig, 'max_credits'>): string {
  return `The ${credits} credits of config.max_credits are used up: raise them by PATCH /tasks/{id}, or cancel the task.`;
}

function emitWaitingReason(before: WaitingFor | null, task: TaskRow, ctx: TurnContext<TaskContract>): TaskRow {
  const waitingFor = waitingNow(task);
  const next = waitingFor === task.waitingFor ? task : { ...task, waitingFor };
  if (waitingFor === null || (before?.kind === waitingFor.kind && before.of === waitingFor.of)) return next;
  const { kind: waiting_for, of: limit, allowed } = waitingFor;
  const resets_at = waitingFor.kind === 'plan_limit' ? isoTimestamp(waitingFor.resetsAtMs) : null;
  emit(ctx, next, 'task.waiting', { waiting_for, limit, allowed, resets_at, message: waitingMessage(waitingFor) });
  return next;
}

function waitingNow(task: TaskRow): WaitingFor | null {
  const { status, waitingFor, limitReached, pauseReason } = task;
  // Until the task begins only its account knows the reason, and has sent it.
  if (status === 'pending') return waitingFor;
  if (status !== 'running' && status !== 'paused') return null;
  if (limitReached) return waitingFor?.kind === 'plan_limit' ? waitingFor : null;
  if (pauseReason !== null) return null;
  const places = Object.values(task.places);
  const lacking = places.find((place) => place.lacking !== undefined)?.lacking;
  if (lacking === undefined || places.some((place) => place.held)) return null;
  return waitingFor?.of === 'agents' && waitingFor.allowed === lacking
    ? waitingFor
    : { kind: 'concurrency', of: 'agents', allowed: lacking };
}

function waitingMessage(waitingFor: WaitingFor): string {
  const { kind, of, allowed } = waitingFor;
  if (kind === 'plan_limit') {
    const what = of === 'agent_minutes' ? 'agent minutes' : of;
    const until = isoTimestamp(waitingFor.resetsAtMs).slice(0, 10);
    return `The plan's ${allowed} ${what} of this billing period are used up: upgrade the plan, or wait until ${until}.`;
  }
  if (allowed === 0) return `No ${of} may work: an operator has set their number to 0.`;
  const one = of === 'tasks' ? 'task' : 'agent';
  const working = allowed === 1 ? `1 ${one} of this account is at work` : `${allowed} ${of} of this account are at work`;
  return `${working}, as many as its plan allows at once: this task goes on when it is its turn.`;
}
