/** Actions of users on running agents. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { grantedTo } from '../../../edge/auth/scopes.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { mustDirect } from '../../../edge/routes/mode.ts';
import { ownedBy } from '../../../edge/routes/ownership.ts';
import { untilShown } from '../../../edge/routes/until-shown.ts';
import { invalidField } from '../../../errors.ts';
import type { AgentRow } from '../agent/entity.ts';
import { agent, type DirectedBy } from '../agent/messages.ts';
import { checkEdit } from '../agent/sourced-calls.ts';
import { agentHasEnded } from '../task/agent-scheduling.ts';
import type { AgentSummary, TaskRow } from '../task/entity.ts';
import { task } from '../task/messages.ts';
import type { Toolbox } from '../tools/port.ts';
import type { ToolSource } from '../tools/source.ts';
import { AgentSchema, AgentStatus, agentView } from './task-view.ts';

const ActionSchema = Type.Object({ id: Type.String(), status: AgentStatus, message: Type.String() }, { title: 'AgentAction' });
const maxGuidanceChars = 2_000;
const Guidance = Type.String({ minLength: 1, maxLength: maxGuidanceChars, pattern: '\\S' });

export type AgentRouteParts = { actors: ActorSystem; toolbox: Toolbox; sources: readonly ToolSource[] };

export function agentRoutes({ actors, ...tools }: AgentRouteParts): AnyRoute[] {
  const own = async (id: string, principal: Principal): Promise<AgentRow> => {
    return ownedBy(principal, await actors.query(agent, id, 'get', null), 'Agent');
  };
  /** Waits until the task of the agent shows what the agent was told. */
  const shownByTask = ({ id, taskId }: AgentRow, isShown: (shown: AgentSummary, task: TaskRow) => boolean): Promise<void> =>
    untilShown(async () => {
      const row = await actors.query(task, taskId, 'get', null);
      const shown = row?.agents.find((one) => one.id === id);
      return row !== null && shown !== undefined && (agentHasEnded(shown.status) || isShown(shown, row));
    });
  const simple = (action: 'pause' | 'resume' | 'cancel', summary: string, description: string) =>
    route({
      method: 'POST',
      path: `/agents/{id}/${action}`,
      summary,
      description: `${description} A test key does so with test work only.`,
      scope: 'agents.write',
      responses: { 200: ActionSchema },
      errors: [404, 409],
      async handler(context) {
        const id = (context.params as { id: string }).id;
        const found = await own(id, context.principal);
        mustDirect(context.principal, found);
        const done = await actors.ask(agent, id, action, {}, { commandId: context.reservation?.commandId });
        // A cancelled agent is shown once it has ended.
        await shownByTask(found, ({ status }) => action !== 'cancel' && (status === 'paused') === (action === 'pause'));
        return answer(200, done);
      },
    });

  /** Arguments for a sourced tool are checked here, because turns do not know its schema; others pass. */
  const checkedEdit = async (found: AgentRow, approvalId: string, edited: object): Promise<object> => {
    const call = found.calls.find((one) => one.approvalId === approvalId);
    if (call?.source === undefined) return edited;
    const checked = await checkEdit(found, call.name, edited, tools);
    if (checked?.ok) return checked.args;
    throw invalidField(['body', 'edited_arguments'], checked?.message ?? `${call.name} is not available any more`);
  };

  return [
    route({
      method: 'GET',
      path: '/agents/{id}',
      summary: 'Get an agent',
      scope: 'agents.read',
      extension: true,
      responses: { 200: AgentSchema },
      async handler({ params, principal }) {
        const found = await own(params.id, principal);
        return answer(200, agentView(found, found.taskId));
      },
    }),
    simple('pause', 'Pause an agent', 'It finishes the tool call in flight and starts nothing after it.'),
    simple('resume', 'Resume a paused agent', 'It goes on where it left off.'),
    simple('cancel', 'Cancel an agent', 'Permanent. The other agents of the task go on.'),
    route({
      method: 'POST',
      path: '/agents/{id}/guide',
      summary: 'Send guidance to an agent',
      description:
        'The agent reads the text in its next step. Send it as `message` or as `instructions`. From then on the agent has at most the rights of the sender.',
      scope: 'agents.write',
      body: Type.Object({ message: Type.Optional(Guidance), instructions: Type.Optional(Guidance) }),
      responses: { 200: ActionSchema },
      errors: [409],
      async handler(context) {
        const { body, params, principal } = context;
        const message = body.message ?? body.instructions;
        if (message === undefined) throw invalidField(['body', 'message'], 'Field required', 'missing');
        const found = await own(params.id, principal);
        const input = { message, by: directedBy(principal) };
        const done = await actors.ask(agent, params.id, 'guide', input, { commandId: context.reservation?.commandId });
        await shownByTask(found, ({ status }) => status !== 'paused');
        return answer(200, done);
      },
    }),
    route({
      method: 'POST',
      path: '/agents/{id}/approve/{approval_id}',
      summary: 'Approve or reject a call of an agent',
      description:
        'Also needs the scope of the call, such as `commerce.write` for a purchase. A test key can decide only approvals of test tasks. The reason of a rejection counts as guidance.',
      scope: 'agents.write',
      body: Type.Object({
        approved: Type.Boolean(),
        reason: Type.Optional(Type.String({ maxLength: 2_000, description: 'Given to the agent when rejected' })),
        edited_arguments: Type.Optional(
          Type.Object({}, { additionalProperties: true, description: 'With approved true: replaces the arguments of the agent' }),
        ),
      }),
      responses: { 200: ActionSchema },
      errors: [409],
      async authorize({ params, principal }) {
        await own(params.id, principal);
        await actors.query(agent, params.id, 'decidable', { approvalId: params.approval_id, by: directedBy(principal) });
      },
      async handler(context) {
        const { body, params, principal } = context;
        const found = await own(params.id, principal);
        const { approved, reason = null, edited_arguments: edited = null } = body;
        const editedArguments = edited === null ? null : await checkedEdit(found, params.approval_id, edited);
        const input = { approvalId: params.approval_id, approved, reason, editedArguments, by: directedBy(principal) };
        const done = await actors.ask(agent, params.id, 'approve', input, { commandId: context.reservation?.commandId });
        await shownByTask(found, (_, { approvals }) =>
          approvals.some(({ id, status }) => id === params.approval_id && status !== 'pending'),
        );
        return answer(200, done);
      },
    }),
  ];
}

function directedBy(principal: Principal): DirectedBy {
  const { kind, id, userId, mode } = principal;
  const byKey = kind === 'api_key';
  return { id: byKey ? id : userId, via: byKey ? 'api_key' : 'session', mode, scopes: grantedTo(principal) };
}
