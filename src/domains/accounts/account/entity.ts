/** Accounts: plan, usage and payments of a customer, and operators' overrides. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import type { Overrides } from '../../../storage/account-overrides.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

/** How many hold a place, and which ones wait for one, in order of arrival. */
export type Places = { held: number; waiting: string[] };

/** A plan that is paid term by term. A term is a billing period, or twelve. */
export type Subscription = {
  plan: Plan;
  billingPeriod: BillingPeriod;
  /** Of later terms. */
  nextBillingPeriod: BillingPeriod;
  /** The paid term: from its first moment to the first of the next. */
  startsAtMs: number;
  paidUntilMs: number;
  /** Of the whole term, in cents of USD. */
  priceMinor: number;
  /** Its id at the payment processor that renews it; null: this service renews it. */
  processorId: string | null;
};

export const Account = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.text().primary(),
    /** The subscribed plan; an operator may have overridden it. */
    plan: p.text().$type<Plan>(),
    /** Replaces `plan` when the paid term ends. */
    pendingPlan: p.text().$type<Plan>().strictNullable(),
    /** null: the plan is not paid for. */
    subscription: json<Subscription>().strictNullable(),
    /** Paid and unused, in cents of USD: deducted from the next invoices. */
    creditMinor: p.bigint('number'),
    createdAt: epochMs(),
    /** The billing period: from its first moment to the first of the next. */
    periodStartsAt: epochMs(),
    periodEndsAt: epochMs(),
    /** Of the period. */
    tasksUsed: p.integer(),
    workedMs: p.bigint('number'),
    tokensUsed: p.bigint('number'),
    /** Tasks that have started and not ended, by their ids. */
    taskPlaces: json<Places>(),
    /** Agents at work, by the place names of their tasks. */
    agentPlaces: json<Places>(),
    /** Its tasks were notified that a limit of the plan is reached, and not yet that it no longer is. */
    limitReached: p.boolean(),
    /** API keys that have not been revoked. */
    apiKeys: p.integer(),
    /** An operator's overrides, as far as the account knows; null: none ever. */
    overrides: json<Overrides>().strictNullable(),
    overridesChangedAt: epochMs().strictNullable(),
  },
});
export type AccountRow = InferEntity<typeof Account>;

/** An operator's overrides for one account, in place of its plan or of single limits. Null: none; -1: unlimited. */
export const AccountOverride = defineEntity({
  name: 'AccountOverride',
  tableName: 'account_override',
  properties: {
    accountId: p.text().primary(),
    plan: p.text().$type<Plan>().strictNullable(),
    requestsPerMinute: p.bigint('number').strictNullable(),
    concurrentRequests: p.bigint('number').strictNullable(),
    websockets: p.bigint('number').strictNullable(),
    tasksLimit: p.bigint('number').strictNullable(),
    credits: p.bigint('number').strictNullable(),
    agentMinutes: p.bigint('number').strictNullable(),
    concurrentTasks: p.bigint('number').strictNullable(),
    concurrentAgents: p.bigint('number').strictNullable(),
    apiKeys: p.bigint('number').strictNullable(),
    storageBytes: p.bigint('number').strictNullable(),
    storageFiles: p.bigint('number').strictNullable(),
    changedAt: epochMs(),
  },
});
export type AccountOverrideRow = InferEntity<typeof AccountOverride>;

/** The worked time of an agent in a billing period: one row per agent and period. */
export const AgentUsage = defineEntity({
  name: 'AgentUsage',
  tableName: 'agent_usage',
  properties: {
    agentId: p.text().primary(),
    periodStartsAt: epochMs().primary(),
    accountId: p.text(),
    agentName: p.text(),
    /** Since it was created; the value before the period is in an earlier row. */
    workedMs: p.bigint('number'),
  },
});
/**
 * Why a task waits: the plan allows no more tasks or agents at work at once (`allowed` is how many), or the allowance of a billing period
 * is used up until `resetsAtMs`.
 */
export type WaitingFor =
  | { kind: 'concurrency'; of: 'tasks' | 'agents'; allowed: number }
  | { kind: 'plan_limit'; of: 'tasks' | 'agent_minutes' | 'credits'; allowed: number; resetsAtMs: number };
