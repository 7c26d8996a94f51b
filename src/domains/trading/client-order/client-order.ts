/**
 * A `client_order_id` of an account and mode belongs to the first order placed with it, for ever. It is an actor because a turn cannot
 * query rows.
 */
import { defineActor } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { ClientOrder, type ClientOrderRow } from './entity.ts';
import { type ClientOrderContract, clientOrder } from './messages.ts';

export const clientOrderActor = defineActor<ClientOrderRow, ClientOrderContract>({
  ref: clientOrder,
  entity: ClientOrder,
  commands: {
    claim(state, input, ctx) {
      if (state !== null && state.orderId !== input.orderId) throw new AppError('conflict', 'client_order_id is used already');
      const claimed = state ?? { id: ctx.id, ...input, createdAt: ctx.nowMs };
      return { state: claimed, reply: claimed };
    },
  },
  queries: { get: (state) => state },
  idleTimeoutMs: 30_000,
});
