/**
 * A purchase order: pending → approved → complete, or pending → rejected. Its amount is debited from the account's wallet of its mode when
 * it is approved, or when money arrives afterwards.
 *
 * O1 An approval asks the wallet, which has the spending limits and the money; until it has answered, nothing else is decided. Its answer
 *    comes as a message, so a crash in between delays the decision and loses nothing.
 * O2 The order is complete exactly when the wallet has reported it paid, and the wallet reports that in the commit of the ledger entries.
 *    One order has one transfer, however often a request is repeated.
 */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError, type Issue } from '../../../errors.ts';
import { toMajor } from '../../../money.ts';
import { type Payment, type PaymentDecision, type PaymentRefusal, transferOf, wallet, walletIdOf } from '../wallet/messages.ts';
import { PurchaseOrder, type PurchaseOrderRow } from './entity.ts';
import { purchaseOrderInputs } from './inputs.ts';
import { type CreateOrder, type PurchaseOrderContract, purchaseOrder } from './messages.ts';

type State = PurchaseOrderRow | null;

export const purchaseOrderActor = defineActor<PurchaseOrderRow, PurchaseOrderContract>({
  ref: purchaseOrder,
  entity: PurchaseOrder,
  inputs: purchaseOrderInputs,
  commands: { create, approve, reject, paymentDecided },
  queries: { get: (state) => state },
  // Most orders are not read again after the decision.
  idleTimeoutMs: 60_000,
});

function create(state: State, input: CreateOrder, ctx: TurnContext<PurchaseOrderContract>): Turn<PurchaseOrderRow, PurchaseOrderRow> {
  if (state !== null) {
    if (state.asking === ownApproval(state)) ctx.defer(state.asking);
    return { state, reply: state };
  }
  // A node of an earlier version has only live orders, and sends no mode.
  const { autoApproveThresholdMinor, mode = 'live', ...details } = input;
  const order: PurchaseOrderRow = {
    ...details,
    mode,
    id: ctx.id,
    status: 'pending',
    asking: null,
    approvalId: null,
    paymentError: null,
    reason: null,
    createdAt: ctx.nowMs,
    approvedAt: null,
    rejectedAt: null,
    completedAt: null,
  };
  emit('order.created', order, ctx);
  if (order.amountMinor > autoApproveThresholdMinor) return { state: order, reply: order };
  return askWallet(order, ownApproval(order), ctx);
}

function approve(
  state: State,
  { approvalId }: { approvalId: string },
  ctx: TurnContext<PurchaseOrderContract>,
): Turn<PurchaseOrderRow, PurchaseOrderRow> {
  const order = existing(state);
  if (order.approvalId === approvalId) return { state: order, reply: order };
  if (order.asking === approvalId) {
    ctx.defer(approvalId);
    return { state: order, reply: order };
  }
  return askWallet(open(order), approvalId, ctx);
}

function reject(
  state: State,
  { reason }: { reason: string | null },
  ctx: TurnContext<PurchaseOrderContract>,
): Turn<PurchaseOrderRow, PurchaseOrderRow> {
  const order = open(existing(state));
  const rejected: PurchaseOrderRow = { ...order, status: 'rejected', reason, paymentError: null, rejectedAt: ctx.nowMs };
  emit('order.rejected', rejected, ctx);
  return { state: rejected, reply: rejected };
}

function paymentDecided(
  state: State,
  { payment, decision }: { payment: Payment; decision: PaymentDecision },
  ctx: TurnContext<PurchaseOrderContract>,
): Turn<State, void> {
  return { state: state === null ? null : decided(state, payment.memo as string, decision, ctx), reply: undefined };
}

/** @param approvalId of the approval that was sent to the wallet */
function decided(
  order: PurchaseOrderRow,
  approvalId: string,
  decision: PaymentDecision,
  ctx: TurnContext<PurchaseOrderContract>,
): PurchaseOrderRow {
  if (order.asking === approvalId) {
    if (decision.kind === 'declined') return declined({ ...order, asking: null }, approvalId, decision.reason, ctx);
    const approved: PurchaseOrderRow = {
      ...order,
      status: 'approved',
      asking: null,
      approvalId,
      paymentError: null,
      approvedAt: ctx.nowMs,
    };
    emit('order.approved', approved, ctx);
    const next = decision.kind === 'paid' ? paid(approved, ctx) : { ...approved, paymentError: 'insufficient_funds' };
    ctx.answer('approve', approvalId, next);
    return next;
  }
  return order.status === 'approved' && decision.kind === 'paid' ? paid(order, ctx) : order;
}

/** The order stays pending: a user may approve it later, when the limits allow it. */
function declined(
  order: PurchaseOrderRow,
  approvalId: string,
  reason: PaymentRefusal,
  ctx: TurnContext<PurchaseOrderContract>,
): PurchaseOrderRow {
  if (approvalId !== ownApproval(order)) {
    ctx.answer('approve', approvalId, overLimit(reason));
    return order;
  }
  const next = { ...order, paymentError: reason };
  ctx.answer('approve', approvalId, next);
  return next;
}

function paid(order: PurchaseOrderRow, ctx: TurnContext<PurchaseOrderContract>): PurchaseOrderRow {
  const complete: PurchaseOrderRow = { ...order, status: 'complete', paymentError: null, completedAt: ctx.nowMs };
  emit('order.complete', complete, ctx);
  return complete;
}

function askWallet(
  order: PurchaseOrderRow,
  approvalId: string,
  ctx: TurnContext<PurchaseOrderContract>,
): Turn<PurchaseOrderRow, PurchaseOrderRow> {
  const { id, amountMinor, vendor } = order;
  ctx.send(wallet, walletIdOf(order), 'pay', {
    transferId: transferOf(id),
    amountMinor,
    to: 'orders',
    reference: id,
    description: vendor,
    payer: { kind: purchaseOrder.kind, id },
    memo: approvalId,
  });
  ctx.defer(approvalId);
  const asking = { ...order, asking: approvalId };
  return { state: asking, reply: asking };
}

/** The automatic approval: the order's amount does not exceed the threshold. */
function ownApproval({ id }: PurchaseOrderRow): string {
  return id;
}

function existing(state: State): PurchaseOrderRow {
  if (state === null) throw new AppError('not_found', 'Order not found');
  return state;
}

/** The order, if it can still be decided. */
function open(order: PurchaseOrderRow): PurchaseOrderRow {
  if (order.status !== 'pending') throw new AppError('conflict', `The order is ${order.status} already`);
  if (order.asking !== null) throw new AppError('conflict', 'The order is just being approved', { retryAfterS: 1 });
  return order;
}

const limits: Record<PaymentRefusal, string> = {
  per_transaction_limit: 'The amount is over the spending limit for one transaction',
  daily_limit: 'The spending limit of the day would be exceeded',
  monthly_limit: 'The spending limit of the month would be exceeded',
  insufficient_funds: 'The wallet holds too little money',
};

function overLimit(reason: PaymentRefusal): AppError {
  const issue: Issue = { loc: ['path', 'id'], msg: limits[reason], type: reason, input: null, ctx: {} };
  return new AppError('invalid', issue.msg, { issues: [issue] });
}

function emit(type: string, order: PurchaseOrderRow, ctx: TurnContext<PurchaseOrderContract>): void {
  const { id, accountId, mode, description, amountMinor, vendor, status, paymentError, reason } = order;
  ctx.emit({
    accountId,
    type,
    data: { order_id: id, mode, description, amount: toMajor(amountMinor), vendor, status, payment_error: paymentError, reason },
  });
}
