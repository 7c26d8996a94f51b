/** A user: a person who signs in to an account. Holds a password's hash and never the password; hashing and checking are the edge's. */
import { User, type UserRow } from '../../storage/entities/identity.ts';
import { emailAddress } from '../email-address/messages.ts';
import { defineActor, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type CreateUser, type UserContract, type UserProfile, user } from './messages.ts';

export const userActor = defineActor<UserRow, UserContract>({
  ref: user,
  entity: User,
  commands: { create },
  queries: {
    profile: (state) => (state === null ? null : profileOf(state)),
    credentials: (state) => (state === null ? null : { accountId: state.accountId, passwordHash: state.passwordHash }),
  },
});

function create(state: UserRow | null, input: CreateUser, ctx: TurnContext): Turn<UserRow, null> {
  const { registrationId, claimedBy, accountId, email, name, passwordHash } = input;
  ctx.send(emailAddress, claimedBy, 'created', { registrationId, part: 'user' });
  return { state: state ?? ({ id: ctx.id, accountId, email, name, passwordHash, createdAt: ctx.nowMs } as UserRow), reply: null };
}

function profileOf({ id, accountId, email, name, createdAt }: UserRow): UserProfile {
  return { id, accountId, email, name: name ?? null, createdAt };
}
