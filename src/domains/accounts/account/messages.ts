/** Commands and queries of an account. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import type { Overrides } from '../../../storage/account-overrides.ts';
import type { AccountRow } from './entity.ts';

export type CreateAccount = { registrationId: string; claimedBy: string };

/** The usage of an agent and its task since the last report. */
export type Usage = {
  /** The agent's place; answered with `counted`, so that no turn begins beyond a limit. null: no answer is needed. */
  place: string | null;
  tokens: number;
  workedMs: number;
  /** `workedMs` is the time worked since its creation; null: it has not worked. */
  agent: { id: string; name: string; workedMs: number } | null;
};

/** Tasks that have started and not ended, in the order of their ids. */
export type StartedTasks = { ids: string[]; areAll: boolean };

/** Amounts are cents of USD. `processorId`: the subscription's id at the payment processor that was paid and will renew it; otherwise null. */
export type ChangePlan = { plan: Plan; billingPeriod: BillingPeriod; paymentId: string; amountMinor: number; processorId: string | null };

/**
 * `changed`: the better plan holds and has its invoice. `waiting`: the requested plan is no better; nothing is charged. `dearer`: the
 * amount due now exceeds the promised amount, and nothing is charged.
 *
 * @property before the previous subscribed plan
 * @property replaced the processor's subscription that a better plan replaces, to be ended there; otherwise null
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
    /** A new task; answered with `begin` when it is its turn, and before that with `mustWait` if that is not at once. */
    taskWaits(input: { taskId: string }): void;
    /**
     * `started`: it counts as used. `places`: given to its agents and not returned; `asked`: only requested. `returnsPlaces`: it returns
     * places that it is given from now on; a task of an earlier version does not, and lists all its places in `places`.
     */
    taskEnded(input: { taskId: string; started: boolean; places: string[]; asked?: string[]; returnsPlaces?: boolean }): void;
    /** A task received `begin` when it had already ended: its place is free. */
    beganTooLate(input: { taskId: string }): void;
    /**
     * A task wants a place for one of its agents; answered with `placeGiven` when it is its turn, and before that with `placeLacking` if
     * that is not at once. `place` comes from `placeName`.
     */
    agentWaits(input: { place: string }): void;
    /** A place is returned. `held` false: it was only requested; if it is given nevertheless, it is returned once more. */
    agentRests(input: { place: string; held?: boolean }): void;
    /** A task has been planned, which used this many tokens. */
    planned(input: { taskId: string; tokens: number }): void;
    used(input: Usage): void;
    /** An operator's overrides, and when they were set; an older setting than the known one changes nothing. */
    limitsChanged(input: { overrides: Overrides; changedAtMs: number }): void;
    /**
     * A better plan holds at once, and has an invoice; a lesser one, or another billing period, holds from the end of the paid term.
     * Choosing the present plan withdraws a waiting one. Ask with a command id: every ask takes effect.
     */
    changePlan(input: ChangePlan): PlanChange;
    /**
     * A payment processor has renewed the plan: writes an invoice, once for each term. False: the term is known, or the subscription is
     * not, or no longer, this account's.
     */
    periodPaid(input: PeriodPaid): boolean;
    /**
     * A payment processor no longer renews the plan: the free plan holds now. Retried until all paid terms, up to `paidUntilMs`, were
     * reported. False: the subscription is not, or no longer, this account's.
     */
    subscriptionEnded(input: { processorId: string; paidUntilMs?: number }): boolean;
    /** By timer; the first command in a new period begins it, and pays for it. */
    beginPeriod(input: Record<string, never>): void;
    /**
     * Continues work that was too much for one turn. `heard`: the state that a task assumes now; if it is wrong the task is notified again,
     * so that it ends with the newest state in any order of notifications.
     */
    goOn(input: { heard?: { taskId: string; reached: boolean } }): void;
    /** Counts one more API key, made by the account's key in the same turn; `plan_required` if the account has reached its number of keys. */
    addApiKey(input: Record<string, never>): void;
    /** A key was made that could not be counted in the same turn. */
    apiKeyMade(input: Record<string, never>): void;
    /** A key was revoked. */
    apiKeyEnded(input: Record<string, never>): void;
    /** Outcome of the effect: notifies these tasks that the plan's limit is reached or not reached. */
    tellTasks(input: EffectResult<StartedTasks>): void;
    /** Continues to send waiting tasks the reason. */
    tellWaiting(input: { after: string }): void;
    /** By timer: reads the started tasks again. */
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
