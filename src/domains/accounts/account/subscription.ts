/**
 * Payment of a plan: terms of one or twelve billing periods, each paid when it begins. A plan that begins within a term is paid for the
 * remaining days, including today; a replaced one is refunded likewise. Pure rules; amounts are cents, and every invoice's lines sum to its
 * amount.
 */
import { isoTimestamp } from '../../../clock.ts';
import { shareMinor } from '../../../money.ts';
import { type BillingPeriod, type Plan, planName, planPriceMinor } from '../../../plans.ts';
import type { AccountRow, Subscription } from './entity.ts';
import type { InvoiceLine } from './invoice-entity.ts';
import { periodAt, yearEndMs } from './period.ts';

export type Offer = { plan: Plan; billingPeriod: BillingPeriod };

/** The price of a term from now on, and the refund for the replaced one. */
export type Bill = { subscription: Subscription; lines: readonly InvoiceLine[] };

/** The paid amount: the lines sum to it. `creditMinor`: the account's credit for later invoices. */
export type Settled = { lines: InvoiceLine[]; amountMinor: number; creditMinor: number };

const dayMs = 86_400_000;

/** The price of a plan that begins now, in the current period; null: it has no fixed price. */
export function billFor(account: AccountRow, { plan, billingPeriod }: Offer, nowMs: number): Bill | null {
  const priceMinor = planPriceMinor(plan, billingPeriod);
  if (priceMinor === null || priceMinor === 0) return null;
  const { startsAtMs, endsAtMs } = periodAt(account.createdAt, nowMs);
  const paidUntilMs = billingPeriod === 'annual' ? yearEndMs(account.createdAt, startsAtMs) : endsAtMs;
  const terms = { plan, billingPeriod, nextBillingPeriod: billingPeriod, priceMinor, processorId: null };
  const subscription: Subscription = { ...terms, startsAtMs, paidUntilMs };
  return { subscription, lines: [termLine(subscription, nowMs), ...unused(account, nowMs)] };
}

/** Overpayment is kept as credit; underpayment is waived. @param paidMinor if it differs from the amount due */
export function settled(lines: readonly InvoiceLine[], paidMinor?: number): Settled {
  const sum = lines.reduce((total, { amountMinor }) => total + amountMinor, 0);
  const amountMinor = paidMinor ?? Math.max(0, sum);
  const creditMinor = Math.max(0, amountMinor - sum);
  if (amountMinor === sum) return { lines: [...lines], amountMinor, creditMinor };
  const description = creditMinor > 0 ? 'Kept as credit' : 'Let off: the price was promised';
  return { lines: [...lines, { description, amountMinor: amountMinor - sum }], amountMinor, creditMinor };
}

/**
 * The subscribed plan when a period begins: the waiting one, unless the paid term continues. A plan that a processor renews is ended by the
 * processor.
 */
export function planFrom(
  periodStartsAt: number,
  { plan, pendingPlan, subscription }: AccountRow,
): Pick<AccountRow, 'plan' | 'pendingPlan'> {
  const isActive = subscription !== null && !isOver(subscription, periodStartsAt);
  return isActive ? { plan, pendingPlan } : { plan: pendingPlan ?? plan, pendingPlan: null };
}

/** Whether the paid term ends with a period, and this service must renew it. */
export function isOver({ processorId, paidUntilMs }: Subscription, periodStartsAt: number): boolean {
  return processorId === null && paidUntilMs <= periodStartsAt;
}

/** The refund if the plan is replaced now. */
export function unused({ subscription, creditMinor }: AccountRow, nowMs: number): InvoiceLine[] {
  const unusedMinor = subscription === null ? 0 : leftMinor(subscription, nowMs);
  return [
    ...(unusedMinor > 0
      ? [{ description: `Unused time of ${named(subscription!)}, ${timeLeft(subscription!, nowMs)}`, amountMinor: -unusedMinor }]
      : []),
    ...(creditMinor > 0 ? [{ description: 'Credit', amountMinor: -creditMinor }] : []),
  ];
}

/** The price of a term from now on. */
export function termLine(term: Subscription, nowMs: number): InvoiceLine {
  return { description: `${named(term)}, ${timeLeft(term, nowMs)}`, amountMinor: leftMinor(term, nowMs) };
}

/** The price of the remaining days. */
function leftMinor(term: Subscription, nowMs: number): number {
  const { left, all } = daysOf(term, nowMs);
  return shareMinor(term.priceMinor, left, all);
}

function timeLeft(term: Subscription, nowMs: number): string {
  const { left, all } = daysOf(term, nowMs);
  if (left < all) return `${left} of ${all} days`;
  return `${isoTimestamp(term.startsAtMs).slice(0, 10)} to ${isoTimestamp(term.paidUntilMs).slice(0, 10)}`;
}

/** Today counts as a whole day. */
function daysOf({ startsAtMs, paidUntilMs }: Subscription, nowMs: number): { left: number; all: number } {
  const days = (ms: number) => Math.max(0, Math.ceil(ms / dayMs));
  return { left: days(paidUntilMs - Math.max(nowMs, startsAtMs)), all: days(paidUntilMs - startsAtMs) };
}

function named({ plan, billingPeriod }: Offer): string {
  return `${planName(plan)}, ${billingPeriod}`;
}
