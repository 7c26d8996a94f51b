/** Schemas of the inputs of the settings of an account. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { AccountSettingsContract } from './messages.ts';

export const accountSettingsInputs = durableInputs<AccountSettingsContract>()({
  liveTradingLost: Type.Object({}),
  timezoneHeard: Type.Object({ walletId: Type.String(), timezone: Type.String() }),
});
