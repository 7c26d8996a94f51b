/**
 * An MCP server that an account has connected: its tokens, and which of its tools agents may use.
 *
 * M1 At most one renewal of tokens runs; a new refresh token is committed before its access token is used.
 * M2 A tool that was not approved with its present hash is not offered (`pins.ts`).
 */
import Type from 'typebox';
import { defineActor, type EffectResult, type EffectsOf, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { authorization } from '../authorization/messages.ts';
import { lifeOf } from '../renewal/life.ts';
import { endRenewal, endWaits, needToken, noPlace, renewalOutcome, type TokenNeed, type TokenReply } from '../renewal/turns.ts';
import { type McpAuthority, type McpReason, McpServer, type McpServerRow } from './entity.ts';
import { type McpGrant, type McpRefreshed, type McpServerContract, mcpServer, type NewMcpServer } from './messages.ts';
import { approve, type FoundTool, firstPins, isSameList, merge } from './pins.ts';
import type { NamesInUse } from './tool-names.ts';
import { withScope } from './with-scope.ts';

type State = McpServerRow | null;
type Context = TurnContext<McpServerContract>;

/** Lifetime of a page for consent, shorter than that of its state. */
const authorizeForMs = 480_000;

export type McpServerEffects = { [Name in 'refresh' | 'revoke' | 'release']: EffectsOf<McpServerContract>[Name]['run'] };

/** @param shown the server as a connection of the account, for events */
export function mcpServerActor(effects: McpServerEffects, shown: (row: McpServerRow) => object) {
  return defineActor<McpServerRow, McpServerContract>({
    ref: mcpServer,
    entity: McpServer,
    commands: {
      create: (state, input, ctx) => create(state, input, ctx),
      asked,
      authorized: (state, input, ctx) => authorized(state, input, ctx),
      lacksScope,
      listed: (state, { found, namesInUse }, ctx) => listed(state, found, namesInUse, ctx),
      approve: approveTools,
      needToken: tokenNeeded,
      remove: (state, _input, ctx) => remove(state, ctx),
      refreshed,
      noted: (state) => ({ state, reply: null }),
    },
    queries: { get: (state) => (state === null || state.removedAt !== null ? null : state) },
    effects: {
      refresh: { run: effects.refresh, ...noPlace, timeoutMs: 35_000, outcome: 'refreshed', input: Type.Object({}) },
      revoke: {
        run: effects.revoke,
        ...noPlace,
        timeoutMs: 60_000,
        outcome: 'noted',
        input: Type.Object({ accountId: Type.String(), secrets: Type.String(), authority: Type.Unsafe<McpAuthority>(Type.Object({})) }),
      },
      release: {
        run: effects.release,
        ...noPlace,
        timeoutMs: 30_000,
        outcome: 'noted',
        input: Type.Object({ accountId: Type.String(), message: Type.String() }),
      },
    },
  });

  function create(
    state: State,
    { found, namesInUse, authorizeUrl, ...input }: NewMcpServer,
    ctx: Context,
  ): Turn<McpServerRow, McpServerRow> {
    if (state !== null && state.removedAt === null)
      throw new AppError('conflict', `An MCP server named ${input.name} is connected already`);
    const row: McpServerRow = {
      ...input,
      id: ctx.id,
      status: found === null ? 'authorization_required' : 'connected',
      reason: null,
      tools: found === null ? [] : firstPins(found, { name: input.name, namesInUse }),
      listedAt: found === null ? null : ctx.nowMs,
      ...consent(authorizeUrl, ctx),
      generation: (state?.generation ?? 0) + 1,
      renewable: false,
      expiresAt: null,
      renewAt: null,
      refreshEffectId: null,
      createdAt: ctx.nowMs,
      removedAt: null,
    };
    if (found !== null) emit(row, 'connected', ctx);
    return { state: row, reply: row };
  }

  function authorized(
    state: State,
    { grant, authorizationId }: { grant: McpGrant; authorizationId: string },
    ctx: Context,
  ): Turn<McpServerRow, McpServerRow> {
    const known = present(state);
    ctx.send(authorization, authorizationId, 'used', {});
    const row: McpServerRow = { ...granted(endRenewal(known, { kind: 'renewed' }, ctx), grant, ctx), ...consent(null, ctx) };
    if (known.reason !== null) emit(row, 'recovered', ctx);
    // A server that has listed no tools yet is connected with its first list.
    else if (known.listedAt !== null) emit(row, 'connected', ctx);
    return { state: row, reply: row };
  }

  function listed(state: State, found: FoundTool[], namesInUse: NamesInUse | undefined, ctx: Context): Turn<McpServerRow, McpServerRow> {
    const known = present(state);
    if (known.listedAt === null) {
      const row: McpServerRow = { ...known, tools: firstPins(found, { name: known.name, namesInUse }), listedAt: ctx.nowMs };
      emit(row, 'connected', ctx);
      return { state: row, reply: row };
    }
    const { accountId, id, name, mode } = known;
    const { tools, changes } = merge(known.tools, found, { name, namesInUse });
    if (!isSameList(changes)) ctx.emit({ accountId, type: 'integration.tools_changed', data: { id, name, mode, ...changes } });
    const row: McpServerRow = { ...known, tools, listedAt: ctx.nowMs };
    return { state: row, reply: row };
  }

  function remove(state: State, ctx: Context): Turn<State, null> {
    const known = present(state);
    endWaits(known, ctx);
    const { accountId, secrets, authority } = known;
    if (authority !== null) ctx.run('revoke', { accountId, secrets, authority });
    ctx.run('release', { accountId: known.accountId, message: `The MCP server ${known.name} was disconnected` });
    const gone = { secrets: '', tools: [], reason: null, renewable: false, expiresAt: null, renewAt: null, ...consent(null, ctx) };
    const row: McpServerRow = { ...known, ...gone, removedAt: ctx.nowMs };
    // A server that never listed its tools was never connected.
    if (known.listedAt !== null) emit(row, 'disconnected', ctx);
    return { state: row, reply: null };
  }

  /** It stays connected: its other tools work. */
  function lacksScope(state: State, { scope }: { scope: string }, ctx: Context): Turn<McpServerRow, McpServerRow> {
    const known = present(state);
    const { authority } = known;
    if (authority === null || known.status !== 'connected') return { state: known, reply: known };
    const wanted = withScope(authority, scope);
    const isKnown = known.reason === 'scope_missing' && wanted.scope === authority.scope;
    if (isKnown) return { state: known, reply: known };
    const row: McpServerRow = { ...known, reason: 'scope_missing', authority: wanted, ...consent(null, ctx) };
    emit(row, 'error', ctx);
    return { state: row, reply: row };
  }

  function tokenNeeded(state: State, need: TokenNeed, ctx: Context): Turn<State, TokenReply> {
    if (state === null || state.removedAt !== null || state.status !== 'connected') return { state, reply: { kind: 'ended' } };
    return needToken(state, need, ctx, (reason) => fail(state, reason, ctx));
  }

  function refreshed(state: State, { effectId, outcome }: EffectResult<McpRefreshed>, ctx: Context): Turn<State, null> {
    if (state?.refreshEffectId !== effectId) return { state, reply: null };
    const ended: McpServerRow = { ...state, refreshEffectId: null };
    const found = renewalOutcome(outcome, ctx);
    if (found === null) return { state: ended, reply: null };
    const { accountId, authority } = ended;
    if (ended.removedAt !== null) {
      if (found.kind === 'granted' && authority !== null) ctx.run('revoke', { accountId, secrets: found.grant.secrets, authority });
      return { state: ended, reply: null };
    }
    // A renewal gives no scope that was missing.
    const renewed = (grant: McpGrant) => ({ ...granted(ended, grant, ctx), reason: ended.reason });
    return { state: found.kind === 'granted' ? renewed(found.grant) : fail(ended, found.reason, ctx), reply: null };
  }

  /** A server with an authorization server waits for a consent; for others the caller must send other headers. */
  function fail(row: McpServerRow, reason: McpReason, ctx: Context): McpServerRow {
    const failed: McpServerRow = { ...row, status: row.authority === null ? 'error' : 'authorization_required', reason };
    emit(failed, 'error', ctx);
    return failed;
  }

  function emit(row: McpServerRow, name: 'connected' | 'disconnected' | 'error' | 'recovered', ctx: Context): void {
    ctx.emit({ accountId: row.accountId, type: `integration.${name}`, data: { integration: shown(row) } });
  }
}

function asked(state: State, { authorizeUrl }: { authorizeUrl: string }, ctx: Context): Turn<McpServerRow, McpServerRow> {
  const row = { ...present(state), ...consent(authorizeUrl, ctx) };
  return { state: row, reply: row };
}

function approveTools(state: State, { tools }: { tools: { name: string; hash: string }[] }): Turn<McpServerRow, McpServerRow> {
  const known = present(state);
  const next = approve(known.tools, tools);
  if (next === null) throw new AppError('conflict', 'A tool does not have this hash any more: read the list again');
  const row = { ...known, tools: next };
  return { state: row, reply: row };
}

// private helpers

function present(state: State): McpServerRow {
  if (state === null || state.removedAt !== null) throw new AppError('not_found', 'MCP server not found');
  return state;
}

function granted(row: McpServerRow, { secrets, renewable, expiresInMs }: McpGrant, { nowMs }: Context): McpServerRow {
  return { ...row, secrets, renewable, ...lifeOf(expiresInMs, nowMs), generation: row.generation + 1, status: 'connected', reason: null };
}

function consent(authorizeUrl: string | null, { nowMs }: Context): Pick<McpServerRow, 'authorizeUrl' | 'authorizeUntil'> {
  return { authorizeUrl, authorizeUntil: authorizeUrl === null ? null : nowMs + authorizeForMs };
}
