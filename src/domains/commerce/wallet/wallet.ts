/**
 * An account's money in one mode. Only the wallet writes it, so limits and balance hold however many cards and orders spend at once.
 *
 * W1 The balance is the sum of the wallet's ledger entries; both change in one turn.
 * W2 A payment is reported `paid` in the turn that books it, and is booked only if limits and free money allow it.
 * W3 Money set aside by a hold is never spent otherwise; a hold is captured, released or expires, once.
 * W4 A payment counts against the limits before the money is debited, so a waiting payment counts on the day it was approved.
 * W5 A wallet books only in its own mode, which its id contains: test money never becomes live money.
 */
import type { InferEntity } from '@mikro-orm/core';
import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { maxMinor, toMajor, walletCurrency } from '../../../money.ts';
import { accountSettings } from '../../accounts/contract.ts';
import { Wallet, WalletHold, type WalletRow } from './entity.ts';
import { walletInputs } from './inputs.ts';
import { bookTransfer } from './ledger.ts';
import { localDay } from './local-day.ts';
import {
  type Balance,
  type DecidedNow,
  type Deposit,
  type Deposited,
  type GivenBack,
  type Hold,
  type HoldResult,
  type Payment,
  type PaymentDecision,
  type PaymentNow,
  type PaymentRefusal,
  payerRef,
  type Spending,
  type SpendingLimits,
  type WalletContract,
  wallet,
  walletOwner,
} from './messages.ts';
import { inTimezone, limitReached, onDayOf, spend, unspend } from './spending.ts';

type State = WalletRow | null;

const maxOpenHolds = 1_000;
/** Payments that may wait for money. */
const maxWaiting = 1_000;
const expiryTimer = 'holds';

export const walletActor = defineActor<WalletRow, WalletContract>({
  ref: wallet,
  entity: Wallet,
  inputs: walletInputs,
  commands: {
    deposit,
    pay,
    payNow,
    giveBack,
    hold,
    capture: (state, { holdId, ...to }, ctx) => resolve(state, holdId, ctx, (held) => captured(held, holdId, to, ctx)),
    release: (state, { holdId }, ctx) => resolve(state, holdId, ctx, (held) => freed(held, holdId, 'released', ctx)),
    expireHolds,
    changeLimits,
    timezoneChanged(state, { timezone }, ctx) {
      const now = state ?? newWallet(ctx);
      if (now.timezone !== timezone)
        ctx.send(accountSettings, walletOwner(ctx.id).accountId, 'timezoneHeard', { walletId: ctx.id, timezone });
      return { state: inTimezone(now, timezone, ctx.nowMs), reply: undefined };
    },
  },
  queries: {
    balance: (state) => balanceOf(state),
    spending: (state, { nowMs }) => (state === null ? noSpending : spendingOf(onDayOf(state, nowMs))),
    get: (state) => state,
  },
});

function deposit(state: State, input: Deposit, ctx: TurnContext<WalletContract>): Turn<State, Deposited> {
  const { transferId, amountMinor, source } = input;
  const before = state ?? newWallet(ctx);
  if (before.balanceMinor + amountMinor > maxMinor) throw new AppError('conflict', 'The wallet cannot hold so much');
  bookTransfer({ transferId, amountMinor, against: 'deposits', reference: source, description: 'Deposit' }, ctx);
  const filled = { ...before, balanceMinor: before.balanceMinor + amountMinor, updatedAt: ctx.nowMs };
  const { accountId, mode } = walletOwner(ctx.id);
  const { currency, balanceMinor } = filled;
  const data = { id: transferId, mode, amount: toMajor(amountMinor), source, currency, balance: toMajor(balanceMinor) };
  ctx.emit({ accountId, type: 'wallet.deposited', data });
  const after = payWaiting(filled, ctx);
  return { state: after, reply: { ...input, balanceMinor: after.balanceMinor, createdAtMs: ctx.nowMs } };
}

function pay(state: State, payment: Payment, ctx: TurnContext<WalletContract>): Turn<State, void> {
  const now = onDayOf(state ?? newWallet(ctx), ctx.nowMs);
  const decision = decide(now, payment);
  sendDecision(payment, decision, ctx);
  if (decision.kind === 'declined') return { state, reply: undefined };
  const counted = spend(now, payment.amountMinor);
  if (decision.kind === 'paid') return { state: paid(counted, payment, ctx), reply: undefined };
  return { state: { ...counted, waiting: [...counted.waiting, payment] }, reply: undefined };
}

