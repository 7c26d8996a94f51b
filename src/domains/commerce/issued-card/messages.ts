/** Commands and queries of a card's counterpart at an external issuer. The key is the card's id. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { CardRow } from '../card/entity.ts';
import type { IssuedCardRow } from './entity.ts';

export type CardAtIssuer = Pick<IssuedCardRow, 'accountId' | 'name' | 'currency' | 'spendLimitMinor'>;
export type IssuedByNow = { issuerCardId: string; last4: string; numberHash: string };
export type Making = ({ kind: 'made' } & IssuedByNow) | { kind: 'refused'; why: string };

export type IssuedCardContract = {
  commands: {
    /**
     * Requests the card; answered when the issuer has made it. A repeat returns the same card. Rejects with `conflict` if the issuer will
     * not make it. A requested card is eventually made, even if no caller waits: a message creates the card's actor.
     */
    issue(input: CardAtIssuer): IssuedByNow;
    /** Outcome of the effect. */
    making(input: EffectResult<Making>): null;
    /** Sent by the card when its status changes. The issuer is notified in this order. No effect for a card without an external issuer. */
    follow(input: { status: CardRow['status'] }): void;
    /** Outcome of the effect. */
    followed(input: EffectResult<CardRow['status']>): null;
    /** By timer. */
    tryAgain(input: object): null;
  };
  queries: { get(input: null): IssuedCardRow | null };
  effects: {
    make(input: CardAtIssuer): Making;
    tell(input: { issuerCardId: string; status: CardRow['status'] }): CardRow['status'];
  };
};

export const issuedCard = actorRef<IssuedCardContract>('issued_card');
