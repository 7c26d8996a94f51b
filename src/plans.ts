/** The limits of each plan. An operator may override any limit of one account (`storage/account-overrides.ts`). */

export const plans = ['free', 'pro', 'power', 'business'] as const;
export type Plan = (typeof plans)[number];

/** Each is a count of 0 or more; `unlimited` removes the limit. */
export type PlanLimits = {
  readonly requestsPerMinute: number;
  /** Of one key, or of one user's sessions, at one node. */
  readonly concurrentRequests: number;
  readonly websockets: number;
  /** Tasks that may finish in a billing period. */
  readonly tasksLimit: number;
  /** Per billing period; a credit is 1,000 tokens. */
  readonly credits: number;
  /** Per billing period. */
  readonly agentMinutes: number;
  readonly concurrentTasks: number;
  readonly concurrentAgents: number;
  /** Keys that are not revoked, live and test ones together. */
  readonly apiKeys: number;
  /** Of files in all workspaces, newest versions only. */
  readonly storageBytes: number;
  readonly storageFiles: number;
};

export const unlimited = -1;

const gibibyte = 2 ** 30;

/** All keys and sessions of an account together have this multiple of one key's rate, concurrent requests and WebSocket connections. */
export const accountTimes = 5;

/** A multiple of a limit. */
export function timesLimit(limit: number, factor: number): number {
  return limit === unlimited ? unlimited : limit * factor;
}

/** The displayed name. */
export function planName(plan: Plan): string {
  return plan[0]!.toUpperCase() + plan.slice(1);
}

export const planLimits: { readonly [P in Plan]: PlanLimits } = {
  free: {
    requestsPerMinute: 60,
    concurrentRequests: 10,
    websockets: 1,
    tasksLimit: 50,
    credits: 100,
    agentMinutes: 60,
    concurrentTasks: 1,
    concurrentAgents: 1,
    apiKeys: 5,
    storageBytes: gibibyte,
    storageFiles: 1_000,
  },
  pro: {
    requestsPerMinute: 300,
    concurrentRequests: 50,
    websockets: 5,
    tasksLimit: 500,
    credits: 2_500,
    agentMinutes: 2_000,
    concurrentTasks: 5,
    concurrentAgents: 5,
    apiKeys: 20,
    storageBytes: 10 * gibibyte,
    storageFiles: 10_000,
  },
  power: {
    requestsPerMinute: 1_000,
    concurrentRequests: 100,
    websockets: 20,
    tasksLimit: 50_000,
    credits: 10_000,
    agentMinutes: 10_000,
    concurrentTasks: 20,
    concurrentAgents: 20,
    apiKeys: 50,
    storageBytes: 100 * gibibyte,
    storageFiles: 100_000,
  },
  business: {
    requestsPerMinute: 5_000,
    concurrentRequests: 500,
    websockets: 100,
    tasksLimit: unlimited,
    credits: unlimited,
    agentMinutes: unlimited,
    concurrentTasks: unlimited,
    concurrentAgents: unlimited,
    apiKeys: 200,
    storageBytes: 1_024 * gibibyte,
    storageFiles: 1_000_000,
  },
};

/** Mails that an account's agents may send to people within 24 hours. */
export const mailsPerDay: { readonly [P in Plan]: number } = { free: 10, pro: 100, power: 300, business: 1_000 };

/** Which plans may trade with real money. */
export const liveTradingIn: { readonly [P in Plan]: boolean } = { free: false, pro: true, power: true, business: true };

export const billingPeriods = ['monthly', 'annual'] as const;
export type BillingPeriod = (typeof billingPeriods)[number];

/** USD cents a month; null: individual agreement. */
const monthlyPriceMinor: { readonly [P in Plan]: number | null } = { free: 0, pro: 4_900, power: 14_900, business: null };

/** USD cents for the whole billing period; null: individual agreement. */
export function planPriceMinor(plan: Plan, period: BillingPeriod): number | null {
  const monthly = monthlyPriceMinor[plan];
  return monthly === null ? null : monthly * (period === 'annual' ? 12 : 1);
}

export function isUpgrade(from: Plan, to: Plan): boolean {
  return plans.indexOf(to) > plans.indexOf(from);
}

/** The limits of an account: its plan's, unless an operator has overridden the plan or a limit. Null means: not set. */
export function limitsOf(
  plan: Plan,
  overrides: { readonly plan: Plan | null } & { readonly [L in keyof PlanLimits]: number | null },
): PlanLimits {
  const own = planLimits[overrides.plan ?? plan];
  const names = Object.keys(own) as (keyof PlanLimits)[];
  return Object.fromEntries(names.map((name) => [name, overrides[name] ?? own[name]])) as PlanLimits;
}
