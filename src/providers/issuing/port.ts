/** Who issues cards: makes their numbers. What is secret about a card is shown when it is made, and kept nowhere. */

export type IssuedCard = {
  /** 16 digits. */
  number: string;
  cvv: string;
  last4: string;
  /** Keyed: tells nobody the number, and is the same for the same number. */
  numberHash: string;
};

export type CardIssuer = {
  /**
   * The details of a card. The same card and try have the same details, so that a request that is repeated after a crash shows what the first
   * would have shown. Numbers of different cards may be the same: try again with the next `attempt`.
   */
  issue(cardId: string, attempt: number): IssuedCard;
  /** `MM/YY` of a card made at this time. */
  expiry(createdAtMs: number): string;
};
