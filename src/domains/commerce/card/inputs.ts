/** Schemas of the inputs of a card. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { CardContract } from './messages.ts';

export const cardInputs = durableInputs<CardContract>()({
  create: Type.Object({
    accountId: Type.String(),
    mode: Type.Union([Type.Literal('live'), Type.Literal('test')]),
    name: Type.String(),
    last4: Type.String(),
    numberHash: Type.String(),
    spendLimitMinor: Type.Integer(),
    currency: Type.String(),
    issuerCardId: Type.Optional(Type.String()),
  }),
  issuerFollows: Type.Object({ status: Type.Union([Type.Literal('active'), Type.Literal('frozen'), Type.Literal('cancelled')]) }),
  reverse: Type.Object({
    authorizationId: Type.String(),
    amountMinor: Type.Integer({ minimum: 0 }),
    reason: Type.String(),
    transferId: Type.String(),
    merchant: Type.String(),
    authorizedAtMs: Type.Number(),
  }),
});
