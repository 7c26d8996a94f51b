/** Password resets: each is mailed, and valid once and for an hour. The token is created when the mail is sent, and not stored. */

import Type from 'typebox';
import type { EffectDefinition, EffectResult, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { idPrefixes } from '../../../ids.ts';
import { mailAgainAfterMs } from '../../../mail-retry.ts';
import type { MailProvider } from '../../../providers/mail/port.ts';
import { emailAddressId } from '../email-address/messages.ts';
import { throttle, throttleId } from '../throttle/messages.ts';
import { withoutPendingEmail } from './email-change.ts';
import type { PasswordReset, UserRow } from './entity.ts';
import type { KeyRevocation, KeysRevoked } from './key-revocation.ts';
import type { UserContract } from './messages.ts';

export const resetLifeMs = 3_600_000;
const maxResets = 5;
const mailTimeoutMs = 60_000;

export type MailedReset = { to: string; resetId: string; expiresAtMs: number; attempt: number };
type MailResult = { sent: boolean; resetId: string; attempt: number };

export type ResetMailOptions = {
  mail: MailProvider;
  resetToken(claims: { userId: string; resetId: string; expiresAtMs: number }): Promise<string>;
  /** Base address for callers; null if it is not configured. */
  publicUrl: string | null;
};

/** A second mail with the same token is harmless, so it is sent again after a crash. */
export function resetMail({ mail, resetToken, publicUrl }: ResetMailOptions): EffectDefinition {
  return {
    async run({ to, resetId, expiresAtMs, attempt }: MailedReset, { actorId }): Promise<MailResult> {
      const token = await resetToken({ userId: actorId, resetId, expiresAtMs });
      try {
        await mail.send({ to, subject: 'Set a new password', text: mailText(token, publicUrl) }, resetId);
        return { sent: true, resetId, attempt };
      } catch (error) {
        // The mail certainly was not sent: it is retried.
        if (error instanceof AppError && error.code === 'unavailable') return { sent: false, resetId, attempt };
        throw error;
      }
    },
    repeatable: () => true,
    timeoutMs: mailTimeoutMs,
    outcome: 'resetMailed',
    input: Type.Object({ to: Type.String(), resetId: Type.String(), expiresAtMs: Type.Number(), attempt: Type.Integer() }),
    lane: 'vital',
  };
}

export function offerReset(
  state: UserRow | null,
  { email }: { email: string },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, null> {
  if (state === null || emailAddressId(state.email) !== email) return { state, reply: null };
  const reset = { id: ctx.newId(idPrefixes.request, state.accountId), expiresAt: ctx.nowMs + resetLifeMs };
  mailIt(state, reset, 1, ctx);
  return { state: { ...state, resets: [...openResets(state, ctx.nowMs), reset].slice(-maxResets) }, reply: null };
}

export function resetMailed(state: UserRow | null, { outcome }: EffectResult, ctx: TurnContext<UserContract>): Turn<UserRow | null, null> {
  if (outcome.kind !== 'done') return { state, reply: null };
  const { sent, resetId, attempt } = outcome.value as MailResult;
  const retryAfterMs = sent ? null : mailAgainAfterMs(attempt);
  if (retryAfterMs !== null) ctx.schedule(`mail ${resetId}`, ctx.nowMs + retryAfterMs, 'mailReset', { resetId, attempt: attempt + 1 });
  return { state, reply: null };
}

export function mailReset(
  state: UserRow | null,
  { resetId, attempt }: { resetId: string; attempt: number },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, null> {
  const reset = state === null ? undefined : openResets(state, ctx.nowMs).find(({ id }) => id === resetId);
  if (reset !== undefined) mailIt(state!, reset, attempt, ctx);
  return { state, reply: null };
}

export function resetPassword(
  state: UserRow | null,
  { resetId, passwordHash, revokeKeys = false }: { resetId: string; passwordHash: string; revokeKeys?: boolean },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, { keysRevoked: number } | false> {
  if (state === null || !canReset(state, { resetId, nowMs: ctx.nowMs })) return { state, reply: false };
  // The reader of the mail is not guessing: the count of wrong passwords is cleared.
  ctx.send(throttle, throttleId('login of email', emailAddressId(state.email)), 'forget', null);
  // A pending address may be an attacker's, and the reset was mailed to the user's own: the reset verifies the latter.
  const kept = withoutPendingEmail(state, ctx);
  const verifications = kept.verifications.filter(({ email }) => emailAddressId(email) !== emailAddressId(state.email));
  const next = { ...kept, passwordHash, generation: state.generation + 1, resets: [], emailVerified: true, verifications };
  if (revokeKeys) {
    ctx.run('revokeKeys', { accountId: state.accountId, resetId } satisfies KeyRevocation);
    ctx.defer(`keys ${resetId}`);
  }
  return { state: next, reply: { keysRevoked: 0 } };
}

export function keysRevoked(state: UserRow | null, { outcome }: EffectResult, ctx: TurnContext<UserContract>): Turn<UserRow | null, null> {
  if (outcome.kind !== 'done') return { state, reply: null };
  const { resetId, revoked } = outcome.value as KeysRevoked;
  ctx.answer('resetPassword', `keys ${resetId}`, { keysRevoked: revoked });
  return { state, reply: null };
}

export function canReset(state: UserRow | null, { resetId, nowMs }: { resetId: string; nowMs: number }): boolean {
  return state !== null && openResets(state, nowMs).some(({ id }) => id === resetId);
}

function openResets({ resets }: UserRow, nowMs: number): PasswordReset[] {
  return resets.filter(({ expiresAt }) => nowMs < expiresAt);
}

function mailIt(state: UserRow, { id, expiresAt }: PasswordReset, attempt: number, ctx: TurnContext<UserContract>): void {
  ctx.run('mailReset', { to: state.email, resetId: id, expiresAtMs: expiresAt, attempt } satisfies MailedReset);
}

function mailText(token: string, publicUrl: string | null): string {
  return `Somebody, hopefully you, has asked for a new password for your account.

Set it within one hour by sending this token and the new password to ${publicUrl ?? ''}/v1/auth/reset-password as {"token", "password"}:

${token}

The token is good once, and setting the password ends all sessions. If you did not ask for it, do nothing: your password stays as it is.
`;
}
