/**
 * The register of an account's webhooks: the one place that decides how many there may be, in all and to one origin, so that requests at the
 * same time cannot exceed the bounds together.
 */
import { AppError } from '../../errors.ts';
import { AccountWebhooks, type AccountWebhooksRow } from '../../storage/entities/webhook.ts';
import { defineActor, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type CreateWebhook, webhook } from '../webhook/messages.ts';
import { type AccountWebhooksContract, accountWebhooks, maxWebhooks, maxWebhooksToOrigin } from './messages.ts';

type State = AccountWebhooksRow | null;
type Entry = AccountWebhooksRow['entries'][number];

export const accountWebhooksActor = defineActor<AccountWebhooksRow, AccountWebhooksContract>({
  ref: accountWebhooks,
  entity: AccountWebhooks,
  commands: { add, move, removed },
  queries: {},
});

function add(state: State, { webhookId, create }: { webhookId: string; create: CreateWebhook }, ctx: TurnContext): Turn<State, null> {
  const entries = state?.entries ?? [];
  if (entries.some(({ id }) => id === webhookId)) return { state, reply: null };
  if (entries.length >= maxWebhooks) throw new AppError('conflict', `An account has ${maxWebhooks} webhooks at most: delete one`);
  const next = withEntry(entries, { id: webhookId, origin: new URL(create.url).origin });
  // Also where this node dies before the caller asks the webhook itself.
  ctx.send(webhook, webhookId, 'create', create);
  return { state: { id: ctx.id, entries: next } as AccountWebhooksRow, reply: null };
}

function move(state: State, { webhookId, url }: { webhookId: string; url: string }, ctx: TurnContext): Turn<State, null> {
  const others = (state?.entries ?? []).filter(({ id }) => id !== webhookId);
  const next = withEntry(others, { id: webhookId, origin: new URL(url).origin });
  return { state: { id: ctx.id, entries: next } as AccountWebhooksRow, reply: null };
}

function removed(state: State, { webhookId }: { webhookId: string }): Turn<State, null> {
  if (state === null) return { state, reply: null };
  return { state: { ...state, entries: state.entries.filter(({ id }) => id !== webhookId) }, reply: null };
}

function withEntry(entries: readonly Entry[], entry: Entry): Entry[] {
  const toOrigin = entries.filter(({ origin }) => origin === entry.origin).length;
  if (toOrigin >= maxWebhooksToOrigin)
    throw new AppError('conflict', `An account has ${maxWebhooksToOrigin} webhooks to one origin at most (${entry.origin}): delete one`);
  return [...entries, entry];
}
