/** Payments of an account: a turn writes the invoice together with the paid state, so that there is one exactly if the other holds. */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { isoTimestamp } from '../../../clock.ts';
import { toMajor } from '../../../money.ts';
import { accountsIds } from '../ids.ts';
import type { AccountRow, Subscription } from './entity.ts';
import { Invoice, type InvoiceRow } from './invoice-entity.ts';
import type { AccountContract, ChangePlan, PeriodPaid } from './messages.ts';
import { billFor, isOver, type Settled, settled, termLine, unused } from './subscription.ts';

/**
 * Upgrades the plan at once. The promised amount is paid: any excess is kept as credit. null: the promised amount is less than the amount
 * due now, and has not been paid yet.
 */
export function upgraded(
  account: AccountRow,
  { paymentId, amountMinor, processorId, ...offer }: ChangePlan,
  ctx: TurnContext<AccountContract>,
): AccountRow | null {
  const next: AccountRow = { ...account, plan: offer.plan, pendingPlan: null };
  const due = billFor(account, offer, ctx.nowMs);
  if (due === null) return { ...next, subscription: null, creditMinor: settled(unused(account, ctx.nowMs)).creditMinor };
  if (settled(due.lines).amountMinor > amountMinor && processorId === null) return null;
  return paid(next, { ...due.subscription, processorId }, settled(due.lines, amountMinor), paymentId, ctx);
}

/** Changes to a plan, or a billing period, that is not better: from the end of the paid term. */
export function waitingFor(account: AccountRow, { plan, billingPeriod }: ChangePlan): AccountRow {
  const { subscription } = account;
  return {
    ...account,
    pendingPlan: plan === account.plan ? null : plan,
    subscription: subscription && { ...subscription, nextBillingPeriod: billingPeriod },
  };
}

/** Pays for the next term, if one has ended. */
export function renewed(account: AccountRow, ctx: TurnContext<AccountContract>): AccountRow {
  const { id, plan, subscription, periodStartsAt } = account;
  if (subscription === null || !isOver(subscription, periodStartsAt)) return account;
  const bill = billFor(account, { plan, billingPeriod: subscription.nextBillingPeriod }, ctx.nowMs);
  if (bill === null) return { ...account, subscription: null };
  return paid(account, bill.subscription, settled(bill.lines), `${id}/${isoTimestamp(periodStartsAt).slice(0, 10)}`, ctx);
}

/** Records a term that the processor was paid for. */
export function withPaidTerm(
  account: AccountRow,
  { paymentId, amountMinor, ...term }: PeriodPaid,
  ctx: TurnContext<AccountContract>,
): AccountRow {
  const subscription = { ...term, nextBillingPeriod: term.billingPeriod, priceMinor: amountMinor };
  const { lines } = settled([termLine(subscription, subscription.startsAtMs)]);
  const next: AccountRow = { ...account, plan: term.plan, pendingPlan: null };
  return paid(next, subscription, { lines, amountMinor, creditMinor: account.creditMinor }, paymentId, ctx);
}

function paid(
  account: AccountRow,
  subscription: Subscription,
  { lines, amountMinor, creditMinor }: Settled,
  paymentId: string,
  ctx: TurnContext<AccountContract>,
): AccountRow {
  const { plan, billingPeriod, startsAtMs: periodStart, paidUntilMs: periodEnd } = subscription;
  const id = ctx.newId(accountsIds.invoice, account.id);
  const what = { paymentId, plan, billingPeriod, amountMinor, lines, status: 'paid' as const, periodStart, periodEnd };
  ctx.append(Invoice, { id, accountId: account.id, ...what, createdAt: ctx.nowMs } satisfies Omit<InvoiceRow, symbol>);
  const data = { invoice_id: id, amount: toMajor(amountMinor), status: 'paid', plan, billing_period: billingPeriod };
  ctx.emit({ accountId: account.id, type: 'invoice.created', data });
  return { ...account, subscription, creditMinor };
}
