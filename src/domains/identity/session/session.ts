/** A session: one login and its refresh tokens, of which one at a time is valid. active → revoked, and never back. */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { Session, type SessionRow } from './entity.ts';
import { type OpenSession, type SessionContract, type SessionOwner, session } from './messages.ts';

export const refreshTokenLifeMs = 7 * 24 * 3_600_000;

export const sessionActor = defineActor<SessionRow, SessionContract>({
  ref: session,
  entity: Session,
  commands: { open, rotate, revoke },
  queries: {
    standing: (state) => (state?.status === 'active' ? state.generation : null),
    opened: (state) => (state?.status === 'active' ? ownerOf(state) : null),
  },
});

function open(state: SessionRow | null, input: OpenSession, ctx: TurnContext<SessionContract>): Turn<SessionRow, null> {
  if (state !== null) return { state, reply: null };
  const times = { refreshExpiresAt: ctx.nowMs + refreshTokenLifeMs, createdAt: ctx.nowMs };
  return { state: { id: ctx.id, ...input, status: 'active', ...times }, reply: null };
}

function rotate(
  state: SessionRow | null,
  { presentedHash, nextHash }: { presentedHash: string; nextHash: string },
  ctx: TurnContext<SessionContract>,
): Turn<SessionRow | null, SessionOwner | null> {
  if (state?.status !== 'active') return { state, reply: null };
  if (presentedHash !== state.refreshHash) return { state: { ...state, status: 'revoked' }, reply: null };
  if (ctx.nowMs >= state.refreshExpiresAt) return { state, reply: null };
  const next = { ...state, refreshHash: nextHash, refreshExpiresAt: ctx.nowMs + refreshTokenLifeMs };
  return { state: next, reply: ownerOf(state) };
}

function ownerOf({ userId, accountId, generation }: SessionRow): SessionOwner {
  return { userId, accountId, generation };
}

function revoke(state: SessionRow | null, { userId }: { userId: string }): Turn<SessionRow | null, boolean> {
  if (state === null || state.userId !== userId) return { state, reply: false };
  return { state: state.status === 'revoked' ? state : { ...state, status: 'revoked' }, reply: true };
}
