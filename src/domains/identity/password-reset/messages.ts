/** Commands and queries of the resets of one e-mail address. */
import { actorRef } from '../../../actors/define-actor.ts';

export type PasswordResetContract = {
  commands: {
    /** A password reset is requested for the address with this key. A mail follows where it has a holder, three times an hour at most. */
    request(input: { addressId: string }): null;
  };
  queries: Record<never, never>;
};

export const passwordReset = actorRef<PasswordResetContract>('password_reset');
