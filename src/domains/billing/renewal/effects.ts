/** Effects of a renewal at the payment processor. Each ends the replaced charges before it begins new ones, and may be repeated. */
import Type from 'typebox';
import type { EffectContext, EffectsOf } from '../../../actors/define-actor.ts';
import { configured } from '../../../configured.ts';
import { type Log, warned } from '../../../log.ts';
import { planPriceMinor } from '../../../plans.ts';
import { type PaymentProcessor, paymentCurrency, type RenewalState } from '../payments/port.ts';
import type { RenewalRow } from './entity.ts';
import type { Arranged, RenewalContract } from './messages.ts';

export type Arrange = Pick<RenewalRow, 'accountId' | 'plan' | 'billingPeriod' | 'payer' | 'arrangement'> & {
  paidUntilMs: number;
};

export type RenewalEffectParts = {
  /** null: none is configured; earlier charges continue without notifying this service. */
  processor: PaymentProcessor | null;
  /** Called for terms that were paid in another currency than requested. */
  onMismatch(): void;
  log: Log;
};

export function renewalEffects({ processor, onMismatch, log }: RenewalEffectParts): EffectsOf<RenewalContract> {
  const common = { repeatable: () => true, timeoutMs: 60_000, lane: 'vital' } as const;
  return {
    arrange: {
      ...common,
      outcome: 'arranged',
      input: Type.Object({
        accountId: Type.String(),
        plan: Type.String(),
        billingPeriod: Type.String(),
        payer: Type.Object({ customer: Type.String(), method: Type.String(), payment: Type.String() }),
        arrangement: Type.Integer(),
        paidUntilMs: Type.Number(),
      }),
      run: ({ arrangement, paidUntilMs, ...order }: Arrange, { actorId }: EffectContext): Promise<Arranged> =>
        callProcessor('arranged', actorId, async (of) => {
          const key = `${actorId}/${arrangement}`;
          const states = (await of.stopRenewals(actorId, order.payer, key)).map((state) => ours(state, actorId));
          const startsAtMs = Math.max(paidUntilMs, ...states.flatMap(({ paid }) => paid).map(({ endsAtMs }) => endsAtMs));
          const priceMinor = planPriceMinor(order.plan, order.billingPeriod)!;
          const processorId = await of.startRenewals({ ...order, renewalId: actorId, priceMinor, startsAtMs }, key);
          return { arrangement, standings: states, processorId };
        }),
    },
    stop: {
      ...common,
      outcome: 'stopped',
      input: Type.Object({ payer: Type.Object({ customer: Type.String(), method: Type.String(), payment: Type.String() }) }),
      run: ({ payer }: Pick<RenewalRow, 'payer'>, { actorId }: EffectContext): Promise<RenewalState[]> =>
        callProcessor('stopped', actorId, async (of) => (await of.stopRenewals(actorId, payer, null)).map((state) => ours(state, actorId))),
    },
    look: {
      ...common,
      outcome: 'looked',
      input: Type.Object({ processorId: Type.String() }),
      run: ({ processorId }: { processorId: string }, { actorId }: EffectContext) =>
        callProcessor('read', actorId, async (of) => ({ processorId, standing: ours(await of.renewals(processorId), actorId) })),
    },
  };

  /** Payments in another currency than requested do not count. */
  function ours(state: RenewalState, renewalId: string): RenewalState {
    const otherCurrency = state.paid.filter((term) => term.currency !== paymentCurrency);
    if (otherCurrency.length > 0) {
      onMismatch();
      log.error({ renewal_id: renewalId, paid: otherCurrency }, 'a term was paid in a currency other than requested');
    }
    if (state.isLate) log.warn({ renewal_id: renewalId }, 'a renewal could not be charged; the payment processor retries');
    return { ...state, paid: state.paid.filter((term) => term.currency === paymentCurrency) };
  }

  function callProcessor<T>(what: string, renewalId: string, work: (of: PaymentProcessor) => Promise<T>): Promise<T> {
    const message = `a renewal was not ${what}; trying again`;
    return warned(log, { renewal_id: renewalId }, message, async () => work(configured(processor, 'payment processor')));
  }
}
