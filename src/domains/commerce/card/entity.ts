/** Cards and their authorizations. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs } from '../../../storage/column-types.ts';

export const Card = defineEntity({
  name: 'Card',
  tableName: 'card',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    name: p.text(),
    last4: p.text(),
    /** A keyed hash; the number itself is not stored. */
    numberHash: p.text().hidden(),
    /** Its id at the external issuer that made it and is notified of its status; null: no external issuer. */
    issuerCardId: p.text().strictNullable(),
    spendLimitMinor: p.bigint('number'),
    spentMinor: p.bigint('number'),
    currency: p.text(),
    status: p.text().$type<'active' | 'frozen' | 'cancelled'>(),
    createdAt: epochMs(),
  },
});
export type CardRow = InferEntity<typeof Card>;

export const CardAuthorization = defineEntity({
  name: 'CardAuthorization',
  tableName: 'card_authorization',
  readonly: true,
  properties: {
    id: p.text().primary(),
    cardId: p.text(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    amountMinor: p.bigint('number'),
    merchant: p.text(),
    status: p.text().$type<'approved' | 'declined'>(),
    declineReason: p.text().strictNullable(),
    createdAt: epochMs(),
  },
});
export type CardAuthorizationRow = InferEntity<typeof CardAuthorization>;
