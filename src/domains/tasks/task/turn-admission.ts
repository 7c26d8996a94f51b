/**
 * Admission of agents by their task: to a model turn, because only the task sees what all its agents spend, and to tool calls after a
 * pause. With a budget, one model turn runs at a time, so that only the last one can exceed it.
 *
 * An agent at work holds a place (concurrency slot); the account's plan limits their number. The task requests the place from the account
 * when nothing else blocks the agent, and returns it as soon as something does: an agent that waits for a person, another agent, the budget
 * or a limit holds none. So there is no deadlock by hold and wait.
 */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { account, placeName } from '../../accounts/contract.ts';
import { agent } from '../agent/messages.ts';
import type { Place, TaskRow, TurnRequest } from './entity.ts';
import type { TaskContract } from './messages.ts';

/** 1 credit is 1,000 tokens. */
export function creditsSpent(task: Pick<TaskRow, 'tokensUsed'>): number {
  return task.tokensUsed / 1_000;
}

export function budgetIsSpent(task: TaskRow): boolean {
  return task.config.max_credits !== undefined && creditsSpent(task) >= task.config.max_credits;
}

/** Grants the agents' requests, in order, as far as budget, limits, the task's state and places allow. */
export function grantTurns(task: TaskRow, ctx: TurnContext<TaskContract>): TaskRow {
  return task.waiting.reduce((next, request) => consider(next, request, ctx), task);
}

/** The account's answer about a place; a given place is returned if the agent may not use it now. */
export function changePlace(task: TaskRow, name: string, change: Partial<Place>, ctx: TurnContext<TaskContract>): TaskRow {
  const [agentId, place] = Object.entries(task.places).find(([, one]) => one.name === name) ?? [];
  if (agentId === undefined || place === undefined) return task;
  const { lacking: _, ...before } = place;
  return grantTurns({ ...task, places: { ...task.places, [agentId]: { ...before, ...change } } }, ctx);
}

/** Whether an agent of the task has this place, or waits for it. */
export function hasPlace(task: TaskRow, name: string): boolean {
  return Object.values(task.places).some((place) => place.name === name);
}

/** The agent has no running work: its place is returned. A place that was only requested stays requested. */
export function returnIdlePlace(task: TaskRow, agentId: string, ctx: TurnContext<TaskContract>): TaskRow {
  return task.places[agentId]?.held === true ? returnPlace(task, agentId, ctx) : task;
}

/** Withdraws all requests of an agent that has ended. */
export function removeAgent(task: TaskRow, agentId: string, ctx: TurnContext<TaskContract>): TaskRow {
  const next = task.places[agentId] === undefined ? task : returnPlace(task, agentId, ctx);
  return { ...next, granted: next.granted.filter((id) => id !== agentId), waiting: without(next.waiting, agentId) };
}

function consider(task: TaskRow, { agentId, wants }: TurnRequest, ctx: TurnContext<TaskContract>): TaskRow {
  const place = task.places[agentId];
  if (!mayGrant(task, wants)) return place?.held === true ? returnPlace(task, agentId, ctx) : task;
  if (place === undefined) return askForPlace(task, agentId, ctx);
  if (!place.held || place.counting) return task;
  ctx.send(agent, agentId, 'turnGranted', task.holdsUntrusted ? { untrusted: true } : {});
  return { ...task, waiting: without(task.waiting, agentId), granted: wants === 'turn' ? [...task.granted, agentId] : task.granted };
}

function mayGrant(task: TaskRow, wants: TurnRequest['wants']): boolean {
  if (task.limitReached) return false;
  if (wants === 'calls') return true;
  return task.status === 'running' && !budgetIsSpent(task) && (task.config.max_credits === undefined || task.granted.length === 0);
}

function askForPlace(task: TaskRow, agentId: string, ctx: TurnContext<TaskContract>): TaskRow {
  const name = placeName(task.id, task.placesAsked + 1);
  ctx.send(account, task.accountId, 'agentWaits', { place: name });
  return { ...task, placesAsked: task.placesAsked + 1, places: { ...task.places, [agentId]: { name, held: false, counting: false } } };
}

function returnPlace(task: TaskRow, agentId: string, ctx: TurnContext<TaskContract>): TaskRow {
  const { [agentId]: place, ...others } = task.places;
  ctx.send(account, task.accountId, 'agentRests', { place: place!.name, held: place!.held });
  // The next place may be given to another agent of this task: if not, the account answers.
  const places = Object.fromEntries(Object.entries(others).map(([id, { lacking: _, ...other }]) => [id, other]));
  return { ...task, places };
}

function without(waiting: TurnRequest[], agentId: string): TurnRequest[] {
  return waiting.filter((request) => request.agentId !== agentId);
}
