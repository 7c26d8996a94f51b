/**
 * A user's change of e-mail address. The new one is claimed for the user at once, so that no other user gets it, and waits as
 * `pendingEmail` until it is confirmed from its mailbox; until then the earlier address is used for sign-in and mails.
 *
 * Only the user's row shows which of the claimed addresses is valid. An address is released after the turn that drops it, so each address
 * in the row is always claimed for this user.
 */

import type { Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { emailAddress, emailAddressId } from '../email-address/messages.ts';
import type { UserRow } from './entity.ts';
import type { UserContract } from './messages.ts';
import { mailNotice, openVerifications, verificationLifeMs, withVerification } from './verifications.ts';

const dropTimer = 'pending email';

export function update(
  state: UserRow | null,
  { name, email }: { name?: string | null; email?: string },
  ctx: TurnContext<UserContract>,
): Turn<UserRow, boolean> {
  if (state === null) throw new AppError('not_found', 'User not found');
  if (email !== undefined && emailAddressId(email) !== emailAddressId(state.email)) return { state, reply: false };
  // A request for the current address withdraws a pending change.
  const kept = email === undefined ? state : withoutPendingEmail(state, ctx);
  return { state: { ...kept, name: name === undefined ? state.name : name, email: email ?? state.email }, reply: true };
}

export function moveTo(
  state: UserRow | null,
  { moveId, claimedBy, email, emailVersion }: { moveId: string; claimedBy: string; email: string; emailVersion: number },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, null> {
  const pending = state?.pendingEmail == null ? null : emailAddressId(state.pendingEmail.email);
  const isOwn = state !== null && emailAddressId(state.email) === claimedBy;
  const waits = !isOwn && state?.emailVersion === emailVersion;
  ctx.send(emailAddress, claimedBy, 'moved', { moveId, done: isOwn || pending === claimedBy || waits });
  if (!waits) return { state, reply: null };
  if (pending !== null && pending !== claimedBy) ctx.send(emailAddress, pending, 'release', { userId: ctx.id });
  const expiresAt = ctx.nowMs + verificationLifeMs;
  ctx.schedule(dropTimer, expiresAt, 'dropPendingEmail', { email });
  const own = emailAddressId(state.email);
  const verifications = openVerifications(state, ctx.nowMs).filter((one) => emailAddressId(one.email) === own);
  const next = { ...state, pendingEmail: { email, expiresAt }, emailVersion: emailVersion + 1, verifications };
  mailNotice(next, email, moveId, ctx);
  return { state: withVerification(next, email, 'change', ctx), reply: null };
}

export function verifyEmail(
  state: UserRow | null,
  { verificationId }: { verificationId: string },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, boolean> {
  const open = state === null ? [] : openVerifications(state, ctx.nowMs);
  const verified = open.find(({ id }) => id === verificationId);
  if (verified === undefined) return { state, reply: false };
  const [address, own] = [emailAddressId(verified.email), emailAddressId(state!.email)];
  if (address === own) {
    const verifications = open.filter((one) => emailAddressId(one.email) !== own);
    return { state: { ...state!, emailVerified: true, verifications }, reply: true };
  }
  const { pendingEmail } = state!;
  if (pendingEmail == null || emailAddressId(pendingEmail.email) !== address) return { state, reply: false };
  ctx.unschedule(dropTimer);
  ctx.send(emailAddress, own, 'release', { userId: ctx.id });
  const moved = { email: pendingEmail.email, emailVerified: true, pendingEmail: null, emailVersion: state!.emailVersion + 1 };
  // Tokens that were mailed to the old address are no longer valid.
  return { state: { ...state!, ...moved, verifications: [], resets: [] }, reply: true };
}

export function dropPendingEmail(
  state: UserRow | null,
  { email }: { email: string },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, null> {
  const pending = state?.pendingEmail;
  if (pending == null || pending.email !== email || ctx.nowMs < pending.expiresAt) return { state, reply: null };
  return { state: withoutPendingEmail(state!, ctx), reply: null };
}

/** The user without the pending address, which is released. */
export function withoutPendingEmail(state: UserRow, ctx: TurnContext<UserContract>): UserRow {
  if (state.pendingEmail == null) return state;
  const pending = emailAddressId(state.pendingEmail.email);
  ctx.unschedule(dropTimer);
  ctx.send(emailAddress, pending, 'release', { userId: ctx.id });
  const verifications = state.verifications.filter((one) => emailAddressId(one.email) !== pending);
  return { ...state, pendingEmail: null, emailVersion: state.emailVersion + 1, verifications };
}
