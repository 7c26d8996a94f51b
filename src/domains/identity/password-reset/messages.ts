/** Commands and queries of the resets of one e-mail address. */
import { actorRef } from '../../../actors/define-actor.ts';

export type PasswordResetContract = {
  commands: {
    /** Somebody has forgotten the password of the address with this key. A mail follows where somebody holds it, three times an hour at most. */
    request(input: { addressId: string }): null;
  };
  queries: Record<never, never>;
};

export const passwordReset = actorRef<PasswordResetContract>('password_reset');
