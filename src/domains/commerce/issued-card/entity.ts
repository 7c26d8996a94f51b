/** Cards that are issued elsewhere. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';
import type { CardRow } from '../card/entity.ts';

/** A card as its issuer has it. The id is the card's. Cards whose numbers are made by this service itself have none. */
export const IssuedCard = defineEntity({
  name: 'IssuedCard',
  tableName: 'issued_card',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    name: p.text(),
    currency: p.text(),
    spendLimitMinor: p.bigint('number'),
    /** `refused`: the issuer will not make it, for the reason that `refusal` says. */
    status: p.text().$type<'making' | 'made' | 'refused'>(),
    refusal: p.text().strictNullable(),
    /** The issuer's own id of it; null until it is made. */
    issuerCardId: p.text().strictNullable(),
    /** Told by the issuer. */
    last4: p.text().strictNullable(),
    /** Stands for the number, which reaches no actor: keyed, and the same for the same card of the issuer's. */
    numberHash: p.text().strictNullable().hidden(),
    wanted: p.text().$type<CardRow['status']>(),
    /** What the issuer has confirmed last. */
    told: p.text().$type<CardRow['status']>(),
    /** Since when it has been trying what it tries now; null: there is nothing to do. */
    tryingSince: epochMs().strictNullable(),
    createdAt: epochMs(),
  },
});
export type IssuedCardRow = InferEntity<typeof IssuedCard>;
