/** Who issues cards. What is secret about a card is shown when it is made, and kept nowhere. */
import type { AuthorizationState } from '../../../authorization-state.ts';

export type IssuedCard = {
  /** 16 digits. */
  number: string;
  cvv: string;
  last4: string;
  /** Keyed: tells nobody the number, and is the same for the same number. */
  numberHash: string;
};

/** Makes the numbers of cards by itself: nobody else knows of them. */
export type CardIssuer = {
  /**
   * The details of a card. The same card and try have the same details, so that a request that is repeated after a crash shows what the first
   * would have shown. Numbers of different cards may be the same: try again with the next `attempt`.
   */
  issue(cardId: string, attempt: number): IssuedCard;
  /** `MM/YY` of a card made at this time. */
  expiry(createdAtMs: number): string;
};

/** `numberHash` stands for the number without having been made of it: keyed, and the same for the same card. */
export type MadeCard = { issuerCardId: string; last4: string; numberHash: string };
export type CardToMake = { cardId: string; accountId: string; currency: string; spendLimitMinor: number };
export type CardStatus = 'active' | 'frozen' | 'cancelled';

/** What an issuer tells of an authorization. `issuerId`: its own id of it. */
export type AboutAuthorization = { issuerId: string; issuerCardId: string; merchant: string };
export type IssuerRequest = AboutAuthorization & {
  kind: 'request';
  /** Each request of an authorization has its own, from 0: later ones ask for more. */
  number: number;
  /** What it asks for beyond what was approved before; 0 where a shop only looks whether there is such a card. */
  amountMinor: number;
  /** ISO 4217, upper case. */
  currency: string;
};
export type IssuerEvent =
  | IssuerRequest
  /** Something has happened to it: look. */
  | (AboutAuthorization & { kind: 'notification'; approved: boolean })
  /** Money was taken or given back, and belongs to no authorization. */
  | { kind: 'unlinked'; transactionId: string }
  | { kind: 'other' };

/**
 * An issuer elsewhere: it makes the numbers, is told whether a card may be used, and asks this service about each payment.
 *
 * All but `event` throw `unavailable` where it does not answer (then it may have happened: ask again), `not_found` for what it does not know and
 * `conflict` for what it will not do.
 */
export interface OutsideIssuer {
  /** The same card again for the same id, for a day. */
  make(card: CardToMake, signal: AbortSignal): Promise<MadeCard>;
  /** `expiry`: MM/YY. Ask for it only to show it. */
  details(issuerCardId: string): Promise<{ number: string; cvv: string; expiry: string }>;
  setStatus(issuerCardId: string, status: CardStatus, signal: AbortSignal): Promise<void>;
  readAuthorization(issuerId: string, signal: AbortSignal): Promise<AuthorizationState>;
  /** Reads what it tells. Throws `bad_request` for what it has not signed, or in no shape that is known. */
  event(body: Uint8Array, signature: string): Promise<IssuerEvent>;
  /** The answer to a request, as headers and body. */
  answer(approved: boolean, about: Record<string, string>): { headers: Record<string, string>; body: string };
}
