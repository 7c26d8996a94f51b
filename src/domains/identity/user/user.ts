/** A user: a person who signs in to an account. The state has a password's hash and never the password; the sign-in code hashes and checks. */

import { defineActor, type EffectDefinition, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { emailAddress } from '../email-address/messages.ts';
import { dropPendingEmail, moveTo, update, verifyEmail } from './email-change.ts';
import { User, type UserRow } from './entity.ts';
import { userInputs } from './inputs.ts';
import type { UserMails } from './mails.ts';
import { type CreateUser, type Credentials, type UserContract, type UserProfile, user } from './messages.ts';
import { canReset, keysRevoked, mailReset, offerReset, resetMailed, resetPassword } from './resets.ts';
import { canUseCode, confirm, disable, enroll, useCode } from './second-factor.ts';
import { mailVerification, mailVerificationAgain, verificationMailed, withVerification } from './verifications.ts';

/** @param effects `userMails` and `keyRevocation` */
export const userActor = (effects: UserMails & { revokeKeys: EffectDefinition }) =>
  defineActor<UserRow, UserContract>({
    ref: user,
    entity: User,
    inputs: userInputs,
    // It answers a claim of an address for a missing user.
    sendsBeforeItExists: true,
    commands: {
      create,
      update,
      moveTo,
      mailVerificationAgain,
      verificationMailed,
      mailVerification,
      verifyEmail,
      dropPendingEmail,
      offerReset,
      resetMailed,
      mailReset,
      resetPassword,
      keysRevoked,
      enroll,
      confirm,
      useCode,
      disable,
    },
    queries: {
      profile: (state) => (state === null ? null : profileOf(state)),
      credentials: (state) => (state === null ? null : credentialsOf(state)),
      generation: (state) => state?.generation ?? null,
      secondFactor: (state) => state?.secondFactor ?? null,
      canUseCode,
      canReset,
    },
    effects,
  });

function create(state: UserRow | null, input: CreateUser, ctx: TurnContext<UserContract>): Turn<UserRow, null> {
  const { registrationId, claimedBy, accountId, email, name, passwordHash } = input;
  ctx.send(emailAddress, claimedBy, 'created', { registrationId, part: 'user' });
  if (state !== null) return { state, reply: null };
  const unverified = { emailVerified: false, pendingEmail: null, verifications: [] };
  const fresh = { generation: 0, emailVersion: 0, secondFactor: null, resets: [], ...unverified, createdAt: ctx.nowMs };
  const made: UserRow = { id: ctx.id, accountId, email, name, passwordHash, ...fresh };
  return { state: withVerification(made, email, 'registration', ctx), reply: null };
}

function profileOf({ secondFactor, ...row }: UserRow): UserProfile {
  const { id, accountId, email, emailVersion, emailVerified, createdAt } = row;
  const pendingEmail = row.pendingEmail?.email ?? null;
  const twoFactorEnabled = secondFactor?.status === 'enabled';
  return { id, accountId, email, emailVersion, emailVerified, pendingEmail, name: row.name ?? null, twoFactorEnabled, createdAt };
}

function credentialsOf({ accountId, email, passwordHash, generation, secondFactor }: UserRow): Credentials {
  return { accountId, email, passwordHash, generation, twoFactorEnabled: secondFactor?.status === 'enabled' };
}
