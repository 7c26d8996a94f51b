/** The usage summary of an account: its limits, and its usage of them. */
import { isUpgrade, limitsOf, type Plan, type PlanLimits, planLimits, unlimited } from '../../../plans.ts';
import type { AccountRow, WaitingFor } from './entity.ts';
import { periodAt } from './period.ts';
import { billFor, type Offer, planFrom, type Settled, settled } from './subscription.ts';

const tokensPerCredit = 1_000;
const msPerMinute = 60_000;

/** The plan in force: an operator's, otherwise the subscribed one. */
export function planOf(account: Pick<AccountRow, 'plan' | 'overrides'>): Plan {
  return account.overrides?.plan ?? account.plan;
}

export function limitsFor(account: Pick<AccountRow, 'plan' | 'overrides'>): PlanLimits {
  return account.overrides === null ? planLimits[account.plan] : limitsOf(account.plan, account.overrides);
}

/** The period limit that is used up: tasks, agent minutes or credits; null: none. */
export function limitReachedBy(account: AccountRow): WaitingFor | null {
  const { tasksLimit, agentMinutes, credits } = limitsFor(account);
  const used = [
    { of: 'tasks', used: account.tasksUsed, allowed: tasksLimit },
    { of: 'agent_minutes', used: account.workedMs / msPerMinute, allowed: agentMinutes },
    { of: 'credits', used: account.tokensUsed / tokensPerCredit, allowed: credits },
  ] as const;
  const up = used.find((one) => one.allowed !== unlimited && one.used >= one.allowed);
  return up === undefined ? null : { kind: 'plan_limit', of: up.of, allowed: up.allowed, resetsAtMs: account.periodEndsAt };
}

export function limitIsReached(account: AccountRow): boolean {
  return limitReachedBy(account) !== null;
}

/** Why a task of the account that wants to begin must wait. */
export function whyTasksWait(account: AccountRow): WaitingFor {
  return limitReachedBy(account) ?? { kind: 'concurrency', of: 'tasks', allowed: limitsFor(account).concurrentTasks };
}

/** The account in the period of `nowMs`: a new period begins with no usage, and on the waiting plan unless a paid term continues. */
export function inPeriodOf(nowMs: number, account: AccountRow): AccountRow {
  if (nowMs < account.periodEndsAt) return account;
  const { startsAtMs: periodStartsAt, endsAtMs: periodEndsAt } = periodAt(account.createdAt, nowMs);
  return { ...account, ...planFrom(periodStartsAt, account), periodStartsAt, periodEndsAt, tasksUsed: 0, workedMs: 0, tokensUsed: 0 };
}

export type UsageSummary = {
  plan: Plan;
  /** Subscribed to when the paid term ends. */
  nextPlan: Plan;
  /** null: the plan is not paid for. */
  paidUntilMs: number | null;
  creditMinor: number;
  periodStartsAtMs: number;
  periodEndsAtMs: number;
  tasksUsed: number;
  tasksLimit: number;
  minutesUsed: number;
  creditsRemaining: number;
};

/** For display; `unlimited` is unchanged. */
export function usageSummaryOf(row: AccountRow, nowMs: number): UsageSummary {
  const account = inPeriodOf(nowMs, row);
  const { tasksLimit, credits } = limitsFor(account);
  return {
    plan: planOf(account),
    nextPlan: account.pendingPlan ?? account.plan,
    paidUntilMs: account.subscription?.paidUntilMs ?? null,
    creditMinor: account.creditMinor,
    periodStartsAtMs: account.periodStartsAt,
    periodEndsAtMs: account.periodEndsAt,
    tasksUsed: account.tasksUsed,
    tasksLimit,
    minutesUsed: minutes(account.workedMs),
    creditsRemaining: credits === unlimited ? unlimited : Math.max(0, (credits * tokensPerCredit - account.tokensUsed) / tokensPerCredit),
  };
}

/** The amount due at once for a plan: nothing for a plan that is not better than the account's. */
export function quoteFor(row: AccountRow, offer: Offer, nowMs: number): Pick<Settled, 'lines' | 'amountMinor'> {
  const account = inPeriodOf(nowMs, row);
  const bill = isUpgrade(account.plan, offer.plan) ? billFor(account, offer, nowMs) : null;
  return bill === null ? { lines: [], amountMinor: 0 } : settled(bill.lines);
}

/** With two decimals. */
export function minutes(workedMs: number): number {
  return Math.round(workedMs / (msPerMinute / 100)) / 100;
}
