/** Commands and queries of a card. Amounts are minor units (cents). */

import { actorRef } from '../../../actors/define-actor.ts';
import { colocatedId } from '../../../cluster/address.ts';
import type { CardReversalRow } from '../issuer-authorization/entity.ts';
import { type PaymentRefusal, wallet } from '../wallet/messages.ts';
import type { CardAuthorizationRow, CardRow } from './entity.ts';

export type NewCard = Pick<CardRow, 'accountId' | 'mode' | 'name' | 'last4' | 'numberHash' | 'spendLimitMinor' | 'currency'> & {
  /** Set if an external issuer has made it. */
  issuerCardId?: string;
};

/** spend_limit_exceeded: over the card's limit, or over the account's limit for one payment. */
export type DeclineReason = 'card_frozen' | 'card_cancelled' | 'spend_limit_exceeded' | Exclude<PaymentRefusal, 'per_transaction_limit'>;

/** A card has no reason of its own for the limit of one payment. Earlier versions recorded the wallet's. */
export function declineReasonOf(refusal: PaymentRefusal | DeclineReason): DeclineReason {
  return refusal === 'per_transaction_limit' ? 'spend_limit_exceeded' : refusal;
}

export type Authorize = { authorizationId: string; amountMinor: number; merchant: string };

/** The part of an approved authorization that is refunded, under a transfer of its own. */
export type Reversal = Pick<CardReversalRow, 'authorizationId' | 'amountMinor' | 'reason'> & {
  transferId: string;
  merchant: string;
  authorizedAtMs: number;
};

export type CardContract = {
  commands: {
    create(input: NewCard): CardRow;
    /** Decided when it is answered, once for a command id; debited on the card and on the wallet, or on neither. */
    authorize(input: Authorize): CardAuthorizationRow;
    freeze(input: null): CardRow;
    unfreeze(input: null): CardRow;
    /** Permanent. */
    cancel(input: null): CardRow;
    /** From its counterpart at an issuer: the status that the issuer is sent from now on. If it is wrong, the card sends its current one. */
    issuerFollows(input: { status: CardRow['status'] }): void;
    /** Sent when the issuer has captured less: once for each transfer, and never more than was approved. */
    reverse(input: Reversal): void;
  };
  queries: { get(input: null): CardRow | null };
};

export const card = actorRef<CardContract>('card');

/** Derives a card's id from this one, so that it is on the wallet's shard; an id that is already derived stays the same. */
export function cardIdOf<Id extends string>(walletId: string, id: Id): Id {
  return colocatedId(id, card.kind, { kind: wallet.kind, id: walletId });
}
