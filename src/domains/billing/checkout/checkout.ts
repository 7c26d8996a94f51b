/**
 * A checkout: open → paying → paid, or → cancelled, or → contacted, on a page of this service. With a payment processor: opening → open →
 * paying → paid, or → expired; only the processor decides, on its own page. It is decided once, within half an hour. A checkout without a
 * plan pays into the wallet, which needs a processor: it does not ask the account, and is paid in the turn that finds the payment.
 *
 * C1 `pay` is answered when the account has changed its plan. The account is asked with the checkout's id, so the plan changes once,
 *    however often a crash repeats the ask.
 * C2 The account writes the invoice, in the turn that changes the plan: of two checkouts for one plan that are paid at once, one is
 *    charged. A processor's payment for the other is refunded.
 * C3 A notification of the processor is a hint: only its answer to a query counts. It is queried at every hint, periodically, and when the
 *    page expires, so a payment is found without a notification.
 * C4 Money for the wallet is sent as a message in the turn that finds it paid, under a transfer id derived from the checkout's: it is
 *    booked once.
 */
import type { InferEntity } from '@mikro-orm/core';
import {
  type ActorDefinition,
  defineActor,
  type EffectResult,
  type EffectsOf,
  type Turn,
  type TurnContext,
} from '../../../actors/define-actor.ts';
import { elapsedBackoffMs } from '../../../backoff.ts';
import { AppError } from '../../../errors.ts';
import { planPriceMinor } from '../../../plans.ts';
import { transferOf, wallet } from '../../commerce/contract.ts';
import { renewal } from '../renewal/messages.ts';
import type { FindPage, NotifySales, OpenPage, Subscribe } from './effects.ts';
import { Checkout, type CheckoutRow, type PlanCheckoutRow } from './entity.ts';
import { checkoutInputs } from './inputs.ts';
import {
  type CheckoutContract,
  type ContactRequest,
  checkout,
  type OpenCheckout,
  type PageFound,
  paymentBounds,
  type Subscribed,
} from './messages.ts';

type State = CheckoutRow | null;

export const checkoutLifeMs = 30 * 60_000;
const openedKey = 'opened';
const pageFoundKey = 'pageFound';
const paidKey = 'paid';
const contactedKey = 'salesNotified';
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** The account recognises a repeated command for a day. */
const retryForMs = 23 * 3_600_000;
/** The processor is queried about its page after one minute, two, four …, finally every hour. */
const firstReadMs = 60_000;
const maxReadMs = 3_600_000;
/** No payment method takes longer. */
const pollForMs = 30 * 86_400_000;

/** @param takesPayments whether a payment processor takes payments */
export function checkoutActor(
  effects: EffectsOf<CheckoutContract>,
  { takesPayments }: { takesPayments: boolean },
): ActorDefinition<CheckoutRow, CheckoutContract> {
  const open = takesPayments ? openAtProcessor : openHere;
  const pay = takesPayments ? payNothing : payHere;
  return defineActor<CheckoutRow, CheckoutContract>({
    ref: checkout,
    entity: Checkout,
    inputs: checkoutInputs,
    commands: {
      open,
      opened,
      look: findPage,
      lookAgain: findPageAgain,
      looked: pageFound,
      pay,
      cancel,
      contact,
      subscribed,
      subscribeAgain,
      returned,
      returnAgain,
      told: salesNotified,
    },
    queries: { get: (state) => state },
    effects,
    idleTimeoutMs: 60_000,
  });
}

function openHere(state: State, input: OpenCheckout, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  const opened = state ?? newCheckout(input, 'open', ctx);
  return { state: opened, reply: opened };
}

/** A price is paid at the processor; a checkout that needs a person, or costs nothing, is decided on a page of this service. */
function openAtProcessor(state: State, input: OpenCheckout, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  if (state === null && input.lines.length === 0) return openHere(state, input, ctx);
  if (state?.status === 'opening') ctx.defer(openedKey);
  // The processor returned no page: another request starts again.
  if (state !== null && state.status !== 'failed') return { state, reply: state };
  const opening = newCheckout(atLeast(paymentBounds.leastMinor, input), 'opening', ctx);
  const { accountId, plan, billingPeriod, amountMinor, expiresAt: expiresAtMs } = opening;
  const { successUrl, cancelUrl, ownPage } = input;
  const page = {
    accountId,
    plan,
    billingPeriod,
    amountMinor,
    expiresAtMs,
    successUrl: successUrl ?? ownPage,
    cancelUrl: cancelUrl ?? ownPage,
  };
  ctx.run('openPage', page satisfies OpenPage);
  ctx.defer(openedKey);
  return { state: opening, reply: opening };
}

function opened(
  state: State,
  { outcome }: EffectResult<{ sessionId: string; url: string }>,
  ctx: TurnContext<CheckoutContract>,
): Turn<State, null> {
  if (state?.status !== 'opening') return { state, reply: null };
  if (outcome.kind !== 'done') {
    ctx.answer('open', openedKey, noAnswer());
    return { state: { ...state, status: 'failed' }, reply: null };
  }
  const { sessionId, url: pageUrl } = outcome.value;
  const next: CheckoutRow = { ...state, status: 'open', sessionId, pageUrl };
  scheduleRead(next, ctx);
  ctx.answer('open', openedKey, next);
  return { state: next, reply: null };
}

