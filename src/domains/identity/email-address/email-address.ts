/**
 * One e-mail address. All claims of it go to this actor, so it has one holder. Registering, and changing to it from another address, is a
 * claim, committed together with the messages that complete it; the caller waits until user and account have confirmed it. A crash at any
 * point only delays the messages; if one is dead-lettered, a timer sends it again, with growing intervals.
 *
 * A user may have claimed several: the current one, and one that must be verified first. Only the user's row shows which is which, and only
 * the user's actor releases them (`user/email-change.ts`).
 */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { backoffMs } from '../../../backoff.ts';
import { AppError } from '../../../errors.ts';
import { account, accountsIds } from '../../accounts/contract.ts';
import { identityIds } from '../ids.ts';
import { user } from '../user/messages.ts';
import { EmailAddress, type EmailAddressRow, type UnfinishedMove, type UnfinishedRegistration } from './entity.ts';
import { emailAddressInputs } from './inputs.ts';
import { type EmailAddressContract, emailAddress, type Holder, type Move, type Register } from './messages.ts';

const completeTimer = 'complete';
const firstRetryMs = 30_000;
const maxRetryMs = 3_600_000;
/** About a month; by then an operator has read the dead letters. */
const maxAttempts = 700;

export const emailAddressActor = defineActor<EmailAddressRow, EmailAddressContract>({
  ref: emailAddress,
  entity: EmailAddress,
  inputs: emailAddressInputs,
  commands: { register, created, move, moved, release, complete, forgotPassword },
  queries: {
    holder: (state) => (state === null || state.unfinished != null ? null : holderOf(state)),
    isTaken: (state) => state !== null && holderOf(state) !== null,
  },
  // Every login attempt activates such an actor.
  idleTimeoutMs: 30_000,
});

function register(state: EmailAddressRow | null, input: Register, ctx: TurnContext<EmailAddressContract>): Turn<EmailAddressRow, Holder> {
  const { registrationId, email, name, passwordHash } = input;
  const held = state === null ? null : holderOf(state);
  if (held !== null) {
    if (state!.registrationId !== registrationId) throw taken();
    if (state!.unfinished != null) ctx.defer(registrationId);
    return { state: state!, reply: held };
  }
  const accountId = ctx.newId(accountsIds.account, null);
  const holder = { userId: ctx.newId(identityIds.user, accountId), accountId };
  const unfinished: UnfinishedRegistration = { email, name, passwordHash, missing: ['account', 'user'] };
  return { state: claim(state, holder, registrationId, unfinished, ctx), reply: holder };
}

function created(
  state: EmailAddressRow | null,
  { registrationId, part }: { registrationId: string; part: 'account' | 'user' },
  ctx: TurnContext<EmailAddressContract>,
): Turn<EmailAddressRow | null, null> {
  const { unfinished } = state ?? {};
  if (unfinished == null || !isRegistration(unfinished) || state!.registrationId !== registrationId) return { state, reply: null };
  const missing = unfinished.missing.filter((name) => name !== part);
  if (missing.length > 0) return { state: { ...state!, unfinished: { ...unfinished, missing } }, reply: null };
  ctx.answer('register', state!.registrationId, holderOf(state!)!);
  return finish(state!, ctx);
}

function move(state: EmailAddressRow | null, input: Move, ctx: TurnContext<EmailAddressContract>): Turn<EmailAddressRow, boolean> {
  const { moveId, userId, accountId, email, emailVersion } = input;
  const held = state === null ? null : holderOf(state);
  if (held !== null && held.userId !== userId) throw taken();
  const earlier = state?.unfinished;
  if (earlier != null && !isRegistration(earlier) && earlier.emailVersion === emailVersion) {
    ctx.defer(state!.registrationId);
    return { state: state!, reply: true };
  }
  // The caller of an earlier move is answered that it did not happen.
  if (earlier != null) ctx.answer('move', state!.registrationId, false);
  return { state: claim(state, { userId, accountId }, moveId, { email, emailVersion }, ctx), reply: true };
}

