/** Tasks: create, list, read, change their budget, cancel, and their recorded history. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { isoTimestamp } from '../../../clock.ts';
import { hasScope, type Principal } from '../../../edge/auth/principal.ts';
import { grantedTo } from '../../../edge/auth/scopes.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { mustDirect } from '../../../edge/routes/mode.ts';
import { ownedBy } from '../../../edge/routes/ownership.ts';
import { PageOf } from '../../../edge/routes/page.ts';
import { untilShown } from '../../../edge/routes/until-shown.ts';
import type { EventCatalogue } from '../../../edge/stream/event-catalogue.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { Scope } from '../../../scopes.ts';
import type { Database } from '../../../storage/database.ts';
import { account } from '../../accounts/contract.ts';
import { ownWorkspace } from '../../workspaces/contract.ts';
import { agent } from '../agent/messages.ts';
import { schemaProblem } from '../agent/output-schema.ts';
import { tasksIds } from '../ids.ts';
import { mustBeDeployable } from '../task/auto-deploy.ts';
import { Task, type TaskConfig, type TaskRow } from '../task/entity.ts';
import { task } from '../task/messages.ts';
import { deployTargets } from '../task/ports.ts';
import { TaskSchema, TaskStatus, TaskSummarySchema, taskJson, taskSummaryView, taskView } from './task-view.ts';

const MaxCredits = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000, description: 'Reaching it pauses the task' });

const TaskConfigBody = Type.Object({
  max_agents: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 3, description: 'How many agents the task may have in all' })),
  autonomy_level: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 80,
      description: 'Below 100, agents ask for approval before high-consequence actions',
    }),
  ),
  auto_deploy: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'The complete task publishes its workspace at `deploy_target`, with the newest deploy configuration of it, without asking again',
    }),
  ),
  deploy_target: Type.Optional(Type.Union([...deployTargets.map((target) => Type.Literal(target)), Type.Null()])),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The model to use instead of the configured one' })),
  max_credits: Type.Optional(MaxCredits),
  output_schema: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'A JSON Schema for the deliverable output.json' }),
  ),
  allow_connect: Type.Optional(
    Type.Boolean({
      description:
        'Agents are offered the tools of services that are not connected yet, and wait for the connection when they need one. Default: false',
    }),
  ),
});

/** What creates a task. */
export const CreateTaskBody = Type.Object({
  prompt: Type.String({ minLength: 1, maxLength: 32_000, pattern: '\\S', description: 'What to do, in your own words' }),
  config: Type.Optional(TaskConfigBody),
  workspace_id: Type.Optional(Type.String({ description: 'Agents read and write here; without it the task gets a workspace of its own' })),
});

const EventSchema = Type.Object(
  {
    id: Type.String(),
    seq: Type.Integer(),
    type: Type.String(),
    account_id: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    data: Type.Unknown(),
  },
  { title: 'Event' },
);

export type TaskRouteParts = { actors: ActorSystem; database: Database; eventCatalogue: EventCatalogue };