function findPage(state: State, _input: null, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  if (state === null) throw new AppError('not_found', 'Checkout not found');
  if (state.status === 'opening') throw new AppError('unavailable', 'The page is not known yet', { retryAfterS: 5 });
  if (!isUndecidedThere(state)) return { state, reply: state };
  startRead(state, ctx);
  ctx.defer(pageFoundKey);
  return { state, reply: state };
}

function findPageAgain(state: State, _input: object, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state !== null && isUndecidedThere(state)) startRead(state, ctx);
  return { state, reply: null };
}

function pageFound(state: State, { outcome }: EffectResult<PageFound>, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state === null || !isUndecidedThere(state)) {
    if (state !== null) ctx.answer('look', pageFoundKey, state);
    return { state, reply: null };
  }
  if (outcome.kind !== 'done') {
    scheduleRead(state, ctx);
    ctx.answer('look', pageFoundKey, noAnswer());
    return { state, reply: null };
  }
  const next = found(state, outcome.value, ctx);
  ctx.answer('look', pageFoundKey, next);
  return { state: next, reply: null };
}

function found(state: CheckoutRow, page: PageFound, ctx: TurnContext<CheckoutContract>): CheckoutRow {
  const decidedAt = ctx.nowMs;
  switch (page.kind) {
    case 'open':
    case 'waits': {
      const next: CheckoutRow = { ...state, status: page.kind === 'open' ? 'open' : 'waiting' };
      scheduleRead(next, ctx);
      return next;
    }
    case 'ended':
      return { ...state, status: 'expired', decidedAt };
    case 'mismatched':
      return { ...state, status: 'mismatched', decidedAt };
    case 'paid': {
      const { accountId, amountMinor } = state;
      if (state.plan === null) {
        ctx.send(wallet, accountId, 'deposit', { transferId: transferOf(ctx.id), amountMinor, source: 'card' });
        return { ...state, status: 'paid', payer: page.payer, decidedAt };
      }
      const paying: PlanCheckoutRow = { ...state, status: 'paying', payer: page.payer, decidedAt };
      subscribe(paying, ctx);
      return paying;
    }
  }
}

/** On a page that was opened before a processor was configured, only a free checkout can be completed. */
function payNothing(state: State, input: null, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  if (state?.status === 'open' && state.amountMinor > 0)
    throw new AppError('conflict', 'This is paid elsewhere by now. Ask for a new page.');
  return payHere(state, input, ctx);
}

function payHere(state: State, _input: null, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  if (state?.status === 'paying' && state.sessionId === null) {
    ctx.defer(paidKey);
    return { state, reply: state };
  }
  const current = undecided(state, ctx);
  if (planPriceMinor(current.plan, current.billingPeriod) === null)
    throw new AppError('conflict', 'The price of this plan is agreed by contact');
  const paying: PlanCheckoutRow = { ...current, status: 'paying', decidedAt: ctx.nowMs };
  subscribe(paying, ctx);
  ctx.defer(paidKey);
  return { state: paying, reply: paying };
}

function cancel(state: State, _input: null, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  const cancelled: CheckoutRow = { ...undecided(state, ctx), status: 'cancelled', decidedAt: ctx.nowMs };
  return { state: cancelled, reply: cancelled };
}

function contact(state: State, input: ContactRequest, ctx: TurnContext<CheckoutContract>): Turn<CheckoutRow, CheckoutRow> {
  const current = undecided(state, ctx);
  if (planPriceMinor(current.plan, current.billingPeriod) !== null) throw new AppError('conflict', 'This plan is paid, not asked for');
  const { accountId, plan } = current;
  ctx.run('tellSales', { ...input, accountId, plan } satisfies NotifySales);
  ctx.defer(contactedKey);
  const contacted: CheckoutRow = { ...current, status: 'contacted', decidedAt: ctx.nowMs };
  return { state: contacted, reply: contacted };
}

/** A message that certainly was not sent can be sent again. */
function salesNotified(state: State, { outcome }: EffectResult, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state === null || outcome.kind !== 'failed') {
    if (state !== null) ctx.answer('contact', contactedKey, state);
    return { state, reply: null };
  }
  ctx.answer('contact', contactedKey, new AppError('unavailable', 'The message could not be sent; try again shortly', { retryAfterS: 30 }));
  return { state: { ...state, status: 'open', decidedAt: null }, reply: null };
}

