/** Schemas of an order's timers, and of a foreign order that a connection sends. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { TradingOrderContract } from './messages.ts';

export const tradingOrderInputs = durableInputs<TradingOrderContract>()({
  adoptOrder: Type.Object({
    tradingAccountId: Type.String(),
    brokerKey: Type.String(),
    order: Type.Object({ brokerOrderId: Type.String(), symbol: Type.String(), filledQuantity: Type.String() }),
    earlier: Type.Optional(Type.Boolean()),
  }),
  wake: Type.Object({ of: Type.Union([Type.Literal('outbound'), Type.Literal('fills'), Type.Literal('cancel')]) }),
});
