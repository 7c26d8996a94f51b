/**
 * The tasks extension (`io.modelcontextprotocol/tasks`): a task of MCP is a task of this service, under its id, and its input requests are
 * the approvals that its agents wait for. Nothing is stored for it.
 */
import { type Answered, type Called, type Session, send } from './call-tool.ts';
import { isObject } from './message.ts';
import { callResult } from './results.ts';

type Approval = { id: string; agent_id: string; action: string; arguments: unknown; status: string; summary: string | null };
type Agent = { id: string; title: string };
type Task = {
  id: string;
  status: 'pending' | 'planning' | 'running' | 'paused' | 'complete' | 'failed' | 'cancelled';
  agents: Agent[];
  approvals: Approval[];
  pause_reason: string | null;
  waiting_message: string | null;
  error: string | null;
  created_at: string;
  updated_at: string;
};

/** `error`: a JSON-RPC error. `fields`: the fields of a result, without braces. */
export type TaskAnswer = { fields: string } | { error: { code: number; message: string } };

const invalidParams = -32_602;
const internalError = -32_603;
/** A hint: agents need seconds for a step. */
const pollIntervalMs = 2_000;
const maxShownArguments = 2_000;

/** The result of a call that created a task. */
export function createdTask({ json }: Called): string {
  const { inputRequests: _, ...fields } = taskFields(JSON.parse(json));
  return `${inner(fields)},"resultType":"task"`;
}

/**
 * The fields of a DetailedTask. A task that failed is the result of a tool that failed; `failed` stands for errors of the protocol.
 */
export async function detailedTask(session: Session, id: string): Promise<TaskAnswer & { hasEnded?: boolean }> {
  const answered = await read(session, id);
  if (answered.status !== 200) return refused(answered);
  const task = JSON.parse(answered.json) as Task;
  const fields = inner(taskFields(task));
  if (task.status !== 'complete' && task.status !== 'failed') return { fields, hasEnded: task.status === 'cancelled' };
  const result = callResult({ status: task.status === 'failed' ? 500 : 200, json: answered.json, more: [] }, 'modern');
  return { fields: `${fields},"result":${result}`, hasEnded: true };
}

/** `tasks/get`. */
export async function getTask(session: Session, id: string): Promise<TaskAnswer> {
  const answer = await detailedTask(session, id);
  return 'error' in answer ? answer : { fields: complete(answer.fields) };
}

/**
 * `tasks/update`: decides approvals. An answer to one in another form than the question asked for is refused, and then nothing is decided.
 * `cancel` decides nothing. Keys that name no pending approval are ignored, as the extension demands: an answer may come twice.
 */
export async function updateTask(session: Session, id: string, responses: Record<string, unknown>): Promise<TaskAnswer> {
  const answered = await read(session, id);
  if (answered.status !== 200) return refused(answered);
  const task = JSON.parse(answered.json) as Task;
  const problem = problemOf(task, responses);
  if (problem !== null) return { error: { code: invalidParams, message: problem } };
  for (const { id: approvalId, agent_id: agentId } of pendingOf(task)) {
    const body = Object.hasOwn(responses, approvalId) ? decisionOf(responses[approvalId]) : null;
    if (body === null) continue;
    const decided = await send(session, { method: 'POST', path: `/agents/${agentId}/approve/${approvalId}`, body });
    // Decided meanwhile: the first decision counts.
    if (decided.status >= 400 && decided.status !== 409) return refused(decided);
  }
  return { fields: complete() };
}

/** `tasks/cancel`: a task that has ended is not changed. */
export async function cancelTask(session: Session, id: string): Promise<TaskAnswer> {
  const answered = await send(session, { method: 'POST', path: `/tasks/${encodeURIComponent(id)}/cancel` });
  return answered.status === 200 || answered.status === 409 ? { fields: complete() } : refused(answered);
}

function read(session: Session, id: string): Promise<Answered> {
  return send(session, { method: 'GET', path: `/tasks/${encodeURIComponent(id)}` });
}

/** Why an answer to a pending approval cannot be used; null if all can. */
function problemOf(task: Task, responses: Record<string, unknown>): string | null {
  for (const { id } of pendingOf(task)) {
    if (!Object.hasOwn(responses, id)) continue;
    const response = responses[id];
    const isCancelled = isObject(response) && response.action === 'cancel';
    if (!isCancelled && decisionOf(response) === null)
      return `inputResponses: the answer to ${id} must be {"action": "accept", "content": {"approved": true or false}}, or have the action decline or cancel`;
  }
  return null;
}

/** null: no decision. Accepting the question is not an approval: the answer contains it. */
function decisionOf(response: unknown): { approved: boolean; reason?: string } | null {
  if (!isObject(response)) return null;
  const { action, content } = response;
  const { approved, reason } = isObject(content) ? content : {};
  const given = typeof reason === 'string' ? { reason } : {};
  if (action === 'decline') return { approved: false, ...given };
  return action === 'accept' && typeof approved === 'boolean' ? { approved, ...given } : null;
}

function pendingOf({ status, approvals }: Task): Approval[] {
  return ['complete', 'failed', 'cancelled'].includes(status) ? [] : approvals.filter((approval) => approval.status === 'pending');
}

function taskFields(task: Task): Record<string, unknown> {
  const pending = pendingOf(task);
  const message = task.error ?? task.waiting_message ?? (task.pause_reason === null ? null : `Paused: ${task.pause_reason}`);
  return {
    taskId: task.id,
    status: statusOf(task, pending.length > 0),
    ...(message !== null && { statusMessage: message }),
    createdAt: task.created_at,
    lastUpdatedAt: task.updated_at,
    // Tasks are kept.
    ttlMs: null,
    pollIntervalMs,
    ...(pending.length > 0 && { inputRequests: Object.fromEntries(pending.map((approval) => [approval.id, question(task, approval)])) }),
  };
}

function statusOf({ status }: Task, asks: boolean): string {
  if (status === 'complete' || status === 'failed') return 'completed';
  if (status === 'cancelled') return 'cancelled';
  return asks ? 'input_required' : 'working';
}

function question(task: Task, { agent_id: agentId, action, arguments: given, summary }: Approval): object {
  const title = task.agents.find(({ id }) => id === agentId)?.title ?? 'An agent';
  const shown = JSON.stringify(given) ?? '';
  const what = shown.length > maxShownArguments ? `${shown.slice(0, maxShownArguments)}…` : shown;
  const requestedSchema = {
    type: 'object',
    properties: {
      approved: { type: 'boolean', title: 'Approve', description: 'Whether the agent may do it' },
      reason: { type: 'string', title: 'Reason', description: 'Given to the agent when rejected', maxLength: 2_000 },
    },
    required: ['approved'],
  };
  const message = `${title} asks to do this: ${action} ${what}${summary === null ? '' : `\n${summary}`}`;
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

function refused({ status, json }: Answered): TaskAnswer {
  const { detail } = JSON.parse(json) as { detail?: unknown };
  const message = typeof detail === 'string' ? detail : JSON.stringify(detail ?? null);
  return { error: { code: status === 404 || status === 422 ? invalidParams : internalError, message } };
}

function complete(fields = ''): string {
  return `${fields === '' ? '' : `${fields},`}"resultType":"complete"`;
}

function inner(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
