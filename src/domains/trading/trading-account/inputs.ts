/** Schemas of messages to a trading account. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { TradingAccountContract } from './messages.ts';

export const tradingAccountInputs = durableInputs<TradingAccountContract>()({
  settle: Type.Object({}),
  limitsChanged: Type.Object({
    maxPositionSize: Type.String(),
    dailyLossLimit: Type.String(),
    priceCollarPct: Type.Number(),
    marketCollarPct: Type.Number(),
  }),
});
