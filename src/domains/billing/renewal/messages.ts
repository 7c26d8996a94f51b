/** Commands and queries of a renewal: the payment processor's charges for the terms after the first. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Payer, RenewalState } from '../payments/port.ts';
import type { Arrange } from './effects.ts';
import type { RenewalRow } from './entity.ts';

export type BeginRenewal = Pick<RenewalRow, 'accountId' | 'plan' | 'billingPeriod'> & { payer: Payer; paidUntilMs: number };

/** `standings`: states of the previous charges. `processorId`: the charges from now on. */
export type Arranged = { arrangement: number; standings: RenewalState[]; processorId: string };

/** A query has no effect if there is no renewal. */
export type RenewalContract = {
  commands: {
    /** Repeating it changes nothing. */
    begin(input: BeginRenewal): null;
    /** The plan and billing period from the next term on. Retried if there is no renewal yet. */
    change(input: Pick<RenewalRow, 'plan' | 'billingPeriod'>): null;
    /** The account has a better plan, which is paid otherwise. A renewal that does not exist yet will never begin. */
    replaced(input: { accountId?: string }): null;
    /** Queries the processor for its charges; answered when they are stored. `unavailable` if the query failed. */
    look(input: null): null;
    /** By timer: continues unfinished work. */
    goOn(input: object): null;
    /** Outcomes of effects. */
    arranged(input: EffectResult<Arranged>): null;
    stopped(input: EffectResult<RenewalState[]>): null;
    looked(input: EffectResult<{ processorId: string; standing: RenewalState }>): null;
  };
  queries: {
    /** null: there is none. */
    get(input: null): RenewalRow | null;
  };
  effects: {
    arrange(input: Arrange): Arranged;
    stop(input: { payer: Payer }): RenewalState[];
    look(input: { processorId: string }): { processorId: string; standing: RenewalState };
  };
};

export const renewal = actorRef<RenewalContract>('renewal');
