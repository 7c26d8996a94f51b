/** What can be asked of an account's settings. The key is the account's id. */

import { actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { AccountSettingsRow } from './entity.ts';

/** Amounts are minor units. */
export type Settings = Readonly<Omit<AccountSettingsRow, 'id'>>;

/** The setting that says up to which amount orders of the mode approve themselves. */
export const autoApproveSetting = {
  live: 'autoApproveThresholdMinor',
  test: 'testAutoApproveThresholdMinor',
} as const satisfies Record<Mode, keyof Settings>;

export type AccountSettingsContract = {
  commands: {
    /** Changes what is given; answers all that holds now. */
    change(input: Partial<Settings>): Settings;
    /** From a wallet: the time zone it goes by from now on. Where it is not the one chosen, or not any more, it is told that. */
    timezoneHeard(input: { walletId: string; timezone: string }): void;
  };
  queries: {
    /** What holds now, defaults where nothing was ever chosen. */
    get(input: null): Settings;
  };
};

export const accountSettings = actorRef<AccountSettingsContract>('account_settings');
