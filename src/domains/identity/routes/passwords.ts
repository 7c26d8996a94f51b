/** Password resets. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Tokens } from '../../../edge/auth/tokens.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AppError } from '../../../errors.ts';
import type { HashQueues } from '../auth/hash-queues.ts';
import type { Passwords } from '../auth/passwords.ts';
import { emailAddressId } from '../email-address/messages.ts';
import { passwordReset } from '../password-reset/messages.ts';
import { throttleId } from '../throttle/messages.ts';
import { user } from '../user/messages.ts';
import { Email, Message, NewPassword } from './auth-schemas.ts';

export type PasswordRoutesOptions = { actors: ActorSystem; tokens: Tokens; passwords: Passwords; hashQueues: HashQueues; clock: Clock };

export function passwordRoutes({ actors, tokens, passwords, hashQueues, clock }: PasswordRoutesOptions): AnyRoute[] {
  const passwordForgotten = route({
    method: 'POST',
    path: '/auth/forgot-password',
    summary: 'Request an e-mail to reset the password',
    description:
      'The response is the same whether or not an account has the address. At most three e-mails an hour are sent to an address.',
    scope: null,
    idempotent: false,
    body: Type.Object({ email: Email }),
    responses: { 200: Message },
    async handler({ body }) {
      const addressId = emailAddressId(body.email);
      await actors.ask(passwordReset, throttleId('reset of email', addressId), 'request', { addressId });
      return { status: 200, json: { message: 'If somebody has this address, a mail with a token for a new password is on its way to it' } };
    },
  });

  const reset = route({
    method: 'POST',
    path: '/auth/reset-password',
    summary: 'Set a new password with the mailed token',
    description:
      'The token is good once and for an hour. Every session of the user ends within a second. API keys stay as they are, unless `revoke_api_keys` ' +
      'is true: then all keys of the account are refused within a second, too.',
    scope: null,
    idempotent: false,
    errors: [400],
    body: Type.Object({
      token: Type.String({ maxLength: 2_048 }),
      password: NewPassword,
      revoke_api_keys: Type.Optional(Type.Boolean({ description: 'Extension; default false' })),
    }),
    responses: { 200: Message },
    async handler({ body }) {
      const claims = await tokens.readResetToken(body.token);
      if (claims === null) throw invalidToken();
      const { userId, resetId } = claims;
      // Avoids the hash if the token is known to be invalid; of two requests with one token the user's turn accepts one.
      if (!(await actors.query(user, userId, 'canReset', { resetId, nowMs: clock.nowMs() }))) throw invalidToken();
      const passwordHash = await passwords.hash(body.password, hashQueues.requesterOfUser(userId));
      const revokeKeys = body.revoke_api_keys === true;
      const done = await actors.ask(user, userId, 'resetPassword', { resetId, passwordHash, revokeKeys });
      if (done === false) throw invalidToken();
      const keys = revokeKeys
        ? `API keys that were revoked: ${done.keysRevoked}`
        : 'API keys stay as they are; with revoke_api_keys they are revoked, too';
      return { status: 200, json: { message: `The new password is set; sign in with it. ${keys}` } };
    },
  });

  return [passwordForgotten, reset];
}

function invalidToken(): AppError {
  return new AppError('bad_request', 'The token is not valid, was used, or has expired');
}
