/**
 * One e-mail address. All who want it ask this one actor, so it is given once. Registering is a claim here, committed together with the
 * messages that make the user and the account; the caller waits until both have told that they are there. A crash at any point only delays
 * the messages; should one be lost for good, a timer sends it again, less and less often.
 */
import { AppError } from '../../errors.ts';
import { idPrefixes } from '../../ids.ts';
import { EmailAddress, type EmailAddressRow, type UnfinishedRegistration } from '../../storage/entities/identity.ts';
import { account } from '../account/messages.ts';
import { defineActor, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { user } from '../user/messages.ts';
import { type EmailAddressContract, emailAddress, type Holder, type Register } from './messages.ts';

const completeTimer = 'complete';
const firstRetryMs = 30_000;
const maxRetryMs = 3_600_000;
/** About a month; whoever reads the dead letters will have seen it by then. */
const maxAttempts = 700;

export const emailAddressActor = defineActor<EmailAddressRow, EmailAddressContract>({
  ref: emailAddress,
  entity: EmailAddress,
  commands: { register, created, complete },
  queries: {
    holder: (state) => (state === null || state.unfinished != null ? null : holderOf(state)),
    isTaken: (state) => state !== null,
  },
  // Every guess at a login wakes one of these.
  idleTimeoutMs: 30_000,
});

function register(state: EmailAddressRow | null, input: Register, ctx: TurnContext): Turn<EmailAddressRow, Holder> {
  const { registrationId, email, name, passwordHash } = input;
  if (state !== null) {
    if (state.registrationId !== registrationId) throw new AppError('conflict', 'A user with this email exists already');
    if (state.unfinished != null) ctx.defer(registrationId);
    return { state, reply: holderOf(state) };
  }
  const unfinished: UnfinishedRegistration = { email, name, passwordHash, missing: ['account', 'user'] };
  const claimed = {
    id: ctx.id,
    userId: ctx.newId(idPrefixes.user),
    accountId: ctx.newId(idPrefixes.account),
    registrationId,
    unfinished,
    createdAt: ctx.nowMs,
  } as EmailAddressRow;
  askForMissing(claimed, unfinished, ctx);
  ctx.schedule(completeTimer, ctx.nowMs + firstRetryMs, 'complete', { registrationId, attempt: 1 });
  ctx.defer(registrationId);
  return { state: claimed, reply: holderOf(claimed) };
}

function created(
  state: EmailAddressRow | null,
  { registrationId, part }: { registrationId: string; part: 'account' | 'user' },
  ctx: TurnContext,
): Turn<EmailAddressRow | null, null> {
  if (state?.unfinished == null || state.registrationId !== registrationId) return { state, reply: null };
  const missing = state.unfinished.missing.filter((name) => name !== part);
  if (missing.length > 0) return { state: { ...state, unfinished: { ...state.unfinished, missing } }, reply: null };
  ctx.unschedule(completeTimer);
  ctx.answer(registrationId, holderOf(state));
  return { state: { ...state, unfinished: null }, reply: null };
}

function complete(
  state: EmailAddressRow | null,
  { registrationId, attempt }: { registrationId: string; attempt: number },
  ctx: TurnContext,
): Turn<EmailAddressRow | null, null> {
  if (state?.unfinished == null || state.registrationId !== registrationId) return { state, reply: null };
  askForMissing(state, state.unfinished, ctx);
  if (attempt < maxAttempts) {
    const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempt, 10));
    ctx.schedule(completeTimer, ctx.nowMs + delayMs, 'complete', { registrationId, attempt: attempt + 1 });
  }
  return { state, reply: null };
}

function askForMissing(state: EmailAddressRow, { email, name, passwordHash, missing }: UnfinishedRegistration, ctx: TurnContext): void {
  const { registrationId, accountId, userId } = state;
  const claim = { registrationId, claimedBy: ctx.id };
  if (missing.includes('account')) ctx.send(account, accountId, 'create', claim);
  if (missing.includes('user')) ctx.send(user, userId, 'create', { ...claim, accountId, email, name, passwordHash });
}

function holderOf({ userId, accountId }: EmailAddressRow): Holder {
  return { userId, accountId };
}
