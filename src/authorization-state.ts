/** The state of an authorization at its issuer, in the adapter's and the stored form. Amounts are minor units of the card's currency. */
export type AuthorizationState = {
  status: 'pending' | 'closed' | 'reversed' | 'expired';
  approved: boolean;
  /** The amount that was authorized or refused. */
  amountMinor: number;
  /** The captured amount minus refunds; null: nothing captured yet. */
  capturedMinor: number | null;
  /** The number of requests that the issuer has decided. */
  decidedRequests: number;
};
