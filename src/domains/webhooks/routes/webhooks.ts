/** Webhooks: registered, read, changed, tested; and their deliveries, listed and repeated. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { lackingScope } from '../../../edge/auth/scopes.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { ownedBy } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import type { EventCatalogue } from '../../../edge/stream/event-catalogue.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { scopes } from '../../../scopes.ts';
import type { Database } from '../../../storage/database.ts';
import { accountWebhooks, maxWebhooks } from '../account-webhooks/messages.ts';
import { webhooksIds } from '../ids.ts';
import { Webhook, WebhookDelivery, type WebhookRow } from '../webhook/entity.ts';
import { type DeliveryRecord, webhook } from '../webhook/messages.ts';
import { maxOldSecrets } from '../webhook/old-secrets.ts';
import { newWebhookSecret } from '../webhook/signature.ts';
import { DeliverySchema, deliveryView, WebhookSchema, WebhookWithSecret, webhookView } from './webhook-view.ts';

export type WebhookSecrets = { seal(secret: string, webhookId: string): string; open(sealed: string, webhookId: string): string };
export type WebhookRoutesOptions = {
  actors: ActorSystem;
  database: Database;
  eventCatalogue: EventCatalogue;
  secrets: WebhookSecrets;
  /** Throws an `AppError` for an address that is not permitted. */
  checkUrl(url: string): void;
  clock: Clock;
};

const base = '/api-keys/webhooks';
const Url = Type.String({ minLength: 1, maxLength: 2_048, description: 'http or https; not a private address' });
const Events = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Event types, e.g. `task.completed`; all of a family, `task.*`; or everything, `*`',
});
const shared = { scope: 'any', errors: [403], extension: true } as const;

