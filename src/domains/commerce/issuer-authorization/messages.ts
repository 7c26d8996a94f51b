/** Commands and queries of an authorization at an external issuer. The key is the issuer's id of it; amounts are minor units (cents). */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { AuthorizationState } from '../../../authorization-state.ts';
import type { DeclineReason } from '../card/messages.ts';
import type { IssuerAuthorizationRow } from './entity.ts';

export type CardAndMerchant = { cardId: string; accountId: string; merchant: string };
export type Asked = CardAndMerchant & {
  /** The issuer's requests about one authorization are numbered from 0. */
  number: number;
  amountMinor: number;
};
/** `decided_there`: the issuer has already decided this request, or its authorization is over; nothing is booked for it any more. */
export type Decision =
  | { approved: true; authorizationId: string }
  | { approved: false; authorizationId: string | null; reason: DeclineReason | 'decided_there' };
export type Charged = { authorizationId: string; declineReason: string | null };

export type IssuerAuthorizationContract = {
  commands: {
    /** Answered when card and wallet have decided. The same number again has the same answer, and is booked once. */
    request(input: Asked): Decision;
    /** The issuer has sent a notification: queries it. Stored if the issuer approved it, or asked this service about it. */
    news(input: CardAndMerchant & { approved: boolean }): void;
    /** Outcome of the effect. */
    charged(input: EffectResult<Charged>): null;
    /** Outcome of the effect. */
    looked(input: EffectResult<AuthorizationState>): null;
    /** By timer: requests that card and wallet did not answer are repeated. */
    chargeAgain(input: object): null;
    /** By timer. */
    look(input: object): null;
  };
  queries: { get(input: null): IssuerAuthorizationRow | null };
  effects: {
    look(input: Record<string, never>): AuthorizationState;
    charge(input: { cardId: string; authorizationId: string; number: number | null; amountMinor: number; merchant: string }): Charged;
  };
};

export const issuerAuthorization = actorRef<IssuerAuthorizationContract>('issuer_authorization');
