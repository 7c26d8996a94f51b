/** Commands and queries of an account's connection to a broker. */
import { actorRef, type EffectResult } from '../../../../actors/define-actor.ts';
import { colocatedId } from '../../../../cluster/address.ts';
import { tradingAccount } from '../../trading-account/messages.ts';
import type { VenueOrder, VenuePosition } from '../port.ts';
import type { ConnectedBrokerRow, Halt } from './entity.ts';

/** What a broker says of an account, at one moment. */
export type Figures = {
  /** null: nothing was said of it. */
  cash: string | null;
  positions: VenuePosition[];
  /** Open orders that were not placed here. */
  orders: VenueOrder[];
  cursor: string | null;
  sinceMs: number;
  earlier: string[];
};

export type NewConnection = Pick<
  ConnectedBrokerRow,
  'accountId' | 'mode' | 'brokerName' | 'orderMode' | 'filledBy' | 'credentials' | 'error'
> & {
  /** null: not known yet; the reconciliation asks for them. */
  figures: Figures | null;
};

export type ConnectionContract = {
  commands: {
    create(input: NewConnection): ConnectedBrokerRow;
    /** What a try of the credentials came to. null: they are taken. A connection that loses them asks for attention. */
    tried(input: { error: string | null }): null;
    /** The broker's figures become ours: the first ones, or those that a person takes over, which ends a halt. @param by the user's id */
    adopt(input: { figures: Figures; by: string | null }): ConnectedBrokerRow;
    advanced(input: { cursor: string }): null;
    /** A difference that two rounds found: no orders until a person looked. */
    mismatched(input: Omit<Halt, 'reason' | 'atMs'>): null;
    /** Refuses (`conflict`) while orders of it are open or unknown. */
    remove(input: null): null;
    /** Outcome of the effect. */
    noted(input: EffectResult<void>): null;
  };
  queries: {
    /** null: there is none, or it was removed. */
    get(input: null): ConnectedBrokerRow | null;
  };
  effects: { wake(input: Record<string, never>): void };
};

export const brokerConnection = actorRef<ConnectionContract>('broker_connection');

/** Derives a connection's id from this one, so that it lives on the shard of its trading account. */
export function connectionIdOf<Id extends string>(tradingAccountId: string, id: Id): Id {
  return colocatedId(id, brokerConnection.kind, { kind: tradingAccount.kind, id: tradingAccountId });
}
