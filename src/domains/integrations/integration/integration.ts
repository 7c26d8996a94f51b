/**
 * An account's connection to a service: its tokens, and whether the service takes them.
 *
 * T1 At most one renewal runs. All calls that need another token wait for the same renewal.
 * T2 A new refresh token is committed before the access token that came with it is used or returned.
 * T3 Only the service's own refusal, twice, ends a connection: an outage never does.
 * T4 A connection that has ended says so once, and asks for no tokens until it is made again.
 */
import Type from 'typebox';
import { defineActor, type EffectResult, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { authorization } from '../authorization/messages.ts';
import { lifeOf } from '../renewal/life.ts';
import { endRenewal, endWaits, needToken, noPlace, renewalOutcome, type TokenNeed, type TokenReply } from '../renewal/turns.ts';
import { ReceivedMessageEntry } from '../whatsapp/entity.ts';
import type { InboundMessage } from '../whatsapp/received.ts';
import type { IntegrationEffects } from './effects.ts';
import { type ErrorReason, Integration, type IntegrationRow } from './entity.ts';
import { integrationInputs } from './inputs.ts';
import { type Grant, type IntegrationContract, integration, type NewConnection, type Refreshed } from './messages.ts';

type State = IntegrationRow | null;
type Context = TurnContext<IntegrationContract>;

export type IntegrationParts = {
  effects: IntegrationEffects;
  /** The connection as callers see it, for events. */
  shown(row: IntegrationRow): object;
  /** Whether the granted scopes allow any tool. */
  hasTools(row: IntegrationRow): boolean;
  /** A display name, such as "Google Ads". */
  titleOf(service: string): string;
};

const checkTimer = 'check';
const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Spreads the checks of connections that were made at the same time. */
const spreadMs = 4 * hourMs;

export function integrationActor({ effects, shown, hasTools, titleOf }: IntegrationParts) {
  return defineActor<IntegrationRow, IntegrationContract>({
    ref: integration,
    entity: Integration,
    inputs: integrationInputs,
    commands: {
      connect: (state, input, ctx) => connect(state, input, ctx),
      disconnect,
      needToken: tokenNeeded,
      receive,
      refreshed,
      revoked: (state, { effectId }) => ({
        state: state?.revokeEffectId === effectId ? { ...state, revokeEffectId: null } : state,
        reply: null,
      }),
      noted: (state) => ({ state, reply: null }),
      check,
      checked,
    },
    queries: { get: (state) => state },
    effects: {
      refresh: { run: effects.refresh, ...noPlace, timeoutMs: 35_000, outcome: 'refreshed', input: Type.Object({}) },
      revoke: {
        run: effects.revoke,
        ...noPlace,
        timeoutMs: 60_000,
        outcome: 'revoked',
        input: Type.Object({ service: Type.String(), tokens: Type.String() }),
      },
      release: {
        run: effects.release,
        ...noPlace,
        timeoutMs: 30_000,
        outcome: 'noted',
        input: Type.Object({ accountId: Type.String(), message: Type.String() }),
      },
      announce: {
        run: effects.announce,
        ...noPlace,
        timeoutMs: 30_000,
        outcome: 'noted',
        input: Type.Object({ accountId: Type.String(), service: Type.String(), mode: Type.String() }),
      },
      check: { run: effects.check, repeatable: () => true, timeoutMs: 200_000, outcome: 'checked', input: Type.Object({}) },
    },
  });

  function connect(state: State, input: NewConnection, ctx: Context): Turn<IntegrationRow, IntegrationRow> {
    const { authorizationId, expiresInMs, ...given } = input;
    // Requests of the earlier connection must not affect this one: revoking its access could revoke this one's.
    if (state !== null) endRenewal(state, { kind: 'renewed' }, ctx);
    if (typeof state?.revokeEffectId === 'string') ctx.cancel(state.revokeEffectId);
    const made: IntegrationRow = {
      ...given,
      id: ctx.id,
      status: 'connected',
      reason: null,
      generation: (state?.generation ?? 0) + 1,
      ...lifeOf(expiresInMs, ctx.nowMs),
      redirectUri: given.redirectUri ?? state?.redirectUri ?? null,
      refreshEffectId: null,
      revokeEffectId: null,
      connectedAt: ctx.nowMs,
      createdAt: state?.createdAt ?? ctx.nowMs,
    };
    if (authorizationId !== null) ctx.send(authorization, authorizationId, 'used', {});
    if (!hasTools(made)) {
      const withoutScope = fail(made, 'scope_missing', ctx);
      ctx.unschedule(checkTimer);
      return { state: withoutScope, reply: withoutScope };
    }
    emit(made, state?.status === 'error' ? 'recovered' : 'connected', ctx);
    ctx.run('announce', { accountId: made.accountId, service: made.service, mode: made.mode });
    checkLater(ctx);
    return { state: made, reply: made };
  }

  function disconnect(state: State, _input: null, ctx: Context): Turn<State, null> {
    if (state === null) throw new AppError('not_found', 'Integration not found');
    if (state.status === 'disconnected') return { state, reply: null };
    endWaits(state, ctx);
    const { accountId, service, tokens } = state;
    ctx.run('release', { accountId, message: `${titleOf(service)} was disconnected` });
    ctx.unschedule(checkTimer);
    const ended: IntegrationRow = {
      ...endAccess(state, tokens, ctx),
      ...{ status: 'disconnected', reason: null, tokens: '', renewable: false, expiresAt: null, renewAt: null, inboundId: null },
    };
    emit(ended, 'disconnected', ctx);
    return { state: ended, reply: null };
  }

  function tokenNeeded(state: State, need: TokenNeed, ctx: Context): Turn<State, TokenReply> {
    if (state === null || state.status !== 'connected') return { state, reply: { kind: 'ended' } };
    return needToken(state, need, ctx, (reason) => fail(state, reason, ctx));
  }

  function refreshed(state: State, { effectId, outcome }: EffectResult<Refreshed>, ctx: Context): Turn<State, null> {
    if (state?.refreshEffectId !== effectId) return { state, reply: null };
    const ended = { ...state, refreshEffectId: null };
    const found = renewalOutcome(outcome, ctx);
    if (found === null) return { state: ended, reply: null };
    if (state.status === 'disconnected')
      return { state: found.kind === 'granted' ? endAccess(ended, found.grant.tokens, ctx) : ended, reply: null };
    return { state: found.kind === 'granted' ? renewed(ended, found.grant, ctx) : fail(ended, found.reason, ctx), reply: null };
  }

  function renewed(state: IntegrationRow, { expiresInMs, grantedScopes, ...grant }: Grant, ctx: Context): IntegrationRow {
    const row: IntegrationRow = {
      ...state,
      ...grant,
      ...lifeOf(expiresInMs, ctx.nowMs),
      ...(grantedScopes !== undefined && { grantedScopes }),
      generation: state.generation + 1,
    };
    if (!hasTools(row)) return fail(row, 'scope_missing', ctx);
    // An operator has corrected the client's settings.
    if (state.status !== 'error') return row;
    const recovered: IntegrationRow = { ...row, status: 'connected', reason: null };
    emit(recovered, 'recovered', ctx);
    return recovered;
  }

  function fail(state: IntegrationRow, reason: ErrorReason, ctx: Context): IntegrationRow {
    if (state.status === 'error') return { ...state, reason };
    const row: IntegrationRow = { ...state, status: 'error', reason };
    emit(row, 'error', ctx);
    if (reason === 'client_misconfigured') ctx.schedule(checkTimer, ctx.nowMs + hourMs, 'check', {});
    return row;
  }

  function emit(row: IntegrationRow, name: string, ctx: Context): void {
    ctx.emit({ accountId: row.accountId, type: `integration.${name}`, data: { integration: shown(row) } });
  }
}

/** Ends access by these tokens at the service, in the background; they replace those of an earlier renewal. */
function endAccess(state: IntegrationRow, tokens: string, ctx: Context): IntegrationRow {
  if (typeof state.revokeEffectId === 'string') ctx.cancel(state.revokeEffectId);
  return { ...state, revokeEffectId: ctx.run('revoke', { service: state.service, tokens }) };
}

function receive(state: State, { messages }: { messages: InboundMessage[] }, ctx: Context): Turn<State, null> {
  if (state === null || state.status === 'disconnected') return { state, reply: null };
  const { id: integrationId, accountId } = state;
  // A notification may contain a message twice.
  const byId = new Map(messages.map((message) => [message.messageId, message]));
  for (const { messageId, sender, text, sentAtMs } of byId.values())
    ctx.append(ReceivedMessageEntry, { messageId, integrationId, accountId, sender, text, sentAt: sentAtMs, receivedAt: ctx.nowMs });
  return { state, reply: null };
}

function check(state: State, _input: object, ctx: Context): Turn<State, null> {
  if (state === null || state.status === 'disconnected') return { state, reply: null };
  if (state.status === 'connected') {
    ctx.run('check', {});
    return { state, reply: null };
  }
  if (state.reason !== 'client_misconfigured' || !state.renewable || state.refreshEffectId !== null) return { state, reply: null };
  ctx.schedule(checkTimer, ctx.nowMs + dayMs, 'check', {});
  return { state: { ...state, refreshEffectId: ctx.run('refresh', {}) }, reply: null };
}

function checked(state: State, _result: object, ctx: Context): Turn<State, null> {
  if (state?.status === 'connected') checkLater(ctx);
  return { state, reply: null };
}

function checkLater(ctx: Context): void {
  // The same delay for the same connection, and spread over many connections.
  const spread = (Number.parseInt(Buffer.from(ctx.id.slice(-8)).toString('hex').slice(-6), 16) % 1_000) / 1_000;
  ctx.schedule(checkTimer, ctx.nowMs + dayMs + Math.floor(spread * spreadMs), 'check', {});
}
