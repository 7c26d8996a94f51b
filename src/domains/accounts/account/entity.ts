/** Accounts: what a customer has, uses and pays for, and what operators have overridden. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import type { Overrides } from '../../../storage/account-overrides.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

/** How many hold a place, and who waits for one, first come first served. */
export type Places = { held: number; waiting: string[] };

/** A plan that is paid term by term. A term is a billing period, or twelve. */
export type Subscription = {
  plan: Plan;
  billingPeriod: BillingPeriod;
  /** Of the terms to come. */
  nextBillingPeriod: BillingPeriod;
  /** The term that is paid: from its first moment to the first of the next. */
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
    /** The subscribed plan; an operator may have overridden it for a time. */
    plan: p.text().$type<Plan>(),
    /** Replaces `plan` when what is paid ends. */
    pendingPlan: p.text().$type<Plan>().strictNullable(),
    /** null: nothing is paid for the plan. */
    subscription: json<Subscription>().strictNullable(),
    /** Paid and not used, in cents of USD: deducted from the next invoices. */
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
    /** Agents at work, by the names their tasks have given their places. */
    agentPlaces: json<Places>(),
    /** Its tasks were notified that a limit of the plan is reached, and not yet that they may go on. */
    limitReached: p.boolean(),
    /** API keys that have not been revoked. */
    apiKeys: p.integer(),
    /** What an operator has set, as far as the account knows; null: nothing ever. */
    overrides: json<Overrides>().strictNullable(),
    overridesChangedAt: epochMs().strictNullable(),
  },
});
export type AccountRow = InferEntity<typeof Account>;

/** What an operator has set for one account in place of its plan or of single limits of it. Null: nothing; -1: unlimited. */
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

/** What an agent has worked in a billing period: one row an agent and period. */
export const AgentUsage = defineEntity({
  name: 'AgentUsage',
  tableName: 'agent_usage',
  properties: {
    agentId: p.text().primary(),
    periodStartsAt: epochMs().primary(),
    accountId: p.text(),
    agentName: p.text(),
    /** Since it was created; what it was before the period is in the row of an earlier one. */
    workedMs: p.bigint('number'),
  },
});
/**
 * What keeps a task waiting: the plan lets no more tasks or agents work at once (`allowed` is how many), or what it allows in a billing
 * period is used up until `resetsAtMs`.
 */
export type WaitingFor =
  | { kind: 'concurrency'; of: 'tasks' | 'agents'; allowed: number }
  | { kind: 'plan_limit'; of: 'tasks' | 'agent_minutes' | 'credits'; allowed: number; resetsAtMs: number };
