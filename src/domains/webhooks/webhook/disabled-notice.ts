/** Notifies the user who registered a webhook by mail that it was disabled. If the mail server does not answer, the mail is retried. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectDefinition, EffectResult, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { mailAgainAfterMs } from '../../../mail-retry.ts';
import type { MailProvider } from '../../../providers/mail/port.ts';
import { user } from '../../identity/contract.ts';
import type { WebhookRow } from './entity.ts';
import type { WebhookContract } from './messages.ts';

export type Disabled = {
  userId: string;
  url: string;
  webhookId: string;
  reason: 'failing' | 'gone' | 'unverified';
  /** Absent: the first try; also in messages of versions without retries. */
  attempt?: number;
  /** The id of the first try's effect, by which receivers recognise a repeat. Absent in the first try. */
  noticeId?: string;
};

/** Null and undefined are outcomes of other effects, and of versions without retries. */
type NoticeResult = { sent: boolean; notice: Required<Disabled> } | null | undefined;

export const disabledInput = Type.Object({
  userId: Type.String(),
  url: Type.String(),
  webhookId: Type.String(),
  reason: Type.Union([Type.Literal('failing'), Type.Literal('gone'), Type.Literal('unverified')]),
  attempt: Type.Integer(),
  noticeId: Type.String(),
});

const why = {
  unverified: 'its address did not answer the challenge with 2xx within 24 hours',
  failing: 'a delivery had failed for 24 hours',
  gone: 'the receiver answered 410 (Gone)',
};

export function notifyUserEffect({ actors, mail }: { actors: ActorSystem; mail: MailProvider }): EffectDefinition<Disabled, NoticeResult> {
  return {
    async run(input, { effectId }) {
      const notice = { ...input, attempt: input.attempt ?? 1, noticeId: input.noticeId ?? effectId };
      const profile = await actors.query(user, input.userId, 'profile', null);
      if (profile === null) return null;
      try {
        await mail.send({ to: profile.email, subject: 'A webhook was disabled', text: textOf(input) }, notice.noticeId);
        return { sent: true, notice };
      } catch (error) {
        // The mail certainly was not sent: it is retried.
        if (error instanceof AppError && error.code === 'unavailable') return { sent: false, notice };
        throw error;
      }
    },
    // A duplicate with one Message-ID is better than no mail.
    repeatable: () => true,
    timeoutMs: 60_000,
    lane: 'vital',
    outcome: 'noted',
  };
}

/** The outcome of each of a webhook's effects; only a mail that was not sent has a consequence. */
export function noted(
  state: WebhookRow | null,
  { outcome }: EffectResult<unknown>,
  ctx: TurnContext<WebhookContract>,
): Turn<WebhookRow | null, null> {
  const result = outcome.kind === 'done' ? (outcome.value as NoticeResult) : null;
  if (result?.sent !== false) return { state, reply: null };
  const { notice } = result;
  const retryAfterMs = mailAgainAfterMs(notice.attempt);
  if (retryAfterMs !== null) ctx.schedule('tell user', ctx.nowMs + retryAfterMs, 'tellAgain', { ...notice, attempt: notice.attempt + 1 });
  return { state, reply: null };
}

/** Not retried if the webhook was enabled or deleted meanwhile. */
export function notifyAgain(
  state: WebhookRow | null,
  notice: Required<Disabled>,
  ctx: TurnContext<WebhookContract>,
): Turn<WebhookRow | null, null> {
  if (state?.status === 'disabled' && state.disabledReason === notice.reason) ctx.run('tellUser', notice);
  return { state, reply: null };
}

function textOf({ webhookId, url, reason }: Disabled): string {
  return [
    `Your webhook ${webhookId} gets no more events, because ${why[reason]}.`,
    '',
    // The path of its URL may be a secret.
    `It goes to ${new URL(url).host}.`,
    `Enable it again with PATCH /v1/api-keys/webhooks/${webhookId} {"status": "active"}: events from then on are delivered.`,
    'What was not delivered is listed under /deliveries and can be sent again from there.',
  ].join('\n');
}