function moved(
  state: EmailAddressRow | null,
  { moveId, done }: { moveId: string; done: boolean },
  ctx: TurnContext<EmailAddressContract>,
): Turn<EmailAddressRow | null, null> {
  if (state?.unfinished == null || state.registrationId !== moveId) return { state, reply: null };
  ctx.answer('move', state.registrationId, done);
  return finish(done ? state : given(state), ctx);
}

function release(state: EmailAddressRow | null, { userId }: { userId: string }): Turn<EmailAddressRow | null, null> {
  // A pending claim is a newer one of the same user, who has returned to this address: the user's actor decides.
  if (state === null || state.userId !== userId || state.unfinished != null) return { state, reply: null };
  return { state: given(state), reply: null };
}

function complete(
  state: EmailAddressRow | null,
  { registrationId, attempt }: { registrationId: string; attempt: number },
  ctx: TurnContext<EmailAddressContract>,
): Turn<EmailAddressRow | null, null> {
  if (state?.unfinished == null || state.registrationId !== registrationId) return { state, reply: null };
  askForMissing(state, ctx);
  if (attempt < maxAttempts) {
    const delayMs = backoffMs(attempt, firstRetryMs, maxRetryMs);
    ctx.schedule(completeTimer, ctx.nowMs + delayMs, 'complete', { registrationId, attempt: attempt + 1 });
  }
  return { state, reply: null };
}

function forgotPassword(
  state: EmailAddressRow | null,
  _input: null,
  ctx: TurnContext<EmailAddressContract>,
): Turn<EmailAddressRow | null, null> {
  const holder = state === null || state.unfinished != null ? null : holderOf(state);
  if (holder !== null) ctx.send(user, holder.userId, 'offerReset', { email: ctx.id });
  return { state, reply: null };
}

/** The state during a claim; its caller waits until it is finished. */
function claim(
  state: EmailAddressRow | null,
  holder: Holder,
  registrationId: string,
  unfinished: UnfinishedRegistration | UnfinishedMove,
  ctx: TurnContext<EmailAddressContract>,
): EmailAddressRow {
  const claimed: EmailAddressRow = { id: ctx.id, ...holder, registrationId, unfinished, createdAt: state?.createdAt ?? ctx.nowMs };
  askForMissing(claimed, ctx);
  ctx.schedule(completeTimer, ctx.nowMs + firstRetryMs, 'complete', { registrationId, attempt: 1 });
  ctx.defer(registrationId);
  return claimed;
}

function finish(state: EmailAddressRow, ctx: TurnContext<EmailAddressContract>): Turn<EmailAddressRow, null> {
  ctx.unschedule(completeTimer);
  return { state: { ...state, unfinished: null }, reply: null };
}

function askForMissing({ registrationId, accountId, userId, unfinished }: EmailAddressRow, ctx: TurnContext<EmailAddressContract>): void {
  if (!isRegistration(unfinished!)) {
    ctx.send(user, userId!, 'moveTo', { moveId: registrationId, claimedBy: ctx.id, ...unfinished! });
    return;
  }
  const { email, name, passwordHash, missing } = unfinished;
  const claim = { registrationId, claimedBy: ctx.id };
  if (missing.includes('account')) ctx.send(account, accountId!, 'create', claim);
  if (missing.includes('user')) ctx.send(user, userId!, 'create', { ...claim, accountId: accountId!, email, name, passwordHash });
}

function given(state: EmailAddressRow): EmailAddressRow {
  return { ...state, userId: null, accountId: null };
}

function holderOf({ userId, accountId }: EmailAddressRow): Holder | null {
  return userId === null || accountId === null ? null : { userId, accountId };
}

function isRegistration(unfinished: UnfinishedRegistration | UnfinishedMove): unfinished is UnfinishedRegistration {
  return 'missing' in unfinished;
}

function taken(): AppError {
  return new AppError('conflict', 'A user with this email exists already');
}
