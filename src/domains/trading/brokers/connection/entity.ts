/** Connections of accounts to brokers. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../../mode.ts';
import { epochMs, json } from '../../../../storage/column-types.ts';
import type { OrderMode } from '../../trading-account/entity.ts';
import type { VenueName } from '../port.ts';

/** Why a connection accepts no orders: its figures and ours differ. Decimal texts. */
export type Halt = { reason: 'position_mismatch'; symbol: string; ours: string; theirs: string; atMs: number };

export const ConnectedBroker = defineEntity({
  name: 'ConnectedBroker',
  tableName: 'broker_connection',
  properties: {
    /** On the shard of its trading account. */
    id: p.text().primary(),
    shard: p.integer(),
    accountId: p.text(),
    /** The mode of the key that made it. */
    mode: p.text().$type<Mode>(),
    brokerName: p.text().$type<VenueName>(),
    orderMode: p.text().$type<OrderMode>(),
    /** Paper orders of a broker without a paper venue are filled by this service. */
    filledBy: p.text().$type<'broker' | 'embedded'>(),
    /** Encrypted. Empty after the connection is removed. */
    credentials: p.text().hidden(),
    status: p.text().$type<'connected' | 'error'>(),
    error: p.text().strictNullable(),
    /** The broker's figures were adopted: from then on a difference is a mismatch. */
    adopted: p.boolean(),
    /** The effects of earlier foreign orders are included in these figures. */
    since: epochMs(),
    /** Trades and ended orders after `since` that are included in these figures, by the broker's ids. */
    earlier: json<string[]>(),
    /** Fills up to this point were sent to their orders; null: none yet. */
    cursor: p.text().strictNullable(),
    halt: json<Halt>().strictNullable(),
    createdAt: epochMs(),
    removedAt: epochMs().strictNullable(),
  },
});
export type ConnectedBrokerRow = InferEntity<typeof ConnectedBroker>;
