/** Commands and queries of an account's settings. The key is the account's id. */

import { actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import { toMajor } from '../../../money.ts';
import type { AccountSettingsRow } from './entity.ts';
import type { TradingLimits } from './ports.ts';

/** Amounts are minor units. */
export type Settings = Readonly<Omit<AccountSettingsRow, 'id'>>;

/** The setting up to which amount orders of the mode are approved automatically. */
export const autoApproveSetting = {
  live: 'autoApproveThresholdMinor',
  test: 'testAutoApproveThresholdMinor',
} as const satisfies Record<Mode, keyof Settings>;

/** A node of the version before does not know the collars. */
export function tradingLimitsOf({
  maxPositionSizeMinor,
  dailyLossLimitMinor,
  priceCollarBp = 1_000,
  marketCollarBp = 100,
}: Settings): TradingLimits {
  return {
    maxPositionSize: String(toMajor(maxPositionSizeMinor)),
    dailyLossLimit: String(toMajor(dailyLossLimitMinor)),
    priceCollarPct: toMajor(priceCollarBp),
    marketCollarPct: toMajor(marketCollarBp),
  };
}

export type AccountSettingsContract = {
  commands: {
    /** Changes the given fields; returns all current settings. */
    change(input: Partial<Settings>): Settings;
    /** From a wallet: the time zone it uses from now on. If that is not the chosen one, the chosen one is sent to it. */
    timezoneHeard(input: { walletId: string; timezone: string }): void;
    /** From the account: its plan no longer has trading with real money, so this is switched off. A better plan does not switch it on again. */
    liveTradingLost(input: Record<string, never>): void;
  };
  queries: {
    /** The current settings, with defaults for fields that were never set. */
    get(input: null): Settings;
  };
};

export const accountSettings = actorRef<AccountSettingsContract>('account_settings');
