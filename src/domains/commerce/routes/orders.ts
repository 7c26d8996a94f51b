/** Purchase orders: placed, read, approved and rejected. */

import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { Money } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { ModeField, modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { idPrefixes, newId } from '../../../ids.ts';
import { toMajor, toMinor } from '../../../money.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings, autoApproveSetting } from '../../accounts/contract.ts';
import { commerceIds } from '../ids.ts';
import { PurchaseOrder, type PurchaseOrderRow } from '../purchase-order/entity.ts';
import { purchaseOrder } from '../purchase-order/messages.ts';

const Time = Type.String({ format: 'date-time' });
const OrderView = Type.Object(
  {
    id: Type.String(),
    description: Type.String(),
    amount: Type.Number({ description: 'USD' }),
    vendor: Type.String(),
    status: Type.Enum(['pending', 'approved', 'rejected', 'complete']),
    mode: ModeField,
    created_at: Time,
    approved_at: Type.Optional(Time),
    rejected_at: Type.Optional(Time),
    reason: Type.Optional(Type.String({ description: 'Why it was rejected, where a reason was given' })),
    completed_at: Type.Optional(Type.String({ format: 'date-time', description: 'When it was paid' })),
    payment_error: Type.Optional(
      Type.Enum(['insufficient_funds', 'per_transaction_limit', 'daily_limit', 'monthly_limit'], {
        description:
          'Of an approved order: the wallet holds too little; the order is paid when money arrives. Of a pending order: the limit that prevented automatic approval',
      }),
    ),
  },
  { title: 'Order' },
);
const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export type OrderRouteParts = { actors: ActorSystem; database: Database; clock: Clock };

export function orderRoutes({ actors, database, clock }: OrderRouteParts): AnyRoute[] {
  const list = route({
    method: 'GET',
    path: '/commerce/orders',
    summary: 'List purchase orders, newest first',
    description: modeNote,
    scope: 'commerce.read',
    query: PageQuery,
    responses: { 200: PageOf(OrderView) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const [rows, total] = await database.listPage(accountId, PurchaseOrder, { accountId, mode }, { limit, offset });
      return answer(
        200,
        page(
          rows.map((row) => view(row as PurchaseOrderRow)),
          offset,
          total,
        ),
      );
    },
  });

  const create = route({
    method: 'POST',
    path: '/commerce/orders',
    summary: 'Place a purchase order',
    description:
      'The order waits for approval; nothing is paid yet. Orders up to `auto_approve_threshold` of their mode are approved automatically, unless a spending limit forbids that.',
    scope: 'commerce.write',
    body: Type.Object({
      description: Text(2_000),
      amount: Money({ minimum: 0.01, description: 'USD, at most two decimals' }),
      vendor: Text(500),
      currency: Type.Optional(Type.Enum(['USD'], { description: 'The only currency that is paid' })),
    }),
    responses: { 201: OrderView },
    async handler(context) {
      const { accountId, mode } = context.principal;
      const { description, amount, vendor } = context.body;
      const { id, commandId } = commandIds(context, commerceIds.purchaseOrder, clock.nowMs());
      const settings = await actors.query(accountSettings, accountId, 'get', null);
      const autoApproveThresholdMinor = settings[autoApproveSetting[mode]];
      const input = { accountId, mode, description, amountMinor: toMinor(amount), vendor, autoApproveThresholdMinor };
      const order = await actors.ask(purchaseOrder, id, 'create', input, { commandId });
      return answer(201, justDecided(order));
    },
  });

  const get = route({
    method: 'GET',
    path: '/commerce/orders/{id}',
    summary: 'Get a purchase order',
    extension: true,
    scope: 'commerce.read',
    responses: { 200: OrderView },
    async handler({ principal, params }) {
      return answer(200, view(await own(principal, params.id)));
    },
  });

  const approve = route({
    method: 'POST',
    path: '/commerce/orders/{id}/approve',
    summary: 'Approve a purchase order',
    description:
      'The order is paid from the wallet of its mode at once, and is then complete. If the wallet holds too little, the order stays approved, with `payment_error`, and is paid when money arrives. 422: a spending limit forbids it; the order stays pending.',
    scope: 'commerce.write',
    errors: [409, 422],
    responses: { 200: OrderView },
    async handler(context) {
      const { id } = await own(context.principal, context.params.id);
      const { commandId } = commandIds(context, commerceIds.purchaseOrder);
      const approvalId = commandId ?? newId(idPrefixes.request, context.principal.accountId);
      return answer(200, justDecided(await actors.ask(purchaseOrder, id, 'approve', { approvalId }, { commandId })));
    },
  });

  const reject = route({
    method: 'POST',
    path: '/commerce/orders/{id}/reject',
    summary: 'Reject a purchase order',
    scope: 'commerce.write',
    errors: [409],
    body: Type.Object({ reason: Type.Optional(Type.Union([Text(2_000), Type.Null()])) }),
    responses: { 200: OrderView },
    async handler(context) {
      const { id } = await own(context.principal, context.params.id);
      const { commandId } = commandIds(context, commerceIds.purchaseOrder);
      const { reason = null } = context.body;
      return answer(200, view(await actors.ask(purchaseOrder, id, 'reject', { reason }, { commandId })));
    },
  });

  return [list, create, get, approve, reject];

  async function own(principal: Principal, id: string): Promise<PurchaseOrderRow> {
    const order = id.startsWith(commerceIds.purchaseOrder) ? await actors.query(purchaseOrder, id, 'get', null) : null;
    return ownedInMode(principal, order, 'Order');
  }
}

/** The answer to a decision shows the decision: the next read shows a payment in the same moment. */
function justDecided(order: PurchaseOrderRow): Static<typeof OrderView> {
  return view(order.status === 'complete' ? { ...order, status: 'approved', completedAt: null } : order);
}

function view(order: PurchaseOrderRow): Static<typeof OrderView> {
  const { id, description, amountMinor, vendor, status, mode, paymentError, reason } = order;
  const at = (ms: number | null) => (ms === null ? undefined : isoTimestamp(ms));
  return {
    id,
    description,
    amount: toMajor(amountMinor),
    vendor,
    status,
    mode,
    created_at: isoTimestamp(order.createdAt),
    approved_at: at(order.approvedAt),
    rejected_at: at(order.rejectedAt),
    reason: reason ?? undefined,
    completed_at: at(order.completedAt),
    payment_error: (paymentError as Static<typeof OrderView>['payment_error']) ?? undefined,
  };
}
