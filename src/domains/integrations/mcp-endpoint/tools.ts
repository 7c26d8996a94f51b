/**
 * The tools of `/mcp`. Each call is served by the endpoints of this service, so it has their checks, limits and answers; a tool only
 * converts its arguments to a request.
 */
import Type, { type TObject } from 'typebox';
import type { Principal } from '../../../edge/auth/principal.ts';
import { hasScope } from '../../../edge/auth/principal.ts';
import type { Forwarded } from '../../../edge/http/route.ts';
import { invalidField } from '../../../errors.ts';
import type { Scope } from '../../../scopes.ts';
import { CreateTaskBody } from '../../tasks/contract.ts';

export type Arguments = Record<string, unknown>;

export type McpTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: TObject;
  /** The scope of the endpoint: without it the tool is not listed. */
  scope: Scope;
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint: boolean };
  /** Throws `invalid` if an argument of the path is missing. */
  request(given: Arguments): Forwarded;
};

const TaskId = Type.String({ description: 'Id of the task: task_…' });
const reads = { readOnlyHint: true, openWorldHint: false } as const;
/** Agents reach people and other services. */
const starts = { readOnlyHint: false, destructiveHint: false, openWorldHint: true } as const;

const createTask = (given: Arguments): Forwarded => ({ method: 'POST', path: '/tasks', body: given });

export const mcpTools: readonly McpTool[] = [
  {
    name: 'create_task',
    title: 'Create a task',
    description: 'Gives agents a task and answers at once with the task. Follow it with get_task.',
    inputSchema: CreateTaskBody,
    scope: 'tasks.write',
    annotations: starts,
    request: createTask,
  },
  {
    name: 'run_task',
    title: 'Run a task',
    description:
      'As create_task. With the tasks extension the call itself is a task: its result is the ended task, and its input requests are the approvals that agents wait for. Without the extension it answers at once; follow it with get_task and decide_approval.',
    inputSchema: CreateTaskBody,
    scope: 'tasks.write',
    annotations: starts,
    request: createTask,
  },
  {
    name: 'get_task',
    title: 'Look at a task',
    description: 'The task with its agents, what they ask approval for, its cost and its result.',
    inputSchema: Type.Object({ task_id: TaskId }),
    scope: 'tasks.read',
    annotations: reads,
    request: (given) => ({ method: 'GET', path: `/tasks/${segment(given, 'task_id')}` }),
  },
  {
    name: 'list_tasks',
    title: 'List tasks',
    description: 'The newest first.',
    inputSchema: Type.Object({
      status: Type.Optional(Type.Enum(['pending', 'planning', 'running', 'paused', 'complete', 'failed', 'cancelled'])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
    }),
    scope: 'tasks.read',
    annotations: reads,
    request: (given) => ({ method: 'GET', path: '/tasks', queryString: query(given, ['status', 'limit', 'offset']) }),
  },
  {
    name: 'cancel_task',
    title: 'Cancel a task',
    description: 'Ends the task and all its agents, irreversibly. Finished work stays.',
    inputSchema: Type.Object({ task_id: TaskId }),
    scope: 'tasks.write',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    request: (given) => ({ method: 'POST', path: `/tasks/${segment(given, 'task_id')}/cancel` }),
  },
  {
    name: 'decide_approval',
    title: 'Approve or reject',
    description:
      'Decides about an action that an agent asked approval for: one of `approvals` of get_task. Approving does what its arguments say, such as a payment or a message.',
    inputSchema: Type.Object({
      agent_id: Type.Optional(Type.String({ description: 'The agent that asked; found by the approval if absent' })),
      approval_id: Type.String({ description: 'Id of the approval' }),
      approved: Type.Boolean(),
      reason: Type.Optional(Type.String({ maxLength: 2_000, description: 'Given to the agent when rejected' })),
    }),
    scope: 'agents.write',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    request: ({ approved, reason, ...ids }) => ({
      method: 'POST',
      path: `/agents/${segment(ids, 'agent_id')}/approve/${segment(ids, 'approval_id')}`,
      body: { approved, reason },
    }),
  },
  {
    name: 'list_deliverables',
    title: 'List deliverables',
    description: 'The files that the agents of a task wrote, the newest first, at most 100.',
    inputSchema: Type.Object({ task_id: TaskId }),
    scope: 'tasks.read',
    annotations: reads,
    request: (given) => ({ method: 'GET', path: `/tasks/${segment(given, 'task_id')}/deliverables`, queryString: 'limit=100' }),
  },
  {
    name: 'get_deliverable',
    title: 'Read a deliverable',
    description: 'One file, with its content; of a large file a link to download it.',
    inputSchema: Type.Object({ task_id: TaskId, deliverable_id: Type.String({ description: 'Id of the deliverable' }) }),
    scope: 'tasks.read',
    annotations: reads,
    request: (given) => ({
      method: 'GET',
      path: `/tasks/${segment(given, 'task_id')}/deliverables/${segment(given, 'deliverable_id')}`,
    }),
  },
  {
    name: 'send_message',
    title: 'Tell an agent something',
    description: 'The agent reads it in its next step.',
    inputSchema: Type.Object({
      agent_id: Type.String({ description: 'Id of the agent: agnt_…' }),
      message: Type.String({ minLength: 1, maxLength: 2_000 }),
    }),
    scope: 'agents.write',
    annotations: starts,
    request: ({ message, ...ids }) => ({ method: 'POST', path: `/agents/${segment(ids, 'agent_id')}/guide`, body: { message } }),
  },
];

const byName = new Map(mcpTools.map((tool) => [tool.name, tool]));

export function toolNamed(name: string): McpTool | null {
  return byName.get(name) ?? null;
}

const shown = mcpTools.map((tool) => {
  const { name, title, description, inputSchema, annotations } = tool;
  return { tool, entry: { name, title, description, inputSchema: schemaFor(inputSchema), annotations } };
});
const lists = new Map<string, { tools: object[]; text: string }>();

/** The tools that the principal may call, as objects and as JSON; made once for each set of scopes. */
export function toolList(principal: Principal): { tools: object[]; text: string } {
  const may = shown.map(({ tool }) => hasScope(principal, tool.scope));
  const key = may.join();
  let list = lists.get(key);
  if (list === undefined) {
    const tools = shown.filter((_, i) => may[i]).map(({ entry }) => entry);
    lists.set(key, (list = { tools, text: JSON.stringify(tools) }));
  }
  return list;
}

/** Plain JSON: additions of the schema's builder are left out. */
function schemaFor(schema: TObject): object {
  return JSON.parse(JSON.stringify(schema));
}

/** An argument as a segment of a path. */
function segment(given: Arguments, name: string): string {
  const value = given[name];
  if (value === undefined) throw invalidField(['arguments', name], 'Field required', 'missing');
  if (typeof value !== 'string') throw invalidField(['arguments', name], 'Input should be a valid string', 'string_type');
  return encodeURIComponent(value.toWellFormed());
}

function query(given: Arguments, names: readonly string[]): string {
  const texts = new URLSearchParams();
  for (const name of names) if (given[name] !== undefined) texts.set(name, String(given[name]));
  return texts.toString();
}
