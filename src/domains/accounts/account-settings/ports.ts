/** The actors of other domains that the settings of an account send messages to (see `account/ports.ts`). */

import { actorRef, type Contract } from '../../../actors/define-actor.ts';

/** The wallet, whose days begin in the time zone of the account. There is one in each mode; its id is `idInMode`. */
export type TimezonePort = {
  commands: {
    /** Answered with `timezoneHeard`, under the id of the sender. */
    timezoneChanged: (input: { timezone: string }) => unknown;
  };
  queries: Contract['queries'];
};

export const timezonePort = actorRef<TimezonePort>('wallet');
