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

/** What limits the orders of an account; a trading account keeps a copy. Amounts are decimal texts of dollars. */
export type TradingLimits = { maxPositionSize: string; dailyLossLimit: string; priceCollarPct: number; marketCollarPct: number };

/** The trading account. There is one in each mode; its id is `idInMode`. */
export type TradingLimitsPort = {
  commands: {
    /** These hold from now on. Changes of one account arrive in their order. */
    limitsChanged: (input: TradingLimits) => unknown;
  };
  queries: Contract['queries'];
};

export const timezonePort = actorRef<TimezonePort>('wallet');
export const tradingLimitsPort = actorRef<TradingLimitsPort>('trading_account');
