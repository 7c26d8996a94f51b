/**
 * A consent that a person was asked for at a service, or at an MCP server: bound to the account and to what is connected.
 *
 * A1 It is good for ten minutes and for one connection.
 * A2 While its code is exchanged it is reserved: two requests never use it at once. A reservation ends by itself, so that a lost node costs seconds.
 */
import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { Authorization, type AuthorizationRow } from './entity.ts';
import { authorizationInputs } from './inputs.ts';
import { type AuthorizationContract, type AuthorizationUser, authorization, type NewAuthorization } from './messages.ts';

type State = AuthorizationRow | null;
type Context = TurnContext<AuthorizationContract>;

export const authorizationLifeMs = 600_000;
/** Longer than an exchange takes. */
const takenForMs = 30_000;

export const authorizationActor = defineActor<AuthorizationRow, AuthorizationContract>({
  ref: authorization,
  entity: Authorization,
  inputs: authorizationInputs,
  commands: { begin, returned, take, giveBack, used },
  queries: { get: (state) => state },
  idleTimeoutMs: 60_000,
});

function begin(state: State, input: NewAuthorization, ctx: Context): Turn<State, null> {
  if (state !== null) return { state, reply: null };
  const { nowMs } = ctx;
  const made = { ...input, id: ctx.id, returnedAt: null, takenUntil: null, usedAt: null };
  return { state: { ...made, createdAt: nowMs, expiresAt: nowMs + authorizationLifeMs }, reply: null };
}

function returned(state: State, _input: null, ctx: Context): Turn<State, AuthorizationRow | null> {
  if (state === null || isOver(state, ctx) || state.returnedAt !== null) return { state, reply: null };
  const next = { ...state, returnedAt: ctx.nowMs };
  return { state: next, reply: next };
}

function take(state: State, user: AuthorizationUser, ctx: Context): Turn<State, AuthorizationRow | null> {
  if (state === null || isOver(state, ctx)) return { state, reply: null };
  if (state.takenUntil !== null && state.takenUntil > ctx.nowMs) return { state, reply: null };
  if (state.accountId !== user.accountId || state.mode !== user.mode || state.target !== user.target) return { state, reply: null };
  const next = { ...state, takenUntil: ctx.nowMs + takenForMs };
  return { state: next, reply: next };
}

function giveBack(state: State): Turn<State, null> {
  return { state: state === null ? null : { ...state, takenUntil: null }, reply: null };
}

function used(state: State, _input: object, ctx: Context): Turn<State, null> {
  if (state === null || state.usedAt !== null) return { state, reply: null };
  // The secrets have no further use.
  return { state: { ...state, usedAt: ctx.nowMs, takenUntil: null, secrets: '' }, reply: null };
}

function isOver({ usedAt, expiresAt }: AuthorizationRow, { nowMs }: Context): boolean {
  return usedAt !== null || expiresAt <= nowMs;
}
