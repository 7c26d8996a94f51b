/**
 * Model turns are granted by the task, because only it sees what all its agents spend. With a budget, one turn runs at a time, so that
 * the last one is the only one that can go over it. Limits on how many agents work at once belong here too.
 */
import type { TaskRow } from '../../storage/entities/work.ts';
import { agent } from '../agent/messages.ts';
import type { TurnContext } from '../runtime/define-actor.ts';

/** 1 credit is 1,000 tokens. */
export function creditsSpent(task: Pick<TaskRow, 'tokensUsed'>): number {
  return task.tokensUsed / 1_000;
}

export function budgetIsSpent(task: TaskRow): boolean {
  return task.config.max_credits !== undefined && creditsSpent(task) >= task.config.max_credits;
}

/** Grants turns to those that wait, in order, as far as the budget and the task's state allow. */
export function grantTurns(task: TaskRow, ctx: TurnContext): TaskRow {
  if (task.status !== 'running' || budgetIsSpent(task)) return task;
  const room = task.config.max_credits === undefined ? task.waiting.length : Math.max(0, 1 - task.granted.length);
  const now = task.waiting.slice(0, room);
  if (now.length === 0) return task;
  for (const id of now) ctx.send(agent, id, 'turnGranted', {});
  return { ...task, waiting: task.waiting.slice(room), granted: [...task.granted, ...now] };
}
