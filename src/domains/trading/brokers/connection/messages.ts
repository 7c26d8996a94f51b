/** Commands and queries of an account's connection to a broker. */
import { actorRef, type EffectResult } from '../../../../actors/define-actor.ts';
import { colocatedId } from '../../../../cluster/address.ts';
import { tradingAccount } from '../../trading-account/messages.ts';
import type { VenueOrder, VenuePosition } from '../port.ts';
import type { ConnectedBrokerRow, Halt } from './entity.ts';

/** An account's figures at the broker, at one moment. */
export type Figures = {
  /** null: the broker did not report it. */
  cash: string | null;
  positions: VenuePosition[];
  /** Open orders that this service did not place. */
  orders: VenueOrder[];
  cursor: string | null;
  sinceMs: number;
  earlier: string[];
};

export type NewConnection = Pick<
  ConnectedBrokerRow,
  'accountId' | 'mode' | 'brokerName' | 'orderMode' | 'filledBy' | 'credentials' | 'error'
> & {
  /** null: not known yet; the reconciliation requests them. */
  figures: Figures | null;
  /** `venueAccountKey`; null: not known yet. */
  venueAccount: string | null;
};

export type ConnectionContract = {
  commands: {
    /** Refuses (`conflict`) if another connection belongs to the same account at the broker. */
    create(input: NewConnection): ConnectedBrokerRow;
    /** New credentials for the same account at the broker, which the broker accepts. Orders, book and cursor stay. */
    renew(input: { credentials: string }): ConnectedBrokerRow;
    /** The account at the broker to which the credentials belong. Returns the id of another connection to it; null: there is none. */
    identify(input: { venueAccount: string }): string | null;
    /**
     * The result of a test of the credentials; null: the broker accepts them. A connection whose credentials are refused needs attention.
     * `credentials`: those that were tested, encrypted; the result is ignored if they were replaced meanwhile.
     */
    tried(input: { error: string | null; credentials?: string }): null;
    /**
     * Adopts the broker's figures: the first ones, or by a person's decision, which ends a halt.
     *
     * @param by the user's id
     */
    adopt(input: { figures: Figures; by: string | null }): ConnectedBrokerRow;
    advanced(input: { cursor: string }): null;
    /** Two rounds found a difference: no orders until a person has decided. */
    mismatched(input: Omit<Halt, 'reason' | 'atMs'>): null;
    /** Refuses (`conflict`) while its orders are open or have an unknown outcome. */
    remove(input: null): null;
    /** Outcome of the effect. */
    noted(input: EffectResult<void>): null;
  };
  queries: {
    /** null: there is no connection, or it was removed. */
    get(input: null): ConnectedBrokerRow | null;
  };
  effects: { wake(input: Record<string, never>): void };
};

export const brokerConnection = actorRef<ConnectionContract>('broker_connection');

/** Derives a connection's id from this one, so that it lives on the shard of its trading account. */
export function connectionIdOf<Id extends string>(tradingAccountId: string, id: Id): Id {
  return colocatedId(id, brokerConnection.kind, { kind: tradingAccount.kind, id: tradingAccountId });
}
