/** What a renewal awaits: the payment processor. Each effect ends what it is to replace before it begins anything, and may be repeated. */
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { planPriceMinor } from '../../plans.ts';
import type { PaymentProcessor, RenewalStanding } from '../../providers/payments/port.ts';
import type { RenewalRow } from '../../storage/entities/renewal.ts';
import type { EffectContext, EffectDefinition } from '../runtime/define-actor.ts';
import type { Arranged } from './messages.ts';

export type Arrange = Pick<RenewalRow, 'accountId' | 'plan' | 'billingPeriod' | 'payer' | 'arrangement'> & {
  paidUntilMs: number;
};

const currency = 'usd';

export type RenewalEffectParts = {
  /** null: none is configured, and what it charges goes on without this service hearing of it. */
  processor: PaymentProcessor | null;
  /** Called where terms were paid in another currency than was asked for. */
  onMismatch(): void;
  log: Log;
};

export function renewalEffects({ processor, onMismatch, log }: RenewalEffectParts): Record<string, EffectDefinition> {
  const common = { repeatable: () => true, timeoutMs: 60_000 };
  return {
    arrange: {
      ...common,
      outcome: 'arranged',
      run: ({ arrangement, paidUntilMs, ...order }: Arrange, { actorId }: EffectContext): Promise<Arranged> =>
        told('arranged', actorId, async () => {
          const key = `${actorId}/${arrangement}`;
          const standings = (await configured().stopRenewals(actorId, order.payer, key)).map((standing) => ours(standing, actorId));
          const startsAtMs = Math.max(paidUntilMs, ...standings.flatMap(({ paid }) => paid).map(({ endsAtMs }) => endsAtMs));
          const priceMinor = planPriceMinor(order.plan, order.billingPeriod)!;
          const processorId = await configured().startRenewals({ ...order, renewalId: actorId, priceMinor, startsAtMs }, key);
          return { arrangement, standings, processorId };
        }),
    },
    stop: {
      ...common,
      outcome: 'stopped',
      run: ({ payer }: Pick<RenewalRow, 'payer'>, { actorId }: EffectContext): Promise<RenewalStanding[]> =>
        told('stopped', actorId, async () =>
          (await configured().stopRenewals(actorId, payer, null)).map((standing) => ours(standing, actorId)),
        ),
    },
    look: {
      ...common,
      outcome: 'looked',
      run: ({ processorId }: { processorId: string }, { actorId }: EffectContext) =>
        told('looked at', actorId, async () => ({ processorId, standing: ours(await configured().renewals(processorId), actorId) })),
    },
  };

  /** What was paid in another currency than asked for counts as nothing. */
  function ours(standing: RenewalStanding, renewalId: string): RenewalStanding {
    const strange = standing.paid.filter((term) => term.currency !== currency);
    if (strange.length > 0) {
      onMismatch();
      log.error({ renewal_id: renewalId, paid: strange }, 'a term was paid in another currency than was asked for');
    }
    if (standing.isLate) log.warn({ renewal_id: renewalId }, 'a renewal could not be charged; the payment processor tries again');
    return { ...standing, paid: standing.paid.filter((term) => term.currency === currency) };
  }

  function configured(): PaymentProcessor {
    if (processor === null) throw new AppError('unavailable', 'No payment processor is configured on this node');
    return processor;
  }

  async function told<T>(what: string, renewalId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: error, renewal_id: renewalId }, `a renewal was not ${what}; trying again`);
      throw error;
    }
  }
}
