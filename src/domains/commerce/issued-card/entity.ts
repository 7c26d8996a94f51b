/** Cards of external issuers. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';
import type { CardRow } from '../card/entity.ts';

/** A card's state at its external issuer. The id is the card's. Cards whose numbers this service makes have no such row. */
export const IssuedCard = defineEntity({
  name: 'IssuedCard',
  tableName: 'issued_card',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    name: p.text(),
    currency: p.text(),
    spendLimitMinor: p.bigint('number'),
    /** `refused`: the issuer will not make it, for the reason in `refusal`. */
    status: p.text().$type<'making' | 'made' | 'refused'>(),
    refusal: p.text().strictNullable(),
    /** The issuer's own id of it; null until it is made. */
    issuerCardId: p.text().strictNullable(),
    /** As the issuer reported. */
    last4: p.text().strictNullable(),
    /** Keyed hash in place of the number, which reaches no actor: the same for the same card of the issuer. */
    numberHash: p.text().strictNullable().hidden(),
    wanted: p.text().$type<CardRow['status']>(),
    /** The last status that the issuer confirmed. */
    confirmed: p.text().$type<CardRow['status']>().fieldName('told'),
    /** Since when the current request has been tried; null: there is none. */
    tryingSince: epochMs().strictNullable(),
    createdAt: epochMs(),
  },
});
export type IssuedCardRow = InferEntity<typeof IssuedCard>;
