/**
 * A checkout: open → paying → paid, or → cancelled, or → contacted. It is decided once, within half an hour.
 *
 * C1 Who pays is answered when the account has changed its plan. The account is asked by the checkout's id, so however often a crash repeats it,
 *    the plan changes once and says once what it was before.
 * C2 There is an invoice exactly when the plan got better by it: of two checkouts for one plan that are paid at once, one is charged.
 */
import { AppError } from '../../errors.ts';
import { idPrefixes } from '../../ids.ts';
import { toMajor } from '../../money.ts';
import { isUpgrade, planPriceMinor } from '../../plans.ts';
import type { MailProvider } from '../../providers/mail/port.ts';
import { Checkout, type CheckoutRow, Invoice, type InvoiceRow } from '../../storage/entities/checkout.ts';
import { account, type PlanChange } from '../account/messages.ts';
import { yearEndMs } from '../account/period.ts';
import type { ActorSystem } from '../runtime/actor-system.ts';
import { defineActor, type EffectContext, type EffectResult, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type CheckoutContract, type ContactRequest, checkout, type OpenCheckout } from './messages.ts';

type State = CheckoutRow | null;

export type CheckoutActorParts = {
  actors: Pick<ActorSystem, 'ask'>;
  mail: MailProvider;
  /** Who answers requests for an offer. */
  salesAddress: string;
};

export const checkoutLifeMs = 30 * 60_000;
const paidKey = 'paid';
const toldKey = 'told';
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** The account knows a command again for a day. */
const giveUpAfterMs = 23 * 3_600_000;

export function checkoutActor({ actors, mail, salesAddress }: CheckoutActorParts) {
  return defineActor<CheckoutRow, CheckoutContract>({
    ref: checkout,
    entity: Checkout,
    commands: { open, pay, cancel, contact, subscribed, subscribeAgain, told },
    queries: { get: (state) => state },
    effects: {
      subscribe: {
        run: ({ accountId, plan }: Pick<CheckoutRow, 'accountId' | 'plan'>, { actorId }: EffectContext) =>
          actors.ask(account, accountId, 'changePlan', { plan }, { commandId: actorId }),
        repeatable: () => true,
        timeoutMs: 30_000,
        isBrief: true,
        outcome: 'subscribed',
      },
      tellSales: {
        run: (input: ContactRequest & Pick<CheckoutRow, 'accountId' | 'plan'>, { effectId }: EffectContext) =>
          mail.send({ to: salesAddress, subject: `Somebody asks for the ${input.plan} plan`, text: lettered(input) }, effectId),
        repeatable: () => false,
        timeoutMs: 60_000,
        outcome: 'told',
      },
    },
    idleTimeoutMs: 60_000,
  });
}

function open(state: State, input: OpenCheckout, ctx: TurnContext): Turn<CheckoutRow, CheckoutRow> {
  if (state !== null) return { state, reply: state };
  const { nowMs } = ctx;
  const opened: CheckoutRow = {
    ...input,
    id: ctx.id,
    status: 'open',
    createdAt: nowMs,
    expiresAt: nowMs + checkoutLifeMs,
    decidedAt: null,
  } as CheckoutRow;
  return { state: opened, reply: opened };
}

function pay(state: State, _input: null, ctx: TurnContext): Turn<CheckoutRow, CheckoutRow> {
  if (state?.status === 'paying') {
    ctx.defer(paidKey);
    return { state, reply: state };
  }
  const current = undecided(state, ctx);
  if (planPriceMinor(current.plan, current.billingPeriod) === null)
    throw new AppError('conflict', 'The price of this plan is agreed by contact');
  const paying: CheckoutRow = { ...current, status: 'paying', decidedAt: ctx.nowMs };
  subscribe(paying, ctx);
  ctx.defer(paidKey);
  return { state: paying, reply: paying };
}

function cancel(state: State, _input: null, ctx: TurnContext): Turn<CheckoutRow, CheckoutRow> {
  const cancelled: CheckoutRow = { ...undecided(state, ctx), status: 'cancelled', decidedAt: ctx.nowMs };
  return { state: cancelled, reply: cancelled };
}

