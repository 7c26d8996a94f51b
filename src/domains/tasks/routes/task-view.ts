/** Tasks, agents and approvals as callers see them: the union of both variants of the interface. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { taggedHeaders } from '../../../edge/http/conditional.ts';
import type { AgentRow } from '../agent/entity.ts';
import { waitsFor } from '../agent/state.ts';
import { hasEnded } from '../task/agent-scheduling.ts';
import { type AgentSummary, type Approval, type TaskRow, taskStatuses } from '../task/entity.ts';
import { creditsSpent } from '../task/turn-admission.ts';
import { waitingView } from '../task/waiting.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: 'date-time' });

export const TaskStatus = Type.Enum(taskStatuses);
export const AgentStatus = Type.Enum(['idle', 'thinking', 'acting', 'waiting', 'complete', 'error', 'paused', 'cancelled']);

export const AgentSchema = Type.Object(
  {
    id: Type.String(),
    task_id: Type.String(),
    type: Type.String(),
    title: Type.String(),
    status: AgentStatus,
    waiting_for: Type.Union([Type.Enum(['approval', 'authorization']), Type.Null()], {
      description: 'What a waiting agent waits for: the decision about a call, or the connection of a service',
    }),
    current_tool: nullable(Type.String()),
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    result: nullable(Type.String()),
    error: nullable(Type.String()),
  },
  { title: 'Agent' },
);

export const ApprovalSchema = Type.Object(
  {
    id: Type.String(),
    agent_id: Type.String(),
    task_id: Type.String(),
    action: Type.String(),
    arguments: Type.Unknown(),
    status: Type.Enum(['pending', 'approved', 'rejected', 'expired'], { description: 'expired: the agent ended before the decision' }),
    reason: nullable(Type.String()),
    created_at: Timestamp,
    decided_at: nullable(Timestamp),
    expires_at: Type.Null({ description: 'The approval can be decided until its agent ends' }),
    decided_by: nullable(Type.String({ description: 'The user or the API key that decided' })),
    decided_via: nullable(Type.Enum(['session', 'api_key'])),
    edited_arguments: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
      description: 'The arguments of the call, if the decision replaced `arguments`',
    }),
    summary: nullable(
      Type.String({
        description:
          'What the call does, in words, where its tool says so: for an order its mode, its value and what remains of the limits',
      }),
    ),
  },
  { title: 'Approval' },
);

export const TaskSchema = Type.Object(
  {
    id: Type.String(),
    status: TaskStatus,
    prompt: Type.String(),
    config: Type.Object({}, { additionalProperties: true }),
    agents: Type.Array(AgentSchema),
    subtasks: Type.Array(
      Type.Object({
        id: Type.String(),
        agent_type: Type.String(),
        prompt: Type.String(),
        status: Type.String(),
        tokens_used: Type.Integer(),
        model_used: nullable(Type.String()),
      }),
    ),
    cost: Type.Number({ description: 'Credits spent; 1 credit is 1,000 tokens' }),
    total_tokens_used: Type.Integer(),
    total_cost_cents: Type.Integer({ description: 'US cents by the list prices of the model, rounded' }),
    deliverables_count: Type.Integer(),
    workspace_id: Type.String(),
    deployment_id: nullable(Type.String({ description: 'The deployment that `auto_deploy` started when the task was complete' })),
    mode: Type.Enum(['live', 'test'], { description: 'test: created by a test key; it spends no real money' }),
    approvals: Type.Array(ApprovalSchema),
    pause_reason: nullable(Type.String({ description: 'agents, budget or plan_limit' })),
    waiting_for: Type.Union([Type.Enum(['concurrency', 'plan_limit']), Type.Null()], {
      description:
        'Why nothing of it is at work, where the plan is the reason: as many tasks or agents are at work as it allows at once, or what it allows in a billing period is used up',
    }),
    waiting_message: nullable(Type.String({ description: 'The reason as text, with the action to take' })),
    error: nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    completed_at: nullable(Timestamp),
  },
  { title: 'Task' },
);

export const TaskSummarySchema = Type.Object(
  { id: Type.String(), status: TaskStatus, prompt: Type.String(), created_at: Timestamp },
  { title: 'TaskSummary' },
);

export function taskView(task: TaskRow): Static<typeof TaskSchema> {
  return {
    id: task.id,
    status: task.status,
    prompt: task.prompt,
    config: task.config,
    agents: task.agents.map((agent) => agentView(agent, task.id)),
    subtasks: task.agents.map((agent) => ({
      id: agent.id,
      agent_type: agent.type,
      prompt: agent.prompt,
      status: agent.status,
      tokens_used: agent.tokensUsed,
      model_used: agent.model,
    })),
    cost: creditsSpent(task),
    total_tokens_used: task.tokensUsed,
    total_cost_cents: Math.round(task.costMillicents / 1_000),
    deliverables_count: task.deliverables.length,
    workspace_id: task.workspaceId,
    deployment_id: task.deploymentId,
    mode: task.mode,
    approvals: task.approvals.map((approval) => approvalView(approval, task)),
    pause_reason: task.pauseReason,
    ...waitingView(task),
    error: task.error,
    created_at: isoTimestamp(task.createdAt),
    updated_at: isoTimestamp(task.updatedAt),
    completed_at: timestampOrNull(task.completedAt),
  };
}

export function taskSummaryView({
  id,
  status,
  prompt,
  createdAt,
}: Pick<TaskRow, 'id' | 'status' | 'prompt' | 'createdAt'>): Static<typeof TaskSummarySchema> {
  return { id, status, prompt, created_at: isoTimestamp(createdAt) };
}

export function agentView(agent: AgentSummary | AgentRow, taskId: string): Static<typeof AgentSchema> {
  const { id, type, title, status, currentTool, progress, result, error } = agent;
  const waitingFor = 'phase' in agent ? waitsFor(agent) : (agent.waitingFor ?? null);
  return { id, task_id: taskId, type, title, status, waiting_for: waitingFor, current_tool: currentTool, progress, result, error };
}

export function approvalView(approval: Approval, task: TaskRow): Static<typeof ApprovalSchema> {
  const { id, agentId, action, reason } = approval;
  // Tasks that ended under an earlier version kept theirs as pending.
  const status = approval.status === 'pending' && hasEnded(task) ? 'expired' : approval.status;
  return {
    id,
    agent_id: agentId,
    task_id: task.id,
    action,
    arguments: approval.arguments,
    status,
    reason,
    created_at: isoTimestamp(approval.createdAt),
    decided_at: timestampOrNull(approval.decidedAt),
    expires_at: null,
    decided_by: approval.decidedBy ?? null,
    decided_via: approval.decidedVia ?? null,
    edited_arguments: (approval.editedArguments as Record<string, unknown>) ?? null,
    summary: approval.summary ?? null,
  };
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTimestamp(ms);
}

type Rendered = { headers: Record<string, string>; text: string };
const rendered = new WeakMap<TaskRow, Rendered>();

/** The task's JSON text and its headers, created once for each committed state: for a task that many clients poll it costs a look-up. */
export function taskJson(task: TaskRow): Rendered {
  let made = rendered.get(task);
  if (made === undefined) {
    const text = JSON.stringify(taskView(task));
    rendered.set(task, (made = { headers: taggedHeaders(text), text }));
  }
  return made;
}
