/**
 * A person or a key directs an agent: it decides about a call that waits for an approval, and guides the agent. Neither gives the agent
 * more rights.
 *
 * - An approval, given or refused, needs the scope of the call it decides about, as the same action over REST does.
 * - From the model turn that reads guidance, or the reason of a rejection, the agent has only the rights that both it and the giver have.
 *   Otherwise a key that may only guide could make an agent of a task with more rights spend for it.
 * - A test key cannot direct live agents: that would spend real money.
 */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { missingScope } from '../../../authority.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { type Granted, grantedByBoth } from '../../../scopes.ts';
import { withApproval } from '../task/approvals.ts';
import type { Approval } from '../task/entity.ts';
import type { AgentType, Toolbox } from '../tools/port.ts';
import { callDone } from './advance.ts';
import type { AgentRow, PendingCall } from './entity.ts';
import type { AgentContract, Approve, DirectedBy } from './messages.ts';
import { emit, existing, narrowed, report } from './state.ts';

/** An edge of an older version does not send the caller, and admits every holder of `agents.write`. */
export const unknownDirector: DirectedBy = { id: null, via: 'session', mode: 'live', scopes: null };

/**
 * The agent after the decision, before its next step; its task is notified. Refused with `not_found`, `forbidden`, `conflict`, or `invalid`
 * for arguments that do not match the schema.
 */
export function decide(state: AgentRow | null, input: Approve, ctx: TurnContext<AgentContract>, toolbox: Toolbox): AgentRow {
  const agent = existing(state);
  const { approvalId, approved, reason, by = unknownDirector } = input;
  const approval = decidable(agent, approvalId, by, toolbox);
  if (agent.phase === 'ended') throw new AppError('conflict', `The agent has ended (${agent.status})`);
  if (approval.status !== 'pending') throw new AppError('conflict', `This was ${approval.status} already`);
  // Of a sourced tool the route has checked them: its schema is not here.
  const isSourced = agent.calls[0]?.source !== undefined;
  const given = input.editedArguments ?? null;
  const edited = !approved ? null : isSourced ? given : checkedEdit(approval, given, toolbox);
  const decided: Approval = {
    ...approval,
    status: approved ? 'approved' : 'rejected',
    reason,
    decidedAt: ctx.nowMs,
    decidedBy: by.id,
    decidedVia: by.via,
    editedArguments: edited,
  };
  const [call, ...others] = agent.calls as [PendingCall, ...PendingCall[]];
  const next: AgentRow = {
    ...agent,
    status: agent.status === 'paused' ? 'paused' : 'thinking',
    approvals: withApproval(agent.approvals, decided),
    calls: edited === null ? agent.calls : [{ ...call, arguments: edited, edited: true }, ...others],
    updatedAt: ctx.nowMs,
  };
  const decisionFields = { approval_id: approvalId, action: approval.action, reason, decided_by: by.id, decided_via: by.via };
  emit(
    ctx,
    next,
    approved ? 'approval.approved' : 'approval.rejected',
    edited === null ? decisionFields : { ...decisionFields, edited: true },
  );
  const after = approved ? next : rejected(next, reason, by, ctx);
  return report(ctx, after, { approval: decided });
}

/** The approval, if it exists and the caller may decide about it; otherwise `not_found` or `forbidden`. */
export function decidable(agent: AgentRow, approvalId: string, by: DirectedBy, toolbox: Toolbox): Approval {
  const approval = agent.approvals.find((one) => one.id === approvalId);
  if (approval === undefined) throw new AppError('not_found', 'No such approval request');
  mustDirect(agent, by);
  const need = approval.need !== undefined ? approval.need : (toolbox.find(agent.type as AgentType, approval.action)?.need ?? null);
  const scope = missingScope({ ...agent, scopes: by.scopes }, need);
  if (scope !== null) throw new AppError('forbidden', `Deciding about ${approval.action} needs the scope ${scope}, as doing it does`);
  return approval;
}

function rejected(agent: AgentRow, reason: string | null, by: DirectedBy, ctx: TurnContext<AgentContract>): AgentRow {
  const error = `A person rejected this: ${reason ?? 'no reason given'}. Do not do it again; revise your approach.`;
  const answered = callDone(agent, ctx, { result: { error }, isError: true });
  return reason === null ? answered : { ...answered, guideScopes: withGuide(answered, by) };
}

/** The agent with one more unread message. */
export function withGuidance(agent: AgentRow, message: string, by: DirectedBy): AgentRow {
  return { ...agent, guidance: [...agent.guidance, message], guideScopes: withGuide(agent, by) };
}

/** The rights that waiting guidance removes from the agent's tools, as a text to append to another sentence; '' if none. */
export function lossByGuidance(agent: AgentRow, toolbox: Toolbox): string {
  const type = agent.type as AgentType;
  const has = new Set(toolbox.withheldFrom(type, agent).map(({ name }) => name));
  const lost = toolbox.withheldFrom(type, narrowed(agent)).filter(({ name }) => !has.has(name));
  if (lost.length === 0) return '';
  const listed = lost.map(({ name, scope }) => `${name} (${scope})`).join(', ');
  return ` From then on the agent may do no more than this key, so it loses ${listed}.`;
}

/** Refuses with `forbidden` a caller who may not direct this agent. */
export function mustDirect(agent: AgentRow, by: DirectedBy): void {
  if (by.mode === 'test' && agent.mode === 'live') throw new AppError('forbidden', 'A test key cannot act on live work');
}

function withGuide(agent: AgentRow, by: DirectedBy): Granted {
  return grantedByBoth(agent.guideScopes, by.scopes);
}

/** A person's arguments in place of the model's, checked in the same way; null if nothing is changed. */
function checkedEdit(approval: Approval, edited: object | null, toolbox: Toolbox): object | null {
  if (edited === null) return null;
  const checked = toolbox.check(approval.action, edited);
  if (!checked.ok) throw invalidField(['body', 'edited_arguments'], checked.message);
  return checked.args;
}
