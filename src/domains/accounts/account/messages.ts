/** What can be asked of an account. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import type { Overrides } from '../../../storage/account-overrides.ts';
import type { AccountRow } from './entity.ts';

export type CreateAccount = { registrationId: string; claimedBy: string };

/** What an agent and its task have used since it was last told. */
export type Usage = {
  /** Where the agent works; answered with `counted`, so that no turn begins beyond a limit. null: nobody waits for an answer. */
  place: string | null;
  tokens: number;
  workedMs: number;
  /** `workedMs` is what it has worked in all its life; null: it has not worked. */
  agent: { id: string; name: string; workedMs: number } | null;
};

/** Tasks that have started and not ended, in the order of their ids. */
export type StartedTasks = { ids: string[]; areAll: boolean };

/** Amounts are cents of USD. `processorId`: what the payment processor calls the subscription, where it has been paid and will renew it; else null. */
export type ChangePlan = { plan: Plan; billingPeriod: BillingPeriod; paymentId: string; amountMinor: number; processorId: string | null };

/**
 * `changed`: the better plan holds and has its invoice. `waiting`: what was asked for is no better; nothing is charged. `dearer`: more is due by now
 * than was promised, and nothing is charged.
 *
 * @property before the plan subscribed to until then
 * @property replaced the processor's subscription that a better plan takes the place of, to be ended there; else null
 */
export type PlanChange = { kind: 'changed' | 'waiting' | 'dearer'; before: Plan; replaced: string | null };

/** A term that the processor has been paid for. */
export type PeriodPaid = {
  processorId: string;
  paymentId: string;
  plan: Plan;
  billingPeriod: BillingPeriod;
  amountMinor: number;
  startsAtMs: number;
  paidUntilMs: number;
};

export type AccountContract = {
  commands: {
    /** Sent by the e-mail address that registers it; answered with `created`. Told twice it stays as it is. */
    create(input: CreateAccount): null;
    /** A new task; answered with `begin` when it is its turn, and before with `mustWait` where that is not at once. */
    taskWaits(input: { taskId: string }): void;
    /**
     * `started`: it counts as used. `places`: those of its agents that it was given and has not given back; `asked`: those that it has only asked
     * for. `returnsPlaces`: what it is given from now on it hands back; a task of an earlier version does not, and names all its places in `places`.
     */
    taskEnded(input: { taskId: string; started: boolean; places: string[]; asked?: string[]; returnsPlaces?: boolean }): void;
    /** A task was told to begin when it had ended: its place is free. */
    beganTooLate(input: { taskId: string }): void;
    /** A task wants a place for one of its agents; answered with `placeGiven` when it is its turn, and before with `placeLacking` where that is not at once. `place` comes from `placeName`. */
    agentWaits(input: { place: string }): void;
    /** A place is given back. `held` false: it was only asked for; should it be given all the same, it comes back once more. */
    agentRests(input: { place: string; held?: boolean }): void;
    /** A task has been planned, which took so many tokens. */
    planned(input: { taskId: string; tokens: number }): void;
    used(input: Usage): void;
    /** What an operator has set, and when; what is older than what is known changes nothing. */
    limitsChanged(input: { overrides: Overrides; changedAtMs: number }): void;
    /**
     * A better plan holds at once, and leaves an invoice; a lesser one, or another billing period, holds from the end of what is paid on. The plan
     * there is withdraws what was waiting. To be asked by an id: each time it is asked it takes effect.
     */
    changePlan(input: ChangePlan): PlanChange;
    /**
     * A payment processor has renewed the plan: leaves an invoice, once for each term. False: it is known, or of a subscription that this account
     * has not (any more).
     */
    periodPaid(input: PeriodPaid): boolean;
    /** A payment processor renews the plan no more: the free one holds now. Tried again until all terms paid, up to `paidUntilMs`, were told. False: it is not this account's (any more). */
    subscriptionEnded(input: { processorId: string; paidUntilMs?: number }): boolean;
    /** By timer; whatever comes first in a new period begins it, and pays for it. */
    beginPeriod(input: Record<string, never>): void;
    /**
     * Goes on with what was too much for one turn. `heard`: what a task goes by from now on; where it is not so, or not any more, it is told, so that
     * the last word is the newest in whatever order it has heard them.
     */
    goOn(input: { heard?: { taskId: string; reached: boolean } }): void;
    /** Counts one more API key, made by the account's key in the same turn; `plan_required` where the account has as many as it may have. */
    addApiKey(input: Record<string, never>): void;
    /** One was made where it could not be counted in the same turn. */
    apiKeyMade(input: Record<string, never>): void;
    /** One was revoked. */
    apiKeyEnded(input: Record<string, never>): void;
    tellTasks(input: EffectResult<StartedTasks>): void;
    /** Goes on telling tasks that wait why they do. */
    tellWaiting(input: { after: string }): void;
    tellTasksAgain(input: Record<string, never>): void;
  };
  queries: {
    /** null: no such account. */
    get(input: null): AccountRow | null;
    /** Whether one more task may wait. */
    hasRoom(input: null): boolean;
  };
  effects: {
    startedTasks(input: { after: string }): StartedTasks;
  };
};

export const account = actorRef<AccountContract>('account');

/** A task's name for a place of one of its agents; `number` is never used again by that task. */
export function placeName(taskId: string, number: number): string {
  return `${taskId}/${number}`;
}

export function taskOfPlace(place: string): string {
  return place.slice(0, place.indexOf('/'));
}