function contact(state: State, input: ContactRequest, ctx: TurnContext): Turn<CheckoutRow, CheckoutRow> {
  const current = undecided(state, ctx);
  if (planPriceMinor(current.plan, current.billingPeriod) !== null) throw new AppError('conflict', 'This plan is paid, not asked for');
  const { accountId, plan } = current;
  ctx.run('tellSales', { ...input, accountId, plan });
  ctx.defer(toldKey);
  const contacted: CheckoutRow = { ...current, status: 'contacted', decidedAt: ctx.nowMs };
  return { state: contacted, reply: contacted };
}

/** What surely was not sent can be sent again. */
function told(state: State, { outcome }: EffectResult, ctx: TurnContext): Turn<State, null> {
  if (state === null || outcome.kind !== 'failed') {
    ctx.answer(toldKey, state);
    return { state, reply: null };
  }
  ctx.answer(toldKey, new AppError('unavailable', 'The message could not be sent; try again shortly', { retryAfterS: 30 }));
  return { state: { ...state, status: 'open', decidedAt: null }, reply: null };
}

function subscribed(state: State, { outcome }: EffectResult<PlanChange>, ctx: TurnContext): Turn<State, null> {
  if (state?.status !== 'paying') return { state, reply: null };
  if (outcome.kind !== 'done') {
    const triedForMs = ctx.nowMs - state.decidedAt!;
    const delayMs = Math.min(maxRetryMs, Math.max(firstRetryMs, triedForMs));
    if (triedForMs < giveUpAfterMs) ctx.schedule('subscribe', ctx.nowMs + delayMs, 'subscribeAgain', {});
    return { state, reply: null };
  }
  const paid: CheckoutRow = { ...state, status: 'paid' };
  if (paid.amountMinor > 0 && isUpgrade(outcome.value.before, paid.plan)) addInvoice(paid, outcome.value, ctx);
  ctx.answer(paidKey, paid);
  return { state: paid, reply: null };
}

function subscribeAgain(state: State, _input: object, ctx: TurnContext): Turn<State, null> {
  if (state?.status === 'paying') subscribe(state, ctx);
  return { state, reply: null };
}

function subscribe({ accountId, plan }: CheckoutRow, ctx: TurnContext): void {
  ctx.run('subscribe', { accountId, plan });
}

function addInvoice(
  { id: checkoutId, accountId, plan, billingPeriod, amountMinor }: CheckoutRow,
  change: PlanChange,
  ctx: TurnContext,
): void {
  const { signedUpAtMs, periodStartsAtMs, periodEndsAtMs } = change;
  const invoice: InvoiceRow = {
    id: ctx.newId(idPrefixes.invoice),
    accountId,
    checkoutId,
    plan,
    billingPeriod,
    amountMinor,
    status: 'paid',
    periodStart: periodStartsAtMs,
    periodEnd: billingPeriod === 'annual' ? yearEndMs(signedUpAtMs, periodStartsAtMs) : periodEndsAtMs,
    createdAt: ctx.nowMs,
  } as InvoiceRow;
  ctx.append(Invoice, invoice);
  ctx.emit({
    accountId,
    type: 'invoice.created',
    data: { invoice_id: invoice.id, amount: toMajor(amountMinor), status: 'paid', plan, billing_period: billingPeriod },
  });
}

function undecided(state: State, ctx: TurnContext): CheckoutRow {
  if (state === null) throw new AppError('not_found', 'Checkout not found');
  if (state.status !== 'open') throw new AppError('conflict', `The checkout is ${state.status} already`);
  if (ctx.nowMs >= state.expiresAt) throw new AppError('conflict', 'The checkout has expired');
  return state;
}

function lettered({ name, email, message, accountId, plan }: ContactRequest & Pick<CheckoutRow, 'accountId' | 'plan'>): string {
  return [`Account: ${accountId}`, `Plan: ${plan}`, `Name: ${name}`, `E-mail: ${email}`, '', message].join('\n');
}
