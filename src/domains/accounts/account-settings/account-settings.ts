/** The settings that users of an account have chosen: automatic approval of orders, trading limits, OAuth redirect addresses. */

import { isDeepStrictEqual } from 'node:util';
import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { idInMode, modes } from '../../../mode.ts';
import { AccountSettings, type AccountSettingsRow } from './entity.ts';
import { accountSettingsInputs } from './inputs.ts';
import { type AccountSettingsContract, accountSettings, type Settings, tradingLimitsOf } from './messages.ts';
import { timezonePort, tradingLimitsPort } from './ports.ts';

const defaults: Settings = {
  autoApproveThresholdMinor: 0,
  testAutoApproveThresholdMinor: 0,
  liveTradingEnabled: false,
  maxPositionSizeMinor: 2_500_000,
  dailyLossLimitMinor: 250_000,
  priceCollarBp: 1_000,
  marketCollarBp: 100,
  redirectUris: [],
  timezone: 'UTC',
  trustToolContent: false,
};

export const accountSettingsActor = defineActor<AccountSettingsRow, AccountSettingsContract>({
  ref: accountSettings,
  entity: AccountSettings,
  inputs: accountSettingsInputs,
  commands: { change, timezoneHeard, liveTradingLost },
  queries: { get: (state) => settingsOf(state) },
});

function change(
  state: AccountSettingsRow | null,
  changes: Partial<Settings>,
  ctx: TurnContext<AccountSettingsContract>,
): Turn<AccountSettingsRow, Settings> {
  const before = settingsOf(state);
  const reply = { ...before, ...changes };
  const { timezone } = reply;
  if (timezone !== before.timezone)
    for (const mode of modes) ctx.send(timezonePort, idInMode({ accountId: ctx.id, mode }), 'timezoneChanged', { timezone });
  const limits = tradingLimitsOf(reply);
  if (!isDeepStrictEqual(limits, tradingLimitsOf(before)))
    for (const mode of modes) ctx.send(tradingLimitsPort, idInMode({ accountId: ctx.id, mode }), 'limitsChanged', limits);
  return { state: { id: ctx.id, ...reply }, reply };
}

function liveTradingLost(state: AccountSettingsRow | null): Turn<AccountSettingsRow | null, void> {
  return { state: state === null ? null : { ...state, liveTradingEnabled: false }, reply: undefined };
}

function timezoneHeard(
  state: AccountSettingsRow | null,
  { walletId, timezone: reported }: { walletId: string; timezone: string },
  ctx: TurnContext,
): Turn<AccountSettingsRow | null, void> {
  const { timezone } = settingsOf(state);
  // Only a change of settings notifies a wallet, so the row exists.
  if (state !== null && timezone !== reported) ctx.send(timezonePort, walletId, 'timezoneChanged', { timezone });
  return { state, reply: undefined };
}

function settingsOf(state: AccountSettingsRow | null): Settings {
  if (state === null) return defaults;
  const { id: _, ...chosen } = state;
  return chosen;
}
