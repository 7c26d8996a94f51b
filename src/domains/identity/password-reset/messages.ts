/** Commands and queries of the resets of one e-mail address. */
import { actorRef } from '../../../actors/define-actor.ts';

export type PasswordResetContract = {
  commands: {
    /** A password reset is requested for the address with this key. If it has a holder a mail follows, at most three times an hour. */
    request(input: { addressId: string }): null;
  };
  queries: Record<never, never>;
};

export const passwordReset = actorRef<PasswordResetContract>('password_reset');