function payNow(state: State, payment: PaymentNow, ctx: TurnContext<WalletContract>): Turn<State, DecidedNow> {
  const now = onDayOf(state ?? newWallet(ctx), ctx.nowMs);
  const reason = refusal(now, payment.amountMinor);
  if (reason !== null) return { state, reply: { kind: 'declined', reason } };
  return { state: paid(spend(now, payment.amountMinor), payment, ctx), reply: { kind: 'paid' } };
}

function refusal(now: WalletRow, amountMinor: number): PaymentRefusal | null {
  return limitReached(now, amountMinor) ?? (amountMinor > availableMinor(now) ? 'insufficient_funds' : null);
}

function decide(now: WalletRow, { amountMinor }: Payment): PaymentDecision {
  const reason = refusal(now, amountMinor);
  if (reason === null) return { kind: 'paid' };
  const mayWait = reason === 'insufficient_funds' && now.waiting.length < maxWaiting;
  return mayWait ? { kind: 'waiting' } : { kind: 'declined', reason };
}

/** Pays waiting payments in order, as far as the money suffices. A payment that is too large is skipped for smaller ones. */
function payWaiting(now: WalletRow, ctx: TurnContext<WalletContract>): WalletRow {
  let after = now;
  const waiting = now.waiting.filter((payment) => {
    if (payment.amountMinor > availableMinor(after)) return true;
    after = paid(after, payment, ctx);
    sendDecision(payment, { kind: 'paid' }, ctx);
    return false;
  });
  return waiting.length === now.waiting.length ? now : { ...after, waiting };
}

/** Never refused: the money is the account's. */
function giveBack(state: State, { from, paidAtMs, ...transfer }: GivenBack, ctx: TurnContext<WalletContract>): Turn<State, void> {
  const now = onDayOf(state ?? newWallet(ctx), ctx.nowMs);
  bookTransfer({ ...transfer, against: from }, ctx);
  const { amountMinor } = transfer;
  const filled = { ...now, balanceMinor: now.balanceMinor + amountMinor, updatedAt: ctx.nowMs };
  return { state: payWaiting(unspend(filled, amountMinor, localDay(paidAtMs, now.timezone)), ctx), reply: undefined };
}

function hold(state: State, { id, amountMinor, expiresAtMs }: Hold, ctx: TurnContext<WalletContract>): Turn<State, HoldResult> {
  const now = onDayOf(state ?? newWallet(ctx), ctx.nowMs);
  if (Object.hasOwn(now.holds, id)) return { state, reply: { kind: 'held' } };
  const reason = refusal(now, amountMinor);
  if (reason !== null) return { state, reply: { kind: 'declined', reason } };
  const open = Object.keys(now.holds).length;
  if (open >= maxOpenHolds) throw new AppError('conflict', `A wallet has ${maxOpenHolds} open holds at most`);
  record(id, amountMinor, { status: 'open', transferId: null, resolvedAt: null }, ctx);
  const counted = spend(now, amountMinor);
  const holds = { ...counted.holds, [id]: { amountMinor, day: counted.spendDay, expiresAtMs, createdAtMs: ctx.nowMs } };
  const after = { ...counted, holds, heldMinor: counted.heldMinor + amountMinor, updatedAt: ctx.nowMs };
  awaitExpiry(after, ctx);
  return { state: after, reply: { kind: 'held' } };
}

function resolve(state: State, holdId: string, ctx: TurnContext<WalletContract>, as: (held: WalletRow) => WalletRow): Turn<State, boolean> {
  if (state === null || !Object.hasOwn(state.holds, holdId)) return { state, reply: false };
  const after = payWaiting(as(onDayOf(state, ctx.nowMs)), ctx);
  awaitExpiry(after, ctx);
  return { state: after, reply: true };
}

function captured(
  held: WalletRow,
  holdId: string,
  { transferId, to, reference, description }: Pick<Payment, 'transferId' | 'to' | 'reference' | 'description'>,
  ctx: TurnContext<WalletContract>,
): WalletRow {
  const { amountMinor } = held.holds[holdId]!;
  bookTransfer({ transferId, amountMinor: -amountMinor, against: to, reference, description }, ctx);
  const after = withoutHold(held, holdId, { status: 'captured', transferId }, ctx);
  return { ...after, balanceMinor: after.balanceMinor - amountMinor };
}

function freed(held: WalletRow, holdId: string, status: 'released' | 'expired', ctx: TurnContext<WalletContract>): WalletRow {
  const { amountMinor, day } = held.holds[holdId]!;
  return unspend(withoutHold(held, holdId, { status, transferId: null }, ctx), amountMinor, day);
}

