/** Card issuers. The secrets of a card are shown when it is made, and not stored. */
import type { AuthorizationState } from '../../../authorization-state.ts';

export type IssuedCard = {
  /** 16 digits. */
  number: string;
  cvv: string;
  last4: string;
  /** A keyed hash: does not reveal the number, and is the same for the same number. */
  numberHash: string;
};

/** An issuer that makes card numbers itself. */
export type CardIssuer = {
  /**
   * The details of a card. The same card and try have the same details, so that a request repeated after a crash shows the same. Different
   * cards may get the same number: try again with the next `attempt`.
   */
  issue(cardId: string, attempt: number): IssuedCard;
  /** `MM/YY` of a card made at this time. */
  expiry(createdAtMs: number): string;
};

/** `numberHash`: keyed, the same for the same card; not derived from the number. */
export type MadeCard = { issuerCardId: string; last4: string; numberHash: string };
export type CardToMake = { cardId: string; accountId: string; currency: string; spendLimitMinor: number };
export type CardStatus = 'active' | 'frozen' | 'cancelled';

/** An issuer's event about an authorization. `issuerId`: the issuer's id of it. */
export type AboutAuthorization = { issuerId: string; issuerCardId: string; merchant: string };
export type IssuerRequest = AboutAuthorization & {
  kind: 'request';
  /** The number of the request within its authorization, from 0: later ones request more. */
  number: number;
  /** The requested amount beyond the amount approved before; 0 if a shop only checks whether the card exists. */
  amountMinor: number;
  /** ISO 4217, upper case. */
  currency: string;
};
export type IssuerEvent =
  | IssuerRequest
  /** The authorization has changed: query it. */
  | (AboutAuthorization & { kind: 'notification'; approved: boolean })
  /** Money was taken or refunded without an authorization. */
  | { kind: 'unlinked'; transactionId: string }
  | { kind: 'other' };

/**
 * An external issuer: it makes the numbers, is notified whether a card may be used, and asks this service about each payment.
 *
 * All but `event` throw `unavailable` if it does not answer (then the call may have happened: retry), `not_found` for an unknown object and
 * `conflict` for a refusal.
 */
export interface OutsideIssuer {
  /** The same card again for the same id, for a day. */
  make(card: CardToMake, signal: AbortSignal): Promise<MadeCard>;
  /** `expiry`: MM/YY. Read it only to show it. */
  details(issuerCardId: string): Promise<{ number: string; cvv: string; expiry: string }>;
  setStatus(issuerCardId: string, status: CardStatus, signal: AbortSignal): Promise<void>;
  readAuthorization(issuerId: string, signal: AbortSignal): Promise<AuthorizationState>;
  /** Reads an event. Throws `bad_request` for an event that it has not signed, or of an unknown form. */
  event(body: Uint8Array, signature: string): Promise<IssuerEvent>;
  /** The answer to a request, as headers and body. */
  answer(approved: boolean, about: Record<string, string>): { headers: Record<string, string>; body: string };
}
