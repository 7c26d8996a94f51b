/** The user of the token: profile and second factor. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { idPrefixes, newId } from '../../../ids.ts';
import { account, usageSummaryOf } from '../../accounts/contract.ts';
import { countUse, verificationMails } from '../auth/attempts.ts';
import { newEnrolment } from '../auth/one-time-codes.ts';
import type { SignIn } from '../auth/sign-in.ts';
import { emailAddress, emailAddressId } from '../email-address/messages.ts';
import { user } from '../user/messages.ts';
import { Code, CurrentUser, Email, Message, Name } from './auth-schemas.ts';

export type ProfileRoutesOptions = {
  actors: ActorSystem;
  signIn: SignIn;
  clock: Clock;
};

export const tooManyMails = 'Too many mails to verify an address; try again later';

export function profileRoutes({ actors, signIn, clock }: ProfileRoutesOptions): AnyRoute[] {
  async function currentUser({ userId, accountId }: Principal) {
    const [profile, owned] = await Promise.all([
      actors.query(user, userId, 'profile', null),
      actors.query(account, accountId, 'get', null),
    ]);
    if (profile === null || owned === null) throw unknownUser();
    const { id, email, emailVerified, pendingEmail, name, twoFactorEnabled, createdAt } = profile;
    const { plan } = usageSummaryOf(owned, clock.nowMs());
    const about = { plan, two_factor_enabled: twoFactorEnabled, created_at: isoTimestamp(createdAt) };
    return { id, email, email_verified: emailVerified, pending_email: pendingEmail, name, account_id: accountId, ...about };
  }

  async function setEmail(userId: string, email: string, password: string): Promise<void> {
    await signIn.confirmPassword(userId, password);
    const profile = await actors.query(user, userId, 'profile', null);
    if (profile === null) throw unknownUser();
    const { accountId, emailVersion } = profile;
    const addressId = emailAddressId(email);
    const isOwn = addressId === emailAddressId(profile.email);
    if (!isOwn) await countUse({ actors, clock }, verificationMails(userId, email), tooManyMails);
    const moveId = newId(idPrefixes.request, accountId, clock.nowMs());
    const isDone = isOwn
      ? await actors.ask(user, userId, 'update', { email })
      : await actors.ask(emailAddress, addressId, 'move', { moveId, userId, accountId, email, emailVersion });
    if (!isDone) throw new AppError('conflict', 'The email was changed by another request at the same time');
  }

  const me = route({
    method: 'GET',
    path: '/auth/me',
    summary: 'Get the user of the token',
    scope: 'any',
    responses: { 200: CurrentUser },
    handler: async ({ principal }) => ({ status: 200, json: await currentUser(principal) }),
  });

  const change = route({
    method: 'PATCH',
    path: '/auth/me',
    summary: 'Change the name or the email',
    description:
      'A new e-mail address requires the password. It is shown as `pending_email` until it is confirmed with the token that is mailed to it, for a day at ' +
      'most; the present address is told and stays until then. A second change takes the place of the first, the present address ends it. When the ' +
      'new address counts, the old one is free for anybody, and whatever was mailed to it for a new password opens nothing. ' +
      'After five wrong passwords within 15 minutes the response is 429, also for a right password.',
    scope: 'session',
    errors: [403, 409],
    body: Type.Object({
      name: Name,
      email: Type.Optional(Email),
      password: Type.Optional(Type.String({ maxLength: 1_024, description: 'The current password; required with `email`' })),
    }),
    responses: { 200: CurrentUser },
    async handler({ principal, body: { name, email, password } }) {
      // Checks that can refuse come first.
      if (email !== undefined) {
        if (password === undefined) throw invalidField(['body', 'password'], 'Field required', 'missing');
        await setEmail(principal.userId, email.normalize('NFC'), password);
      }
      if (name !== undefined) await actors.ask(user, principal.userId, 'update', { name });
      return { status: 200, json: await currentUser(principal) };
    },
  });

  const enroll = route({
    method: 'POST',
    path: '/auth/2fa/enroll',
    summary: 'Start setting up a second factor',
    description: 'Scan the image with an authenticator app and send one of its codes to `/auth/2fa/confirm`. Until then nothing changes.',
    extension: true,
    scope: 'session',
    idempotent: false,
    errors: [409],
    responses: {
      200: Type.Object({
        secret: Type.String({ description: 'Base32, for manual entry' }),
        otpauth_url: Type.String(),
        qr_svg: Type.String({ description: 'The URL as a QR code image' }),
      }),
    },
    async handler({ principal: { userId } }) {
      const profile = await actors.query(user, userId, 'profile', null);
      if (profile === null) throw unknownUser();
      const { secret, otpauthUrl, qrSvg } = newEnrolment(profile.email);
      await actors.ask(user, userId, 'enroll', { sealed: signIn.seal(userId, secret) });
      return { status: 200, json: { secret, otpauth_url: otpauthUrl, qr_svg: qrSvg } };
    },
  });

  const confirm = route({
    method: 'POST',
    path: '/auth/2fa/confirm',
    summary: 'Enable the second factor',
    description: 'From now on sign-in requires a code. Each recovery code replaces one code, once; the recovery codes are not shown again.',
    extension: true,
    scope: 'session',
    idempotent: false,
    errors: [409],
    body: Type.Object({ code: Code }),
    responses: { 200: Type.Object({ recovery_codes: Type.Array(Type.String()) }) },
    async handler({ principal: { userId }, body }) {
      return { status: 200, json: { recovery_codes: await signIn.confirmSecondFactor(userId, body.code) } };
    },
  });

  const disable = route({
    method: 'POST',
    path: '/auth/2fa/disable',
    summary: 'Disable the second factor',
    extension: true,
    scope: 'session',
    idempotent: false,
    body: Type.Object({ code: Code }),
    responses: { 200: Message },
    async handler({ principal: { userId }, body }) {
      await signIn.disableSecondFactor(userId, body.code);
      return { status: 200, json: { message: 'Signing in takes the password alone from now on' } };
    },
  });

  return [me, change, enroll, confirm, disable];
}

export function unknownUser(): AppError {
  return new AppError('unauthenticated', 'Not authenticated');
}
