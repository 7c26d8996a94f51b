/** An account's settings. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { json } from '../../../storage/column-types.ts';

/** The settings of an account. The id is the account's. */
export const AccountSettings = defineEntity({
  name: 'AccountSettings',
  tableName: 'account_settings',
  properties: {
    id: p.text().primary(),
    autoApproveThresholdMinor: p.bigint('number'),
    /** The same for orders of test mode. */
    testAutoApproveThresholdMinor: p.bigint('number'),
    liveTradingEnabled: p.boolean(),
    maxPositionSizeMinor: p.bigint('number'),
    dailyLossLimitMinor: p.bigint('number'),
    /** Hundredths of a per cent: how far a limit price may be from the quote. */
    priceCollarBp: p.integer(),
    /** Hundredths of a per cent: what is added to the price of a market order when it is checked. */
    marketCollarBp: p.integer(),
    redirectUris: json<string[]>(),
    timezone: p.text(),
    /** Agents with full autonomy are not asked again after they have read text of others. */
    trustToolContent: p.boolean(),
  },
});
export type AccountSettingsRow = InferEntity<typeof AccountSettings>;
