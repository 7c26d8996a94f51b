/** The state of an authorization at its issuer: as its adapter reads it, and as it is stored. Amounts are minor units of the card's currency. */
export type AuthorizationState = {
  status: 'pending' | 'closed' | 'reversed' | 'expired';
  approved: boolean;
  /** What was authorized, or refused. */
  amountMinor: number;
  /** What was captured, less what was refunded; null: nothing yet. */
  capturedMinor: number | null;
  /** How many requests have been decided there. */
  decidedRequests: number;
};
