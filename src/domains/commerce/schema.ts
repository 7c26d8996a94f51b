/** The tables of commerce. */
import type { Schema } from '../../storage/schema.ts';
import { Card, CardAuthorization } from './card/entity.ts';
import { IssuedCard } from './issued-card/entity.ts';
import { CardReversal, IssuerAuthorization } from './issuer-authorization/entity.ts';
import { PurchaseOrder } from './purchase-order/entity.ts';
import { LedgerEntry, Wallet, WalletHold } from './wallet/entity.ts';

export const commerceSchema: Schema = {
  entities: [Card, CardAuthorization, IssuedCard, CardReversal, IssuerAuthorization, PurchaseOrder, LedgerEntry, Wallet, WalletHold],
};
