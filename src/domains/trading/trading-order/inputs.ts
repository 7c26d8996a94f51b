/** Schemas of an order's timers. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { TradingOrderContract } from './messages.ts';

export const tradingOrderInputs = durableInputs<TradingOrderContract>()({
  wake: Type.Object({ of: Type.Union([Type.Literal('outbound'), Type.Literal('fills'), Type.Literal('cancel')]) }),
});
