/** Authorizations of cards of external issuers. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { AuthorizationState } from '../../../authorization-state.ts';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

/** A requested charge of a card of this service because of an authorization at the issuer. */
export type Charge = {
  /** The id at this service. */
  authorizationId: string;
  /** The issuer's request that it answers; null: it books an amount that the issuer approved without asking. */
  number: number | null;
  amountMinor: number;
  atMs: number;
  outcome: 'asked' | 'approved' | 'declined';
  declineReason: string | null;
  /** The amount refunded to the wallet. */
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
    /** The issuer's last known state; null: not queried yet. */
    issuerState: json<AuthorizationState>().strictNullable().fieldName('word'),
    /** The amount that the issuer approved and card or wallet refused. */
    uncoveredMinor: p.bigint('number'),
    /** Consecutive failed queries of the issuer. */
    failedReads: p.integer().fieldName('failed_looks'),
    /** The query that is running. */
    readId: p.text().strictNullable().fieldName('look_id'),
    /** A notification arrived since the query began. */
    readAgain: p.boolean().fieldName('look_again'),
    createdAt: epochMs(),
  },
});
export type IssuerAuthorizationRow = InferEntity<typeof IssuerAuthorization>;

/** Money of an approved authorization that was refunded to the wallet. Never changed. */
export const CardReversal = defineEntity({
  name: 'CardReversal',
  tableName: 'card_reversal',
  readonly: true,
  properties: {
    /** The transfer that refunds it. */
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
