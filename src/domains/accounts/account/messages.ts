/** Commands and queries of an account. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import type { Overrides } from '../../../storage/account-overrides.ts';
import type { AccountRow } from './entity.ts';

export type CreateAccount = { registrationId: string; claimedBy: string };

/** What an agent and its task have used since the last report. */
export type Usage = {
  /** The agent's task; answered with `counted`, so that no turn begins beyond a limit. null: no answer is needed. */
  place: string | null;
  tokens: number;
  workedMs: number;
  /** `workedMs` is what it has worked since it was created; null: it has not worked. */
  agent: { id: string; name: string; workedMs: number } | null;
};

/** Tasks that have started and not ended, in the order of their ids. */
export type StartedTasks = { ids: string[]; areAll: boolean };

/** Amounts are cents of USD. `processorId`: the subscription's id at the payment processor, where it has been paid and will renew it; else null. */
export type ChangePlan = { plan: Plan; billingPeriod: BillingPeriod; paymentId: string; amountMinor: number; processorId: string | null };

/**
 * `changed`: the better plan holds and has its invoice. `waiting`: the requested plan is no better; nothing is charged. `dearer`: more is due by now
 * than was promised, and nothing is charged.
 *
 * @property before the plan subscribed to until then
 * @property replaced the processor's subscription that a better plan replaces, to be ended there; else null
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
    /** Sent by the e-mail address that registers it; answered with `created`. Repeating it changes nothing. */
    create(input: CreateAccount): null;
    /** A new task; answered with `begin` when it is its turn, and before with `mustWait` where that is not at once. */
    taskWaits(input: { taskId: string }): void;
    /**
     * `started`: it counts as used. `places`: those that its agents were given and have not returned; `asked`: those that are only requested.
     * `returnsPlaces`: it returns what it is given from now on; a task of an earlier version does not, and names all its places in `places`.
     */
    taskEnded(input: { taskId: string; started: boolean; places: string[]; asked?: string[]; returnsPlaces?: boolean }): void;
    /** A task was told to begin when it had ended: its place is free. */
    beganTooLate(input: { taskId: string }): void;
    /** A task wants a place for one of its agents; answered with `placeGiven` when it is its turn, and before with `placeLacking` where that is not at once. `place` comes from `placeName`. */
    agentWaits(input: { place: string }): void;
    /** A place is returned. `held` false: it was only requested; if it is given all the same, it is returned once more. */
    agentRests(input: { place: string; held?: boolean }): void;
    /** A task has been planned, which used so many tokens. */
    planned(input: { taskId: string; tokens: number }): void;
    used(input: Usage): void;
    /** What an operator has set, and when; an older setting than the known one changes nothing. */
    limitsChanged(input: { overrides: Overrides; changedAtMs: number }): void;
    /**
     * A better plan holds at once, and has an invoice; a lesser one, or another billing period, holds from the end of what is paid. The present plan
     * withdraws a waiting one. To be asked by an id: each time it is asked it takes effect.
     */
    changePlan(input: ChangePlan): PlanChange;
    /**
     * A payment processor has renewed the plan: writes an invoice, once for each term. False: it is known, or of a subscription that this account
     * does not have (any more).
     */
    periodPaid(input: PeriodPaid): boolean;
    /** A payment processor no longer renews the plan: the free one holds now. Retried until all terms paid, up to `paidUntilMs`, were reported. False: it is not this account's (any more). */
    subscriptionEnded(input: { processorId: string; paidUntilMs?: number }): boolean;
    /** By timer; the first command in a new period begins it, and pays for it. */
    beginPeriod(input: Record<string, never>): void;
    /**
     * Continues what was too much for one turn. `heard`: what a task assumes from now on; where that is wrong it is notified again, so that
     * it ends with the newest state in whatever order notifications arrive.
     */
    goOn(input: { heard?: { taskId: string; reached: boolean } }): void;
    /** Counts one more API key, made by the account's key in the same turn; `plan_required` where the account has as many as it may have. */
    addApiKey(input: Record<string, never>): void;
    /** A key was made where it could not be counted in the same turn. */
    apiKeyMade(input: Record<string, never>): void;
    /** A key was revoked. */
    apiKeyEnded(input: Record<string, never>): void;
    tellTasks(input: EffectResult<StartedTasks>): void;
    /** Continues telling waiting tasks why they wait. */
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