function subscribed(state: State, { outcome }: EffectResult<Subscribed>, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state?.status !== 'paying' || state.plan === null) return { state, reply: null };
  if (outcome.kind !== 'done') {
    const triedForMs = ctx.nowMs - state.decidedAt!;
    if (triedForMs < retryForMs)
      ctx.schedule('subscribe', ctx.nowMs + elapsedBackoffMs(triedForMs, firstRetryMs, maxRetryMs), 'subscribeAgain', {});
    return { state, reply: null };
  }
  const { change, renewedBy, paidUntilMs } = outcome.value;
  if (change.kind === 'dearer') {
    ctx.answer('pay', paidKey, new AppError('conflict', 'The price has changed meanwhile, and nothing was charged. Ask for a new page.'));
    return { state: { ...state, status: 'cancelled' }, reply: null };
  }
  if (change.kind === 'waiting' && state.payer !== null) {
    ctx.run('giveBack', state.payer);
    return { state: { ...state, status: 'returning' }, reply: null };
  }
  const { plan, billingPeriod, payer } = state;
  if (change.replaced !== null) ctx.send(renewal, change.replaced, 'replaced', { accountId: state.accountId });
  if (change.kind === 'waiting' && renewedBy !== null) ctx.send(renewal, renewedBy, 'change', { plan, billingPeriod });
  if (payer !== null && paidUntilMs !== null)
    ctx.send(renewal, ctx.id, 'begin', { accountId: state.accountId, plan, billingPeriod, payer, paidUntilMs });
  const paid: CheckoutRow = { ...state, status: 'paid' };
  ctx.answer('pay', paidKey, paid);
  return { state: paid, reply: null };
}

function subscribeAgain(state: State, _input: object, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state?.status === 'paying' && state.plan !== null) subscribe(state, ctx);
  return { state, reply: null };
}

function returned(state: State, { outcome }: EffectResult, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state?.status !== 'returning') return { state, reply: null };
  if (outcome.kind === 'done') return { state: { ...state, status: 'returned' }, reply: null };
  const triedForMs = ctx.nowMs - state.decidedAt!;
  if (triedForMs < retryForMs)
    ctx.schedule('return', ctx.nowMs + elapsedBackoffMs(triedForMs, firstRetryMs, maxRetryMs), 'returnAgain', {});
  return { state, reply: null };
}

function returnAgain(state: State, _input: object, ctx: TurnContext<CheckoutContract>): Turn<State, null> {
  if (state?.status === 'returning') ctx.run('giveBack', state.payer!);
  return { state, reply: null };
}

function subscribe({ accountId, plan, billingPeriod, amountMinor, sessionId }: PlanCheckoutRow, ctx: TurnContext<CheckoutContract>): void {
  ctx.run('subscribe', { accountId, plan, billingPeriod, amountMinor, isRenewed: sessionId !== null } satisfies Subscribe);
}

function startRead({ sessionId, amountMinor, status, expiresAt }: CheckoutRow, ctx: TurnContext<CheckoutContract>): void {
  ctx.run('look', { sessionId: sessionId!, amountMinor, close: status === 'open' && ctx.nowMs >= expiresAt } satisfies FindPage);
}

function scheduleRead({ createdAt, expiresAt }: CheckoutRow, ctx: TurnContext<CheckoutContract>): void {
  const ageMs = ctx.nowMs - createdAt;
  if (ageMs >= pollForMs) return;
  const dueMs = ctx.nowMs + elapsedBackoffMs(ageMs, firstReadMs, maxReadMs);
  ctx.schedule('look', ctx.nowMs < expiresAt ? Math.min(dueMs, expiresAt) : dueMs, 'lookAgain', {});
}

function noAnswer(): AppError {
  return new AppError('unavailable', 'The payment processor does not answer now; try again shortly', { retryAfterS: 5 });
}

/** Whether the processor's page has not decided yet. */
function isUndecidedThere({ sessionId, status }: CheckoutRow): boolean {
  return sessionId !== null && (status === 'open' || status === 'waiting');
}

function newCheckout({ ownPage: _, ...input }: OpenCheckout, status: 'opening' | 'open', ctx: TurnContext<CheckoutContract>): CheckoutRow {
  const { id, nowMs } = ctx;
  const none = { sessionId: null, pageUrl: null, payer: null, decidedAt: null };
  const row: InferEntity<typeof Checkout> = { ...input, ...none, id, status, createdAt: nowMs, expiresAt: nowMs + checkoutLifeMs };
  // Plan and period come together, as they do in the input.
  return row as CheckoutRow;
}

function atLeast(leastMinor: number, input: OpenCheckout): OpenCheckout {
  const moreMinor = leastMinor - input.amountMinor;
  if (moreMinor <= 0) return input;
  const lines = [...input.lines, { description: 'The smallest payment there is; the rest is kept as credit', amountMinor: moreMinor }];
  return { ...input, amountMinor: leastMinor, lines };
}

function undecided(state: State, ctx: TurnContext<CheckoutContract>): PlanCheckoutRow {
  if (state === null) throw new AppError('not_found', 'Checkout not found');
  if (state.sessionId !== null || state.plan === null)
    throw new AppError('conflict', 'The payment processor decides this checkout on its own page');
  if (state.status !== 'open') throw new AppError('conflict', `The checkout is ${state.status} already`);
  if (ctx.nowMs >= state.expiresAt) throw new AppError('conflict', 'The checkout has expired');
  return state;
}
