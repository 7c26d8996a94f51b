/** Sending through Gmail, which takes no idempotency key: a mail that may have been sent is searched for by its Message-ID before it is sent again. */
import { setTimeout as delay } from 'node:timers/promises';
import { composedMail, messageIdOf, type Reply, replyTo, type Written } from './gmail-mail.ts';
import { pathSegment } from './path-segment.ts';
import { type Fields, fieldsOf, listOf, requiredFields, textOf } from './read-answer.ts';
import type { ServiceCall } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

export const messages = '/gmail/v1/users/me/messages';
const drafts = '/gmail/v1/users/me/drafts';

/** The pause before searching for a mail whose sending failed without a clear answer: Gmail's index is slightly delayed. */
const indexPausesMs: readonly number[] = [1_000, 3_000];

export type Mailed = Written & { thread_id?: string };

/**
 * Never sends a mail twice: if it is not certain whether an earlier try reached Gmail, it fails.
 *
 * @param pausesMs one for each further try
 */
export async function sendMail(mail: Mailed, call: ServiceCall, pausesMs = indexPausesMs): Promise<{ id: string; thread_id: string }> {
  const messageId = messageIdOf(call.callId);
  if (call.isRepeat) {
    const earlier = await sentEarlier(messageId, call);
    if (earlier !== null) return earlier;
  }
  const message = await composedMail(mail, messageId, await replyOf(mail, call));
  for (let tried = 0; ; tried += 1) {
    try {
      const { body } = await call.request({ method: 'POST', path: `${messages}/send`, json: message, repeatable: false });
      return shownMessage(fieldsOf(body));
    } catch (error) {
      if (!isUnclear(error)) throw error;
      await delay(pausesMs[tried] ?? 0);
      const earlier = await sentEarlier(messageId, call);
      if (earlier !== null) return earlier;
      if (tried === pausesMs.length) throw error;
    }
  }
}

/** A repeat returns the draft that the earlier try made. */
export async function saveDraft(mail: Mailed, call: ServiceCall): Promise<{ id: string; message_id: string; thread_id: string }> {
  const messageId = messageIdOf(call.callId);
  if (call.isRepeat) {
    const { body } = await call.request({ method: 'GET', path: drafts, query: { q: `rfc822msgid:${messageId}` } });
    const [earlier] = listOf(requiredFields(body, 'Gmail').drafts, 'Gmail');
    if (earlier !== undefined) return shownDraft(earlier);
  }
  const message = await composedMail(mail, messageId, await replyOf(mail, call));
  const { body } = await call.request({ method: 'POST', path: drafts, json: { message }, repeatable: false });
  return shownDraft(fieldsOf(body));
}

function shownMessage({ id, threadId }: Fields) {
  return { id: textOf(id) ?? '', thread_id: textOf(threadId) ?? '' };
}

function shownDraft({ id, message }: Fields) {
  const inner = shownMessage(fieldsOf(message));
  return { id: textOf(id) ?? '', message_id: inner.id, thread_id: inner.thread_id };
}

async function replyOf({ thread_id: threadId }: Mailed, call: ServiceCall): Promise<Reply | null> {
  if (threadId === undefined) return null;
  const path = `/gmail/v1/users/me/threads/${pathSegment(threadId, 'thread_id')}`;
  const { body } = await call.request({ method: 'GET', path, query: { format: 'metadata' } });
  return replyTo(threadId, listOf(requiredFields(body, 'Gmail').messages, 'Gmail'));
}

/** Fails when it cannot be known: a connection that may only send cannot search. */
async function sentEarlier(messageId: string, call: ServiceCall): Promise<{ id: string; thread_id: string } | null> {
  try {
    const { body } = await call.request({
      method: 'GET',
      path: messages,
      query: { q: `rfc822msgid:${messageId}`, includeSpamTrash: true },
    });
    const [found] = listOf(requiredFields(body, 'Gmail').messages, 'Gmail');
    return found === undefined ? null : shownMessage(found);
  } catch (error) {
    if (!(error instanceof ServiceFailed)) throw error;
    throw new ServiceFailed({
      type: 'unavailable',
      message: `Gmail did not say whether the mail was sent, and its sent mails cannot be searched (${error.message}). Do not send it again by yourself; say in your result that its delivery is uncertain.`,
    });
  }
}

function isUnclear(error: unknown): boolean {
  return error instanceof ServiceFailed && error.failure.type === 'unavailable';
}
