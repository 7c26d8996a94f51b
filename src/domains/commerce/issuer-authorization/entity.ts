/** Authorizations of cards that are issued elsewhere. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { AuthorizationState } from '../../../authorization-state.ts';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

/** What was asked of a card of ours because of an authorization at the issuer. */
export type Charge = {
  /** Ours. */
  authorizationId: string;
  /** Which of the issuer's requests it answers; null: it books what the issuer let through without asking. */
  number: number | null;
  amountMinor: number;
  atMs: number;
  outcome: 'asked' | 'approved' | 'declined';
  declineReason: string | null;
  /** What of it has gone back to the wallet. */
  returnedMinor: number;
};

/** An authorization at an issuer. The id is the issuer's. */
export const IssuerAuthorization = defineEntity({
  name: 'IssuerAuthorization',
  tableName: 'issuer_authorization',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    cardId: p.text(),
    merchant: p.text(),
    charges: json<Charge[]>(),
    /** What the issuer said last; null: it was not asked yet. */
    word: json<AuthorizationState>().strictNullable(),
    /** What the issuer let through and neither card nor wallet would pay. */
    uncoveredMinor: p.bigint('number'),
    /** Looks at the issuer in a row that failed. */
    failedLooks: p.integer(),
    /** The look that is on its way. */
    lookId: p.text().strictNullable(),
    /** There was news since it began. */
    lookAgain: p.boolean(),
    createdAt: epochMs(),
  },
});
export type IssuerAuthorizationRow = InferEntity<typeof IssuerAuthorization>;

/** Money of an approved authorization that went back to the wallet. Never changed. */
export const CardReversal = defineEntity({
  name: 'CardReversal',
  tableName: 'card_reversal',
  readonly: true,
  properties: {
    /** The transfer that gives it back. */
    id: p.text().primary(),
    authorizationId: p.text(),
    cardId: p.text(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    amountMinor: p.bigint('number'),
    reason: p.text().$type<'not_approved' | 'reversed' | 'expired' | 'captured_less'>(),
    createdAt: epochMs(),
  },
});
export type CardReversalRow = InferEntity<typeof CardReversal>;
