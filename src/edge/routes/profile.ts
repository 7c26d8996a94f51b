/** The person behind the token: profile and second factor. */
import Type from 'typebox';
import { account } from '../../actors/account/messages.ts';
import { standingOf } from '../../actors/account/standing.ts';
import { emailAddress, emailAddressId } from '../../actors/email-address/messages.ts';
import type { ActorSystem } from '../../actors/runtime/actor-system.ts';
import { user } from '../../actors/user/messages.ts';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { idPrefixes, newId } from '../../ids.ts';
import { newEnrolment, newRecoveryCodes, recoveryHash } from '../auth/one-time-codes.ts';
import type { Principal } from '../auth/principal.ts';
import { type SignIn, wrongCode } from '../auth/sign-in.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { Code, CurrentUser, Email, Message, Name } from './auth-schemas.ts';

export type ProfileRoutesOptions = {
  actors: ActorSystem;
  signIn: SignIn;
  clock: Clock;
};

export function profileRoutes({ actors, signIn, clock }: ProfileRoutesOptions): AnyRoute[] {
  async function currentUser({ userId, accountId }: Principal) {
    const [profile, owned] = await Promise.all([
      actors.query(user, userId, 'profile', null),
      actors.query(account, accountId, 'get', null),
    ]);
    if (profile === null || owned === null) throw unknownUser();
    const { id, email, name, twoFactorEnabled, createdAt } = profile;
    const { plan } = standingOf(owned, clock.nowMs());
    const about = { plan, two_factor_enabled: twoFactorEnabled, created_at: isoTimestamp(createdAt) };
    return { id, email, name, account_id: accountId, ...about };
  }

  async function setEmail(userId: string, email: string): Promise<void> {
    const profile = await actors.query(user, userId, 'profile', null);
    if (profile === null) throw unknownUser();
    const { accountId, emailVersion } = profile;
    const addressId = emailAddressId(email);
    const moveId = newId(idPrefixes.request, clock.nowMs());
    const isDone =
      addressId === emailAddressId(profile.email)
        ? await actors.ask(user, userId, 'update', { email })
        : await actors.ask(emailAddress, addressId, 'move', { moveId, userId, accountId, email, emailVersion });
    if (!isDone) throw new AppError('conflict', 'The email was changed by another request at the same time');
  }

  const me = route({
    method: 'GET',
    path: '/auth/me',
    summary: 'The user behind the token',
    scope: 'any',
    responses: { 200: CurrentUser },
    handler: async ({ principal }) => ({ status: 200, json: await currentUser(principal) }),
  });

  const change = route({
    method: 'PATCH',
    path: '/auth/me',
    summary: 'Change the name or the email',
    description: 'The old address is free for anybody then, and whatever was mailed to it for a new password opens nothing.',
    scope: 'session',
    errors: [409],
    body: Type.Object({ name: Name, email: Type.Optional(Email) }),
    responses: { 200: CurrentUser },
    async handler({ principal, body: { name, email } }) {
      // What can be refused comes first.
      if (email !== undefined) await setEmail(principal.userId, email);
      if (name !== undefined) await actors.ask(user, principal.userId, 'update', { name });
      return { status: 200, json: await currentUser(principal) };
    },
  });

  const enroll = route({
    method: 'POST',
    path: '/auth/2fa/enroll',
    summary: 'Begin a second factor',
    description: 'Show the picture to an authenticator app and send a code of it to `/auth/2fa/confirm`: until then nothing changes.',
    extension: true,
    scope: 'session',
    idempotent: false,
    errors: [409],
    responses: {
      200: Type.Object({
        secret: Type.String({ description: 'Base32, for typing in' }),
        otpauth_url: Type.String(),
        qr_svg: Type.String({ description: 'The URL as a picture' }),
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
    summary: 'Make the second factor count',
    description: 'From now on signing in takes a code. Each recovery code stands in for one, once; they are not shown again.',
    extension: true,
    scope: 'session',
    idempotent: false,
    errors: [409],
    body: Type.Object({ code: Code }),
    responses: { 200: Type.Object({ recovery_codes: Type.Array(Type.String()) }) },
    async handler({ principal: { userId }, body }) {
      const factor = await actors.query(user, userId, 'secondFactor', null);
      if (factor?.status !== 'pending') throw new AppError('conflict', 'No second factor was begun');
      const step = signIn.stepOf(userId, factor.sealed, body.code.replace(/\s/g, ''));
      if (step === null) throw wrongCode();
      const recoveryCodes = newRecoveryCodes();
      const recoveryHashes = recoveryCodes.map(recoveryHash);
      if (!(await actors.ask(user, userId, 'confirm', { sealed: factor.sealed, step, recoveryHashes })))
        throw new AppError('conflict', 'Another second factor was begun meanwhile');
      return { status: 200, json: { recovery_codes: recoveryCodes } };
    },
  });

  const disable = route({
    method: 'POST',
    path: '/auth/2fa/disable',
    summary: 'End the second factor',
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

function unknownUser(): AppError {
  return new AppError('unauthenticated', 'Not authenticated');
}