function withoutHold(
  held: WalletRow,
  holdId: string,
  outcome: { status: 'captured' | 'released' | 'expired'; transferId: string | null },
  ctx: TurnContext<WalletContract>,
): WalletRow {
  const { [holdId]: resolved, ...holds } = held.holds;
  const { amountMinor, createdAtMs } = resolved!;
  record(holdId, amountMinor, { ...outcome, createdAt: createdAtMs, resolvedAt: ctx.nowMs }, ctx);
  return { ...held, holds, heldMinor: held.heldMinor - amountMinor, updatedAt: ctx.nowMs };
}

function expireHolds(state: State, _input: Record<string, never>, ctx: TurnContext<WalletContract>): Turn<State, void> {
  if (state === null) return { state, reply: undefined };
  let after = onDayOf(state, ctx.nowMs);
  for (const [id, { expiresAtMs }] of Object.entries(state.holds)) if (expiresAtMs <= ctx.nowMs) after = freed(after, id, 'expired', ctx);
  after = payWaiting(after, ctx);
  awaitExpiry(after, ctx);
  return { state: after, reply: undefined };
}

function changeLimits(state: State, limits: Partial<SpendingLimits>, ctx: TurnContext<WalletContract>): Turn<State, Spending> {
  const after = { ...onDayOf(state ?? newWallet(ctx), ctx.nowMs), ...limits };
  return { state: after, reply: spendingOf(after) };
}

/** Books a payment whose amount counts already. */
function paid(
  now: WalletRow,
  { transferId, amountMinor, to, reference, description }: PaymentNow,
  ctx: TurnContext<WalletContract>,
): WalletRow {
  bookTransfer({ transferId, amountMinor: -amountMinor, against: to, reference, description }, ctx);
  return { ...now, balanceMinor: now.balanceMinor - amountMinor, updatedAt: ctx.nowMs };
}

function sendDecision(payment: Payment, decision: PaymentDecision, ctx: TurnContext<WalletContract>): void {
  ctx.send(payerRef(payment.payer.kind), payment.payer.id, 'paymentDecided', { payment, decision });
}

function record(
  id: string,
  amountMinor: number,
  about: { status: InferEntity<typeof WalletHold>['status']; transferId: string | null; createdAt?: number; resolvedAt: number | null },
  ctx: TurnContext<WalletContract>,
): void {
  ctx.append(WalletHold, { ...walletOwner(ctx.id), id, amountMinor, createdAt: ctx.nowMs, ...about });
}

function awaitExpiry({ holds }: WalletRow, ctx: TurnContext<WalletContract>): void {
  const next = Math.min(...Object.values(holds).map(({ expiresAtMs }) => expiresAtMs));
  if (next === Infinity) ctx.unschedule(expiryTimer);
  else ctx.schedule(expiryTimer, next, 'expireHolds', {});
}

function availableMinor({ balanceMinor, heldMinor }: WalletRow): number {
  return balanceMinor - heldMinor;
}

function newWallet(ctx: TurnContext<WalletContract>): WalletRow {
  return {
    id: ctx.id,
    mode: walletOwner(ctx.id).mode,
    currency: walletCurrency,
    balanceMinor: 0,
    heldMinor: 0,
    ...defaultLimits,
    timezone: 'UTC',
    spendDay: localDay(ctx.nowMs, 'UTC'),
    daySpentMinor: 0,
    monthSpentMinor: 0,
    holds: {},
    waiting: [],
    updatedAt: ctx.nowMs,
  };
}

const defaultLimits: SpendingLimits = { perTransactionMinor: 1_000_000, dailyMinor: 2_500_000, monthlyMinor: 10_000_000 };
const noSpending: Spending = { ...defaultLimits, currency: walletCurrency, dailySpentMinor: 0, monthlySpentMinor: 0 };

function balanceOf(state: State): Balance {
  if (state === null) return { balanceMinor: 0, heldMinor: 0, currency: walletCurrency, updatedAtMs: null };
  const { balanceMinor, heldMinor, currency, updatedAt } = state;
  return { balanceMinor, heldMinor, currency, updatedAtMs: updatedAt };
}

function spendingOf({ perTransactionMinor, dailyMinor, monthlyMinor, currency, daySpentMinor, monthSpentMinor }: WalletRow): Spending {
  const sums = { dailySpentMinor: daySpentMinor, monthlySpentMinor: monthSpentMinor };
  return { perTransactionMinor, dailyMinor, monthlyMinor, currency, ...sums };
}
