/** Schedules the agents of a task: created by the plan or by delegation, started when their predecessors have ended. */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { type Granted, grantedByBoth } from '../../../scopes.ts';
import { agent } from '../agent/messages.ts';
import { tasksIds } from '../ids.ts';
import type { AgentSummary, TaskRow } from './entity.ts';
import type { TaskContract } from './messages.ts';
import type { Plan } from './plan.ts';

type NewAgent = { id: string; type: string; title: string; prompt: string; after: string[]; delegatedBy: AgentSummary['delegatedBy'] };
export type Delegated = { type: string; prompt: string; scopes: Granted };

/** The plan's agents, created and not yet begun. The last one writes output.json if the task requests it. */
export function createPlannedAgents(task: TaskRow, plan: Plan, ctx: TurnContext<TaskContract>): TaskRow {
  const ids = plan.agents.map(() => ctx.newId(tasksIds.agent, task.accountId));
  const agents = plan.agents.map((one, index) => {
    const last = index === plan.agents.length - 1;
    const after = one.after.map((other) => ids[other]!);
    return create(task, { ...one, id: ids[index]!, after, delegatedBy: null }, last, ctx);
  });
  return { ...task, agents };
}

/** Creates and begins the agent that another one requests, or answers why not. */
export function delegate(
  task: TaskRow,
  by: { agentId: string; callId: string },
  input: Delegated,
  ctx: TurnContext<TaskContract>,
): TaskRow {
  const { type, prompt } = input;
  if (task.agents.length >= task.config.max_agents) {
    const error = `The task may have ${task.config.max_agents} agents in all and has them. Do this yourself.`;
    ctx.send(agent, by.agentId, 'delegated', { callId: by.callId, outcome: { result: { error }, isError: true } });
    return task;
  }
  const title = prompt.split('\n', 1)[0]!.slice(0, 80);
  // A node of an older version does not send the asking agent's rights: then the task's rights apply.
  const scopes = input.scopes === undefined ? task.scopes : grantedByBoth(task.scopes, input.scopes);
  const created = create(
    { ...task, scopes },
    { id: ctx.newId(tasksIds.agent, task.accountId), type, title, prompt, after: [], delegatedBy: by },
    false,
    ctx,
  );
  return beginReady({ ...task, agents: [...task.agents, created] }, ctx);
}

/** Begins every agent that has not begun and whose predecessors have all ended. */
export function beginReady(task: TaskRow, ctx: TurnContext<TaskContract>): TaskRow {
  const byId = new Map(task.agents.map((one) => [one.id, one]));
  const agents = task.agents.map((one) => {
    const before = one.after.map((id) => byId.get(id)!);
    if (one.begun || !before.every((other) => agentHasEnded(other.status))) return one;
    if (agentHasEnded(one.status)) return one;
    ctx.send(agent, one.id, 'begin', { context: before.map(closingText).join('\n\n') });
    return { ...one, begun: true };
  });
  return { ...task, agents };
}

export function hasEnded(task: TaskRow): boolean {
  return task.status === 'complete' || task.status === 'failed' || task.status === 'cancelled';
}

export function agentHasEnded(status: AgentSummary['status']): boolean {
  return status === 'complete' || status === 'error' || status === 'cancelled';
}

function create(
  task: TaskRow,
  { id, type, title, prompt, after, delegatedBy }: NewAgent,
  writesOutput: boolean,
  ctx: TurnContext<TaskContract>,
): AgentSummary {
  const { id: taskId, accountId, workspaceId, config, mode, scopes, ownsWorkspace } = task;
  const outputSchema = writesOutput ? (config.output_schema ?? null) : null;
  const autonomyLevel = config.autonomy_level;
  ctx.send(agent, id, 'create', {
    taskId,
    accountId,
    workspaceId,
    type,
    title,
    prompt,
    autonomyLevel,
    mode,
    scopes,
    ownsWorkspace,
    model: config.model ?? null,
    outputSchema,
    ...(config.allow_connect ? { allowConnect: true } : null),
  });
  return {
    id,
    type,
    title,
    prompt,
    after,
    delegatedBy,
    owesOutput: outputSchema !== null,
    begun: false,
    status: 'idle',
    currentTool: null,
    progress: 0,
    tokensUsed: 0,
    model: null,
    result: null,
    error: null,
  };
}

function closingText(one: AgentSummary): string {
  const text = one.result ?? (one.error === null ? `ended without a result (${one.status})` : `failed: ${one.error}`);
  return `${one.title}: ${text}`.slice(0, 8_000);
}