export function webhookRoutes({ actors, database, eventCatalogue, secrets, checkUrl, clock }: WebhookRoutesOptions): AnyRoute[] {
  const create = route({
    method: 'POST',
    path: base,
    summary: 'Register a webhook',
    description:
      'First the address is sent a signed event `webhook.challenge`, again and again for 24 hours as any other; once it answers 2xx the webhook is active. Events from the registration on are sent there by POST, at least once and in order for each task, signed with the secret. Any 2xx within 10 s takes one; everything else is tried again for 24 hours, then the webhook is disabled. A key registers it only for events it may read; of cards, orders and the wallet it gets those of the mode of the key. A key sees the webhooks of its mode, a session all. At most 100 webhooks of an account, five of them to one origin.',
    scope: 'any',
    errors: [403, 409],
    body: Type.Object({ url: Url, events: Events }),
    responses: { 201: WebhookWithSecret },
    authorize: ({ principal, body }) => mustRead(principal, readEvents(body.events)),
    async handler(context) {
      const { principal, body } = context;
      const { accountId, userId, mode } = principal;
      const events = readEvents(body.events);
      mustRead(principal, events);
      mustBeReachable(body.url);
      const { id, commandId } = commandIds(context, webhooksIds.webhook, clock.nowMs());
      const cursor = await newestEvent(accountId);
      const secret = secrets.seal(newWebhookSecret(), id);
      const input = { accountId, mode, userId, url: body.url, events, secret, cursor };
      await recountOnFailure(accountId, actors.ask(accountWebhooks, accountId, 'add', { webhookId: id, create: input }, { commandId }));
      const made = await actors.ask(webhook, id, 'create', input);
      return answer(201, withSecret(made));
    },
  });

  const list = route({
    ...shared,
    method: 'GET',
    path: base,
    summary: 'List webhooks, newest first',
    description: 'Those whose events the caller may read.',
    query: PageQuery,
    responses: { 200: PageOf(WebhookSchema) },
    async handler({ principal, query: { limit, offset } }) {
      const where = { accountId: principal.accountId, status: { $ne: 'deleted' as const } };
      const rows = await database.list(principal.accountId, (em) =>
        em.find(Webhook, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: maxWebhooks, disableIdentityMap: true }),
      );
      const readable = rows.filter(
        (row) => isOfMode(principal, row as WebhookRow) && lackingScope(principal, scopesOf(row.events)) === undefined,
      );
      const data = readable.slice(offset, offset + limit).map((row) => webhookView(row as WebhookRow));
      return answer(200, page(data, offset, readable.length));
    },
  });

  const get = route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Get a webhook',
    responses: { 200: WebhookSchema },
    async handler({ principal, params }) {
      return answer(200, webhookView(await own(principal, params.id)));
    },
  });

  const change = route({
    ...shared,
    method: 'PATCH',
    path: `${base}/{id}`,
    summary: 'Change a webhook, disable it, or enable it again',
    description:
      'A webhook that is enabled again gets later events. A new address must answer a challenge before other events are sent to it; waiting events are sent afterwards.',
    errors: [403, 409],
    body: Type.Object({
      url: Type.Optional(Url),
      events: Type.Optional(Events),
      status: Type.Optional(Type.Enum(['active', 'disabled'])),
    }),
    responses: { 200: WebhookSchema },
    async handler({ principal, params, body }) {
      const { accountId } = await own(principal, params.id);
      const events = body.events === undefined ? undefined : readEvents(body.events);
      if (events !== undefined) mustRead(principal, events);
      if (body.url !== undefined) mustBeReachable(body.url);
      const cursor = await newestEvent(accountId);
      if (body.url !== undefined)
        await recountOnFailure(accountId, actors.ask(accountWebhooks, accountId, 'move', { webhookId: params.id, url: body.url }));
      return answer(200, webhookView(await actors.ask(webhook, params.id, 'change', { ...body, events, cursor })));
    },
  });

  const remove = route({
    ...shared,
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a webhook',
    responses: { 204: null },
    async handler({ principal, params }) {
      await own(principal, params.id);
      await actors.ask(webhook, params.id, 'remove', null);
      return { status: 204 };
    },
  });

  const rotate = route({
    ...shared,
    method: 'POST',
    path: `${base}/{id}/rotate-secret`,
    summary: 'Rotate the secret of a webhook',
    description: `For 24 hours the old secret is used too: each delivery then has a signature of each kind for each of the two secrets. Each further rotation adds one; while ${maxOldSecrets} old secrets are in use, a rotation is 409 with the time from which it is possible.`,
    errors: [403, 409],
    responses: { 200: WebhookWithSecret },
    authorize: mayUse,
    async handler(context) {
      const { principal, params } = context;
      await own(principal, params.id);
      const { commandId } = commandIds(context, webhooksIds.webhook);
      const secret = secrets.seal(newWebhookSecret(), params.id);
      return answer(200, withSecret(await actors.ask(webhook, params.id, 'rotateSecret', { secret }, { commandId })));
    },
  });

  const test = route({
    ...shared,
    method: 'POST',
    path: `${base}/{id}/test`,
    summary: 'Send a test event',
    description: 'Sends one event of type `webhook.test`, once, also to a disabled webhook. Get the delivery to see the result.',
    errors: [403, 409],
    responses: { 200: DeliverySchema },
    authorize: mayUse,
    async handler(context) {
      const { principal, params } = context;
      const { activeSince } = await own(principal, params.id);
      const { commandId } = commandIds(context, webhooksIds.webhook);
      return answer(200, deliveryView(await actors.ask(webhook, params.id, 'test', null, { commandId }), activeSince));
    },
  });

  const deliveries = route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}/deliveries`,
    summary: 'List deliveries of a webhook, newest first',
    description: 'Deliveries that were tried at least once or requested by hand, kept as long as events.',
    query: Type.Object({ ...PageQuery.properties, status: Type.Optional(Type.Enum(['pending', 'delivered', 'failed'])) }),
    responses: { 200: PageOf(DeliverySchema) },
    async handler({ principal, params, query: { limit, offset, status } }) {
      const row = await own(principal, params.id);
      const wanted =
        status === undefined ? {} : status === 'delivered' ? { status } : { $and: [{ status }, { status: { $ne: 'delivered' as const } }] };
      const [rows, total] = await database.listPage(
        principal.accountId,
        WebhookDelivery,
        { webhookId: row.id, ...wanted },
        { limit, offset },
        { id: 'desc' },
      );
      const data = rows.map((record) => deliveryView(record as DeliveryRecord, sinceOf(row)));
      return answer(200, page(data, offset, total));
    },
  });

  const delivery = route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}/deliveries/{delivery}`,
    summary: 'Get a delivery',
    responses: { 200: DeliverySchema },
    async handler({ principal, params }) {
      const row = await own(principal, params.id);
      return answer(200, deliveryView(await recordOf(row, params.delivery), sinceOf(row)));
    },
  });

  const replay = route({
    ...shared,
    method: 'POST',
    path: `${base}/{id}/deliveries/{delivery}/replay`,
    summary: 'Deliver an event again',
    description: 'Sends the event once, now, under the same `webhook-id`, also to a disabled webhook.',
    errors: [403, 409],
    responses: { 200: DeliverySchema },
    authorize: mayUse,
    async handler(context) {
      const { principal, params } = context;
      const row = await own(principal, params.id);
      const { commandId } = commandIds(context, webhooksIds.webhook);
      const record = await recordOf(row, params.delivery);
      return answer(200, deliveryView(await actors.ask(webhook, row.id, 'replay', record, { commandId }), sinceOf(row)));
    },
  });

  return [create, list, get, change, remove, rotate, test, deliveries, delivery, replay];

  /** Refused because of the limit: the register may lack changes by nodes of an earlier version, and is recounted for the next try. */
  async function recountOnFailure(accountId: string, change: Promise<null>): Promise<void> {
    try {
      await change;
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict')
        await actors.ask(accountWebhooks, accountId, 'recount', null).catch(() => {});
      throw error;
    }
  }

  function mustBeReachable(url: string): void {
    try {
      checkUrl(url);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw invalidField(['body', 'url'], error.message, 'value_error', url);
    }
  }

  function withSecret(row: WebhookRow) {
    return { ...webhookView(row), secret: secrets.open(row.secret, row.id) };
  }

  async function newestEvent(accountId: string): Promise<number> {
    const { rows } = await database.read({
      name: 'newest_event',
      text: 'select last_seq from event_counter where account_id = $1',
      values: [accountId],
    });
    return rows[0]?.last_seq ?? 0;
  }

  async function own(principal: Principal, id: string): Promise<WebhookRow> {
    const found = await actors.query(webhook, id, 'get', null);
    const row = ownedBy(principal, found !== null && isOfMode(principal, found) ? found : null, 'Webhook');
    mustRead(principal, row.events);
    return row;
  }

  async function mayUse({ principal, params }: { principal: Principal; params: { id: string } }): Promise<void> {
    await own(principal, params.id);
  }

  async function recordOf({ id: webhookId, accountId }: WebhookRow, id: string): Promise<DeliveryRecord> {
    const found = await database.list(accountId, (em) => em.findOne(WebhookDelivery, { webhookId, id }, { disableIdentityMap: true }));
    if (found === null) throw new AppError('not_found', 'Delivery not found');
    const { webhookId: _, ...record } = found;
    return record as DeliveryRecord;
  }

  /** Each once; refuses unknown event names. */
  function readEvents(given: readonly string[]): string[] {
    for (const [i, name] of given.entries())
      if (!eventCatalogue.isEventName(name))
        throw invalidField(['body', 'events', String(i)], 'There is no event of this name', 'value_error', name);
    return [...new Set(given)];
  }

  function scopesOf(events: readonly string[]): string[] {
    const needed = new Set(events.flatMap((name) => eventCatalogue.typesNamed(name)).map((type) => eventCatalogue.readScope(type)));
    return scopes.filter((scope) => needed.has(scope));
  }

  function mustRead(principal: Principal, events: readonly string[]): void {
    const lacking = lackingScope(principal, scopesOf(events));
    if (lacking !== undefined) throw new AppError('forbidden', `This key does not have the scope ${lacking}, which reads these events`);
  }
}

/** A user manages webhooks of both modes. */
function isOfMode({ kind, mode }: Principal, row: WebhookRow): boolean {
  return kind === 'session' || row.mode === mode;
}

function sinceOf({ status, activeSince }: WebhookRow): number | null {
  return status === 'active' ? activeSince : null;
}
