/** A user: a person who signs in to an account. Holds a password's hash and never the password; hashing and checking are the edge's. */
import { AppError } from '../../errors.ts';
import { User, type UserRow } from '../../storage/entities/identity.ts';
import { emailAddress, emailAddressId } from '../email-address/messages.ts';
import { defineActor, type EffectDefinition, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type CreateUser, type Credentials, type UserContract, type UserProfile, user } from './messages.ts';
import { canReset, mailReset, offerReset, resetMailed, resetPassword } from './resets.ts';
import { confirm, disable, enroll, useCode } from './second-factor.ts';

/** @param resetMail brings the mail of a reset; see `resetMail` in `resets.ts` */
export const userActor = (resetMail: EffectDefinition) =>
  defineActor<UserRow, UserContract>({
    ref: user,
    entity: User,
    commands: {
      create,
      update,
      moveTo,
      offerReset,
      resetMailed,
      mailReset,
      resetPassword,
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
      canReset,
    },
    effects: { mailReset: resetMail },
  });

function create(state: UserRow | null, input: CreateUser, ctx: TurnContext): Turn<UserRow, null> {
  const { registrationId, claimedBy, accountId, email, name, passwordHash } = input;
  ctx.send(emailAddress, claimedBy, 'created', { registrationId, part: 'user' });
  if (state !== null) return { state, reply: null };
  const fresh = { generation: 0, emailVersion: 0, secondFactor: null, resets: [], createdAt: ctx.nowMs };
  return { state: { id: ctx.id, accountId, email, name, passwordHash, ...fresh } as unknown as UserRow, reply: null };
}

function update(state: UserRow | null, { name, email }: { name?: string | null; email?: string }): Turn<UserRow, boolean> {
  if (state === null) throw new AppError('not_found', 'User not found');
  if (email !== undefined && emailAddressId(email) !== emailAddressId(state.email)) return { state, reply: false };
  return { state: { ...state, name: name === undefined ? state.name : name, email: email ?? state.email }, reply: true };
}

/** The new address is claimed and the old one is released after this turn, so both are the user's for a moment and never neither. */
function moveTo(
  state: UserRow | null,
  { moveId, claimedBy, email, emailVersion }: { moveId: string; claimedBy: string; email: string; emailVersion: number },
  ctx: TurnContext,
): Turn<UserRow | null, null> {
  const old = state === null ? null : emailAddressId(state.email);
  const isHere = old === claimedBy;
  const moves = !isHere && state?.emailVersion === emailVersion;
  ctx.send(emailAddress, claimedBy, 'moved', { moveId, done: isHere || moves });
  if (!moves) return { state, reply: null };
  ctx.send(emailAddress, old!, 'release', { userId: ctx.id });
  // What was mailed to the old address opens nothing any more.
  return { state: { ...state, email, emailVersion: emailVersion + 1, resets: [] }, reply: null };
}

function profileOf({ id, accountId, email, emailVersion, name, secondFactor, createdAt }: UserRow): UserProfile {
  return { id, accountId, email, emailVersion, name: name ?? null, twoFactorEnabled: secondFactor?.status === 'enabled', createdAt };
}

function credentialsOf({ accountId, passwordHash, generation, secondFactor }: UserRow): Credentials {
  return { accountId, passwordHash, generation, twoFactorEnabled: secondFactor?.status === 'enabled' };
}
