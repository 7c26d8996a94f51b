/** Schemas of the inputs of a wallet, of its timer, and of its answer to the payer. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { WalletContract } from './messages.ts';

const Payment = Type.Object({
  transferId: Type.String(),
  amountMinor: Type.Integer({ minimum: 0 }),
  to: Type.Union([Type.Literal('cards'), Type.Literal('orders')]),
  reference: Type.String(),
  description: Type.String(),
  payer: Type.Object({ kind: Type.String(), id: Type.String() }),
  memo: Type.Optional(Type.Unknown()),
});

export const PaymentDecided = Type.Object({
  payment: Payment,
  decision: Type.Union([
    Type.Object({ kind: Type.Union([Type.Literal('paid'), Type.Literal('waiting')]) }),
    Type.Object({ kind: Type.Literal('declined'), reason: Type.String() }),
  ]),
});

export const walletInputs = durableInputs<WalletContract>()({
  deposit: Type.Object({
    transferId: Type.String(),
    amountMinor: Type.Integer({ minimum: 0 }),
    source: Type.Union([Type.Literal('card'), Type.Literal('bank_transfer')]),
  }),
  pay: Payment,
  expireHolds: Type.Object({}),
  timezoneChanged: Type.Object({ timezone: Type.String() }),
});
