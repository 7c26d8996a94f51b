/**
 * The register of an account's webhooks: the only place that decides how many there may be, in all and to one origin, so that concurrent
 * requests cannot exceed the limits together. It is reconciled with the webhooks periodically.
 */

import type { ActorDefinition, EffectResult, EffectsOf, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { type CreateWebhook, webhook } from '../webhook/messages.ts';
import { countEveryMs, recountMs } from './count.ts';
import { AccountWebhooks, type AccountWebhooksRow } from './entity.ts';
import { accountWebhooksInputs } from './inputs.ts';
import { type AccountWebhooksContract, accountWebhooks, type CountedWebhooks, maxWebhooks, maxWebhooksToOrigin } from './messages.ts';

type State = AccountWebhooksRow | null;
type Entry = AccountWebhooksRow['entries'][number];

export function accountWebhooksActor(
  effects: EffectsOf<AccountWebhooksContract>,
): ActorDefinition<AccountWebhooksRow, AccountWebhooksContract> {
  return {
    ref: accountWebhooks,
    entity: AccountWebhooks,
    commands: { add, move, removed, recount, counted },
    queries: {},
    inputs: accountWebhooksInputs,
    effects,
  };
}

function add(
  state: State,
  { webhookId, create }: { webhookId: string; create: CreateWebhook },
  ctx: TurnContext<AccountWebhooksContract>,
): Turn<State, null> {
  const entries = state?.entries ?? [];
  if (entries.some(({ id }) => id === webhookId)) return { state, reply: null };
  if (entries.length >= maxWebhooks) throw new AppError('conflict', `An account has ${maxWebhooks} webhooks at most: delete one`);
  const next = withEntry(entries, { id: webhookId, origin: new URL(create.url).origin });
  // Also if this node crashes before the caller asks the webhook itself.
  ctx.send(webhook, webhookId, 'create', create);
  return { state: countedNow({ ...present(state, ctx), entries: next }, countEveryMs, ctx), reply: null };
}

function move(
  state: State,
  { webhookId, url }: { webhookId: string; url: string },
  ctx: TurnContext<AccountWebhooksContract>,
): Turn<State, null> {
  const others = (state?.entries ?? []).filter(({ id }) => id !== webhookId);
  const next = withEntry(others, { id: webhookId, origin: new URL(url).origin });
  return { state: countedNow({ ...present(state, ctx), entries: next }, countEveryMs, ctx), reply: null };
}

function removed(state: State, { webhookId }: { webhookId: string }, ctx: TurnContext<AccountWebhooksContract>): Turn<State, null> {
  if (state === null) return { state, reply: null };
  const entries = state.entries.filter(({ id }) => id !== webhookId);
  return { state: countedNow({ ...state, entries }, countEveryMs, ctx), reply: null };
}

function recount(state: State, _input: null, ctx: TurnContext<AccountWebhooksContract>): Turn<State, null> {
  return { state: countedNow(present(state, ctx), recountMs, ctx), reply: null };
}

function counted(state: State, { outcome }: EffectResult<CountedWebhooks>): Turn<State, null> {
  if (state === null) return { state, reply: null };
  if (outcome.kind !== 'done') return { state: { ...state, countedAt: null }, reply: null };
  const { wrong, gone } = outcome.value;
  if (wrong.length + gone.length === 0) return { state, reply: null };
  const others = state.entries.filter(({ id }) => !gone.includes(id) && !wrong.some((one) => one.id === id));
  return { state: { ...state, entries: [...others, ...wrong] }, reply: null };
}

function present(state: State, { id }: TurnContext<AccountWebhooksContract>): AccountWebhooksRow {
  return state ?? { id, entries: [], countedAt: null };
}

function countedNow(row: AccountWebhooksRow, everyMs: number, ctx: TurnContext<AccountWebhooksContract>): AccountWebhooksRow {
  if (row.countedAt !== null && ctx.nowMs - row.countedAt < everyMs) return row;
  ctx.run('count', {});
  return { ...row, countedAt: ctx.nowMs };
}

function withEntry(entries: readonly Entry[], entry: Entry): Entry[] {
  const toOrigin = entries.filter(({ origin }) => origin === entry.origin).length;
  if (toOrigin >= maxWebhooksToOrigin)
    throw new AppError('conflict', `An account has ${maxWebhooksToOrigin} webhooks to one origin at most (${entry.origin}): delete one`);
  return [...entries, entry];
}