export function taskRoutes({ actors, database, eventCatalogue }: TaskRouteParts): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: '/tasks',
      summary: 'Create a task',
      description:
        'The agents of the task have the scopes of the caller: without `commerce.write` they cannot buy; `workspace_id` needs `workspaces.read`, deploying `workspaces.write`. Agents start at once. If a limit of the plan is reached, the task waits as pending, first in, first out. Follow the task on the WebSocket stream, by webhook, or by polling.',
      scope: 'tasks.write',
      body: CreateTaskBody,
      responses: { 201: TaskSchema },
      errors: [404],
      authorize: ({ principal, body }) => mustBeGranted(principal, body),
      async handler(context) {
        const { body, principal } = context;
        const config = configOf(body.config ?? {});
        mustBeGranted(principal, body);
        const { accountId, userId, mode } = principal;
        const { id, commandId } = commandIds(context, tasksIds.task);
        // A retry gets the task of its first attempt, even if settings have changed since.
        const isMade = async () => commandId !== undefined && (await actors.query(task, id, 'get', null)) !== null;
        if (config.auto_deploy && !(await isMade())) await mustBeDeployable(actors, principal, config);
        if (body.workspace_id !== undefined) await ownWorkspace(actors, principal, body.workspace_id);
        if (!(await actors.query(account, accountId, 'hasRoom', null)) && !(await isMade()))
          throw new AppError('rate_limited', 'Too many tasks of this account wait for their turn', { retryAfterS: 60 });
        const scopes = grantedTo(principal);
        const input = { accountId, userId, mode, scopes, prompt: body.prompt, config, workspaceId: body.workspace_id ?? null };
        const created = await actors.ask(task, id, 'create', input, { commandId });
        return answer(201, taskView(created));
      },
    }),

    route({
      method: 'GET',
      path: '/tasks',
      summary: 'List tasks, newest first',
      scope: 'tasks.read',
      query: Type.Object({
        status: Type.Optional(TaskStatus),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries in the page' })),
        offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Entries before the page' })),
      }),
      responses: {
        200: Type.Object({ tasks: Type.Array(TaskSummarySchema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }),
      },
      async handler({ query, principal }) {
        const { status, limit = 20, offset = 0 } = query;
        const where = { accountId: principal.accountId, ...(status === undefined ? {} : { status }) };
        const fields = ['id', 'status', 'prompt', 'createdAt'] as const;
        const [rows, total] = await database.list(principal.accountId, (em) =>
          em.findAndCount(Task, where, { fields, orderBy: { createdAt: 'desc', id: 'desc' }, limit, offset, disableIdentityMap: true }),
        );
        return answer(200, { tasks: rows.map((row) => taskSummaryView(row as TaskRow)), total, limit, offset });
      },
    }),

    route({
      method: 'GET',
      path: '/tasks/{id}',
      summary: 'Get a task with its agents and approvals',
      scope: 'tasks.read',
      responses: { 200: TaskSchema },
      handler({ params, principal }) {
        const found = actors.query(task, params.id, 'get', null);
        return found instanceof Promise ? found.then((row) => ready(row, principal)) : ready(found, principal);
      },
    }),

    route({
      method: 'PATCH',
      path: '/tasks/{id}',
      summary: 'Change the budget of a task',
      description:
        'A task that is paused because its budget is spent continues if the new one is larger than its `cost`. null removes the budget. A test key changes test work only.',
      scope: 'tasks.write',
      extension: true,
      body: Type.Object({ config: Type.Object({ max_credits: Type.Union([MaxCredits, Type.Null()]) }) }),
      responses: { 200: TaskSchema },
      errors: [409],
      async handler(context) {
        const { body, params, principal } = context;
        mustDirect(principal, own(await actors.query(task, params.id, 'get', null), principal));
        const input = { maxCredits: body.config.max_credits };
        const changed = await actors.ask(task, params.id, 'changeBudget', input, { commandId: context.reservation?.commandId });
        return answer(200, taskView(changed));
      },
    }),

    route({
      method: 'POST',
      path: '/tasks/{id}/cancel',
      summary: 'Cancel a task and all its agents',
      description: 'Irreversible. Finished work and deliverables stay; nothing more is charged. A test key cancels test work only.',
      scope: 'tasks.write',
      responses: { 200: Type.Intersect([TaskSchema, Type.Object({ success: Type.Boolean() })]) },
      errors: [409],
      async handler(context) {
        const { params, principal } = context;
        mustDirect(principal, own(await actors.query(task, params.id, 'get', null), principal));
        const cancelled = await actors.ask(task, params.id, 'cancel', {}, { commandId: context.reservation?.commandId });
        const hasEnded = async (id: string) => (await actors.query(agent, id, 'get', null))?.phase === 'ended';
        await Promise.all(cancelled.agents.map(({ id }) => untilShown(() => hasEnded(id))));
        return answer(200, { ...taskView(cancelled), success: true });
      },
    }),

    route({
      method: 'GET',
      path: '/tasks/{id}/events',
      summary: 'List the events of a task, oldest first',
      description: 'Events that the caller lacks the scope to read are left out, as on the stream.',
      scope: 'tasks.read',
      extension: true,
      query: Type.Object({
        after: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Only events with a larger seq' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries in the page' })),
      }),
      responses: { 200: PageOf(EventSchema) },
      async handler({ params, query, principal }) {
        const { after = 0, limit = 20 } = query;
        own(await actors.query(task, params.id, 'get', null), principal);
        const hidden = eventCatalogue.unreadableTypes(principal);
        const [{ rows }, counted] = await database.list(principal.accountId, () =>
          Promise.all([
            database.read({
              name: 'task_history',
              text: 'select id, seq, type, account_id, created_at, data from event where task_id = $1 and seq > $2 and not (type = any($4)) order by seq limit $3',
              values: [params.id, after, limit + 1, hidden],
            }),
            database.read({
              name: 'task_history_size',
              text: 'select count(*)::int as total from event where task_id = $1 and not (type = any($2))',
              values: [params.id, hidden],
            }),
          ]),
        );
        const data = rows.slice(0, limit).map((row) => ({ ...row, created_at: isoTimestamp(row.created_at) }));
        return answer(200, { data, has_more: rows.length > limit, total: counted.rows[0].total });
      },
    }),
  ];
}

function ready(row: TaskRow | null, principal: Principal) {
  const { headers, text } = taskJson(own(row, principal));
  return { status: 200, headers, body: text };
}

/** The task if it is the caller's; another account's task is treated as missing. */
export function own(row: TaskRow | null, principal: Principal): TaskRow {
  return ownedBy(principal, row, 'Task');
}

/**
 * A task has its creator's rights: working in an existing workspace, and publishing it, need the same scopes as the
 * operations themselves. Without workspaces.write its agents only read there.
 */
function mustBeGranted(principal: Principal, { workspace_id: workspaceId, config = {} }: Type.Static<typeof CreateTaskBody>): void {
  const needs = (scope: Scope, what: string) => {
    if (!hasScope(principal, scope)) throw new AppError('forbidden', `${what} needs the scope ${scope}`);
  };
  if (workspaceId !== undefined) needs('workspaces.read', 'Working in this workspace');
  if (config.auto_deploy || config.deploy_target) needs('workspaces.write', 'Deploying');
}

function configOf(given: Type.Static<typeof TaskConfigBody>): TaskConfig {
  const { model, max_credits, output_schema, allow_connect } = given;
  const problem = output_schema === undefined ? null : schemaProblem(output_schema);
  if (problem !== null) throw invalidField(['body', 'config', 'output_schema'], `output_schema ${problem}`);
  return {
    max_agents: given.max_agents ?? 3,
    autonomy_level: given.autonomy_level ?? 80,
    auto_deploy: given.auto_deploy ?? false,
    deploy_target: given.deploy_target ?? null,
    ...(model === undefined ? {} : { model }),
    ...(max_credits === undefined ? {} : { max_credits }),
    ...(output_schema === undefined ? {} : { output_schema }),
    ...(allow_connect === undefined ? {} : { allow_connect }),
  };
}
