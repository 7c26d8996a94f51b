/** Mails that verify an e-mail address: each is valid once and for a day. The token is created when the mail is sent, and not stored. */

import Type from 'typebox';
import type { EffectDefinition, EffectResult, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { idPrefixes } from '../../../ids.ts';
import { mailAgainAfterMs } from '../../../mail-retry.ts';
import type { MailProvider } from '../../../providers/mail/port.ts';
import { emailAddressId } from '../email-address/messages.ts';
import type { UserRow, Verification } from './entity.ts';
import type { UserContract } from './messages.ts';

export const verificationLifeMs = 24 * 3_600_000;
const maxVerifications = 5;
const mailTimeoutMs = 60_000;

/** `notice` informs the old address of a change, and contains no token. */
type About = 'registration' | 'change' | 'notice';
export type VerificationMail = { about: About; to: string; id: string; expiresAtMs: number; newEmail: string; attempt: number };
type MailResult = { sent: boolean; mail: VerificationMail };

export type VerificationMailOptions = {
  mail: MailProvider;
  verificationToken(claims: { userId: string; verificationId: string; expiresAtMs: number }): Promise<string>;
  /** Base address for callers; null if it is not configured. */
  publicUrl: string | null;
};

/** A second mail with the same token is harmless, so it is sent again after a crash. */
export function verificationMail({ mail, verificationToken, publicUrl }: VerificationMailOptions): EffectDefinition {
  return {
    async run(input: VerificationMail, { actorId }): Promise<MailResult> {
      const { about, to, id, expiresAtMs, newEmail } = input;
      const token = about === 'notice' ? '' : await verificationToken({ userId: actorId, verificationId: id, expiresAtMs });
      const written =
        about === 'notice'
          ? { subject: 'Your e-mail address is about to change', text: noticeText(newEmail) }
          : { subject: 'Confirm your e-mail address', text: verificationText(about, token, publicUrl) };
      try {
        await mail.send({ to, ...written }, `${about}-${id}`);
        return { sent: true, mail: input };
      } catch (error) {
        // The mail certainly was not sent: it is retried.
        if (error instanceof AppError && error.code === 'unavailable') return { sent: false, mail: input };
        throw error;
      }
    },
    repeatable: () => true,
    timeoutMs: mailTimeoutMs,
    lane: 'vital',
    outcome: 'verificationMailed',
    input: Type.Object({
      about: Type.String(),
      to: Type.String(),
      id: Type.String(),
      expiresAtMs: Type.Number(),
      newEmail: Type.String(),
      attempt: Type.Integer(),
    }),
  };
}

/** The user with a verification that is being mailed to the address. */
export function withVerification(state: UserRow, email: string, about: 'registration' | 'change', ctx: TurnContext<UserContract>): UserRow {
  const verification = { id: ctx.newId(idPrefixes.request, state.accountId), email, expiresAt: ctx.nowMs + verificationLifeMs };
  send({ about, to: email, id: verification.id, expiresAtMs: verification.expiresAt, newEmail: email, attempt: 1 }, ctx);
  const verifications = [...openVerifications(state, ctx.nowMs), verification].slice(-maxVerifications);
  return { ...state, verifications };
}

/** Informs the user's current address that another one will replace it. */
export function mailNotice({ email: to }: UserRow, newEmail: string, moveId: string, ctx: TurnContext<UserContract>): void {
  send({ about: 'notice', to, id: moveId, expiresAtMs: 0, newEmail, attempt: 1 }, ctx);
}

export function mailVerificationAgain(state: UserRow | null, _input: null, ctx: TurnContext<UserContract>): Turn<UserRow | null, boolean> {
  if (state === null) return { state, reply: false };
  const pending = state.pendingEmail?.email;
  if (pending === undefined && state.emailVerified) return { state, reply: false };
  const next = withVerification(state, pending ?? state.email, pending === undefined ? 'registration' : 'change', ctx);
  return { state: next, reply: true };
}

export function verificationMailed(
  state: UserRow | null,
  { outcome }: EffectResult,
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, null> {
  if (outcome.kind !== 'done') return { state, reply: null };
  const { sent, mail } = outcome.value as MailResult;
  const retryAfterMs = sent ? null : mailAgainAfterMs(mail.attempt);
  if (retryAfterMs === null) return { state, reply: null };
  const next = { ...mail, attempt: mail.attempt + 1 };
  ctx.schedule(`mail ${mail.id}`, ctx.nowMs + retryAfterMs, 'mailVerification', { mail: next });
  return { state, reply: null };
}

export function mailVerification(
  state: UserRow | null,
  input: { mail: object },
  ctx: TurnContext<UserContract>,
): Turn<UserRow | null, null> {
  const mail = input.mail as VerificationMail;
  const isDue =
    state !== null &&
    (mail.about === 'notice'
      ? emailAddressId(state.email) === emailAddressId(mail.to)
      : openVerifications(state, ctx.nowMs).some(({ id }) => id === mail.id));
  if (isDue) send(mail, ctx);
  return { state, reply: null };
}

export function openVerifications({ verifications }: UserRow, nowMs: number): Verification[] {
  return verifications.filter(({ expiresAt }) => nowMs < expiresAt);
}

function send(mail: VerificationMail, ctx: TurnContext<UserContract>): void {
  ctx.run('mailVerification', mail);
}

function verificationText(about: 'registration' | 'change', token: string, publicUrl: string | null): string {
  const action = about === 'registration' ? 'made an account with this address' : 'asked to use this address for an account';
  return `Somebody, hopefully you, has ${action}.

Confirm the address within 24 hours${
    publicUrl === null
      ? ''
      : ` by following this link:

${publicUrl}/auth/verify-email/page?token=${encodeURIComponent(token)}

or`
  } by sending this token to ${publicUrl ?? ''}/v1/auth/verify-email as {"token"}:

${token}

It is good once. If this was not you, do nothing: the address is not confirmed then.
`;
}

function noticeText(newEmail: string): string {
  return `Somebody, hopefully you, has asked to replace the address of your account by this one:

${newEmail}

Nothing changes until that address is confirmed. If this was not you, somebody knows your password: set a new one now, which also ends the change
and every session.
`;
}
