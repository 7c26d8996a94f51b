/** What can be asked of a card. Amounts are minor units (cents). */
import type { CardAuthorizationRow, CardRow } from '../../storage/entities/money.ts';
import { actorRef } from '../runtime/define-actor.ts';
import type { PayerContract, PaymentRefusal } from '../wallet/messages.ts';

export type NewCard = Pick<CardRow, 'accountId' | 'name' | 'last4' | 'numberHash' | 'spendLimitMinor' | 'currency'>;

export type DeclineReason = 'card_frozen' | 'card_cancelled' | 'spend_limit_exceeded' | PaymentRefusal;

export type Authorize = { authorizationId: string; amountMinor: number; merchant: string };

/** `pending`: its amount is reserved and the wallet is asked; `number` is what `outcome` is asked by. */
export type Authorized = { kind: 'decided'; authorization: CardAuthorizationRow } | { kind: 'pending'; number: number };

export type CardContract = {
  commands: {
    create(input: NewCard): CardRow;
    /** Ask it once for an authorization (with a command id where it may be asked again), then ask for the outcome: `authorize.ts` does. */
    authorize(input: Authorize): Authorized;
    /** Answered when the authorization is decided; null: it is, and stands among the records. */
    outcome(input: { number: number }): CardAuthorizationRow | null;
    freeze(input: null): CardRow;
    unfreeze(input: null): CardRow;
    /** For good. */
    cancel(input: null): CardRow;
    paymentDecided: PayerContract['commands']['paymentDecided'];
  };
  queries: { get(input: null): CardRow | null };
};

export const card = actorRef<CardContract>('card');
