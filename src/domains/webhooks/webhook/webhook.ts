/**
 * A webhook: the address for an account's events, the selected events, and the position up to which they are delivered. Its dispatcher
 * delivers, on the actor's node, and reports progress to the actor. active ⇄ disabled → deleted.
 *
 * An address gets events once it has answered a signed challenge with 2xx; until then its webhook is active and pending, and events wait.
 */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { defineActor, type EffectContext, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { isoTimestamp } from '../../../clock.ts';
import { shardOf } from '../../../cluster/address.ts';
import { AppError } from '../../../errors.ts';
import type { MailProvider } from '../../../providers/mail/port.ts';
import { accountWebhooks } from '../account-webhooks/messages.ts';
import { webhooksIds } from '../ids.ts';
import { type Disabled, noted, notifyAgain, notifyUserEffect } from './disabled-notice.ts';
import { Webhook, WebhookDelivery, type WebhookRow } from './entity.ts';
import { webhookInputs } from './inputs.ts';
import {
  type Challenge,
  type ChangeWebhook,
  type CreateWebhook,
  challengeType,
  type DeliveryRecord,
  isDelivering,
  type Progress,
  testType,
  type WebhookContract,
  webhook,
} from './messages.ts';
import { maxOldSecrets, oldSecretMs, oldSecretsOf } from './old-secrets.ts';
import { nextTryMs } from './retry.ts';

export type WebhookActorParts = {
  actors: ActorSystem;
  mail: MailProvider;
  /** Notifies the dispatcher on this node that the webhook has changed. */
  changed(webhookId: string): void;
};

const maxAsked = 20;

export function webhookActor({ actors, mail, changed }: WebhookActorParts) {
  return defineActor<WebhookRow, WebhookContract>({
    ref: webhook,
    entity: Webhook,
    inputs: webhookInputs,
    commands: { create, change, remove, rotateSecret, test, replay, settle, challenge, noted, tellAgain: notifyAgain },
    queries: { get: (state) => (state === null || state.status === 'deleted' ? null : state) },
    effects: {
      wake: {
        run: async (_input: object, { actorId }: EffectContext) => changed(actorId),
        repeatable: () => true,
        timeoutMs: 5_000,
        lane: 'vital',
        outcome: 'noted',
      },
      tellUser: notifyUserEffect({ actors, mail }),
    },
  });
}

function create(state: WebhookRow | null, input: CreateWebhook, ctx: TurnContext<WebhookContract>): Turn<WebhookRow, WebhookRow> {
  if (state !== null) return { state, reply: state };
  const { nowMs } = ctx;
  const made: WebhookRow = {
    ...input,
    // A node of an earlier version sends none.
    mode: input.mode ?? 'live',
    id: ctx.id,
    shard: shardOf(webhook.kind, ctx.id),
    oldSecret: null,
    oldSecretExpiresAt: null,
    olderSecrets: [],
    verifiedUrl: null,
    status: 'active',
    disabledReason: null,
    run: 1,
    lanes: [],
    asked: [],
    createdAt: nowMs,
    activeSince: nowMs,
  };
  return afterChange(challenged(made, ctx), ctx);
}

function change(
  state: WebhookRow | null,
  { url, events, status, cursor }: ChangeWebhook,
  ctx: TurnContext<WebhookContract>,
): Turn<WebhookRow, WebhookRow> {
  const before = present(state);
  let next = { ...before };
  if (url !== undefined && url !== before.url) next = { ...next, url, run: next.run + 1 };
  if (events !== undefined) next.events = events;
  if (status === 'disabled' && next.status === 'active') next = { ...stopped(next), disabledReason: 'asked' };
  if (status === 'active' && next.status === 'disabled') {
    next = { ...next, status, disabledReason: null, run: next.run + 1, cursor, activeSince: ctx.nowMs };
  }
  if (next.run === before.run) return afterChange(next, ctx);
  next = unchallenged(next, ctx);
  return afterChange(next.status === 'active' && !isDelivering(next) ? challenged(next, ctx) : next, ctx);
}

function remove(state: WebhookRow | null, _input: null, ctx: TurnContext<WebhookContract>): Turn<WebhookRow, null> {
  const deleted: WebhookRow = { ...stopped(present(state)), status: 'deleted', secret: '', oldSecret: null, olderSecrets: [], asked: [] };
  ctx.unschedule('challenge');
  ctx.send(accountWebhooks, deleted.accountId, 'removed', { webhookId: ctx.id });
  return { ...afterChange(deleted, ctx), reply: null };
}

function rotateSecret(
  state: WebhookRow | null,
  { secret }: { secret: string },
  ctx: TurnContext<WebhookContract>,
): Turn<WebhookRow, WebhookRow> {
  const before = present(state);
  const olderSecrets = oldSecretsOf(before, ctx.nowMs);
  if (olderSecrets.length >= maxOldSecrets) {
    const at = isoTimestamp(olderSecrets.at(-1)!.expiresAt);
    throw new AppError('conflict', `${maxOldSecrets} old secrets are in use for 24 hours each: the next rotation is possible after ${at}`);
  }
  return afterChange({ ...before, secret, oldSecret: before.secret, oldSecretExpiresAt: ctx.nowMs + oldSecretMs, olderSecrets }, ctx);
}

function test(state: WebhookRow | null, _input: null, ctx: TurnContext<WebhookContract>): Turn<WebhookRow, DeliveryRecord> {
  const known = present(state);
  const id = ctx.newId(webhooksIds.delivery, known.accountId);
  return ask(known, { ...untried, id, seq: 0, type: testType, createdAt: ctx.nowMs }, ctx);
}

function replay(state: WebhookRow | null, record: DeliveryRecord, ctx: TurnContext<WebhookContract>): Turn<WebhookRow, DeliveryRecord> {
  const known = present(state);
  if (known.asked.some(({ id }) => id === record.id)) return { state: known, reply: record };
  return ask(known, { ...record, status: 'pending', nextAttemptAt: null }, ctx);
}

function settle(state: WebhookRow | null, progress: Progress, ctx: TurnContext<WebhookContract>): Turn<WebhookRow | null, boolean> {
  if (state === null || state.status === 'deleted' || state.run !== progress.run) return { state, reply: false };
  const { cursor, lanes, deliveries, tried, disable } = progress;
  for (const record of deliveries) ctx.append(WebhookDelivery, { ...record, webhookId: ctx.id });
  const requested = tried.length === 0 ? state.asked : state.asked.filter(({ id }) => !tried.includes(id));
  if (state.status === 'active' && !isDelivering(state))
    return { state: afterChallenge({ ...state, asked: requested }, progress, ctx), reply: true };
  const next = { ...state, cursor, lanes, asked: requested };
  if (disable === null || state.status !== 'active') return { state: next, reply: true };
  return { state: disabled(next, disable, ctx), reply: true };
}

function challenge(
  state: WebhookRow | null,
  { id, run, attempts, createdAt }: Challenge,
  ctx: TurnContext<WebhookContract>,
): Turn<WebhookRow | null, null> {
  if (state === null || state.status !== 'active' || state.run !== run || isDelivering(state)) return { state, reply: null };
  const requested = [...state.asked, { id, seq: 0, type: challengeType, attempts, createdAt }];
  return { ...afterChange({ ...state, asked: requested }, ctx), reply: null };
}

const untried = {
  status: 'pending',
  attempts: 0,
  responseStatus: null,
  responseBody: null,
  error: null,
  durationMs: null,
  attemptedAt: null,
  nextAttemptAt: null,
} as const;

function present(state: WebhookRow | null): WebhookRow {
  if (state === null || state.status === 'deleted') throw new AppError('not_found', 'Webhook not found');
  return state;
}

/** Sends the address a challenge before all other deliveries. */
function challenged(state: WebhookRow, ctx: TurnContext<WebhookContract>): WebhookRow {
  const one = { id: ctx.newId(webhooksIds.delivery, state.accountId), seq: 0, type: challengeType, attempts: 0, createdAt: ctx.nowMs };
  return { ...state, asked: [...state.asked, one] };
}

function unchallenged(state: WebhookRow, ctx: TurnContext<WebhookContract>): WebhookRow {
  ctx.unschedule('challenge');
  return { ...state, asked: state.asked.filter(({ type }) => type !== challengeType) };
}

/** Continues delivery, retries the challenge later, or fails it. */
function afterChallenge(state: WebhookRow, { deliveries, tried }: Progress, ctx: TurnContext<WebhookContract>): WebhookRow {
  const answers = deliveries.filter(({ id, type }) => tried.includes(id) && (type === challengeType || type === testType));
  if (answers.some(({ status }) => status === 'delivered')) {
    const lanes = state.lanes.map((lane) => (lane.dueAt === null ? lane : { ...lane, dueAt: ctx.nowMs }));
    return afterChange({ ...unchallenged(state, ctx), verifiedUrl: state.url, run: state.run + 1, lanes }, ctx).state;
  }
  const failed = answers.find(({ type }) => type === challengeType);
  if (failed === undefined) return state;
  const { id, attempts, createdAt, responseStatus } = failed;
  if (responseStatus === 410) return disabled(state, 'gone', ctx);
  const retryAtMs = nextTryMs(attempts, createdAt, ctx.nowMs);
  if (retryAtMs === null) return disabled(state, 'unverified', ctx);
  ctx.schedule('challenge', retryAtMs, 'challenge', { id, run: state.run, attempts, createdAt } satisfies Challenge);
  return state;
}

function disabled(state: WebhookRow, reason: Disabled['reason'], ctx: TurnContext<WebhookContract>): WebhookRow {
  const { accountId, userId, url } = state;
  ctx.emit({ accountId, type: 'webhook.disabled', data: { webhook_id: ctx.id, reason } });
  ctx.run('tellUser', { userId, url, webhookId: ctx.id, reason } satisfies Disabled);
  return afterChange({ ...stopped(state), disabledReason: reason }, ctx).state;
}

function stopped(state: WebhookRow): WebhookRow {
  return { ...state, status: 'disabled', lanes: [], run: state.run + 1 };
}

function afterChange(state: WebhookRow, ctx: TurnContext<WebhookContract>): Turn<WebhookRow, WebhookRow> {
  ctx.run('wake', {});
  return { state, reply: state };
}

function ask(state: WebhookRow, record: DeliveryRecord, ctx: TurnContext<WebhookContract>): Turn<WebhookRow, DeliveryRecord> {
  if (state.asked.length >= maxAsked) throw new AppError('conflict', `${maxAsked} deliveries asked for by hand are waiting already`);
  const { id, seq, type, attempts, createdAt } = record;
  ctx.append(WebhookDelivery, { ...record, webhookId: ctx.id });
  return { ...afterChange({ ...state, asked: [...state.asked, { id, seq, type, attempts, createdAt }] }, ctx), reply: record };
}
