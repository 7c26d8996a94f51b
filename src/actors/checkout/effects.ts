/** What a checkout awaits: the account, who answers requests for an offer, and the payment processor where there is one. */
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { type BillingPeriod, type Plan, planPriceMinor } from '../../plans.ts';
import type { MailProvider } from '../../providers/mail/port.ts';
import type { Payer, PaymentPage, PaymentProcessor } from '../../providers/payments/port.ts';
import type { PlanCheckoutRow } from '../../storage/entities/checkout.ts';
import { account } from '../account/messages.ts';
import type { ActorSystem } from '../runtime/actor-system.ts';
import type { EffectContext, EffectDefinition } from '../runtime/define-actor.ts';
import type { ContactRequest, PageFound, Subscribed } from './messages.ts';

export type CheckoutEffectParts = {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  mail: MailProvider;
  /** Who answers requests for an offer. */
  salesAddress: string;
  /** null: pages of this service decide all checkouts. */
  processor: PaymentProcessor | null;
  /** Called for each payment of another amount or currency than was asked for. */
  onMismatch(): void;
  log: Log;
};

export type OpenPage = Omit<PaymentPage, 'checkoutId' | 'term'> & { plan: Plan | null; billingPeriod: BillingPeriod | null };
export type LookAtPage = { sessionId: string; amountMinor: number; close: boolean };
export type Subscribe = Pick<PlanCheckoutRow, 'accountId' | 'plan' | 'billingPeriod' | 'amountMinor'> & { isRenewed: boolean };
export type TellSales = ContactRequest & Pick<PlanCheckoutRow, 'accountId' | 'plan'>;

const currency = 'usd';

export function checkoutEffects({
  actors,
  mail,
  salesAddress,
  processor,
  onMismatch,
  log,
}: CheckoutEffectParts): Record<string, EffectDefinition> {
  const overNetwork = { repeatable: () => true, timeoutMs: 60_000 };
  return {
    openPage: {
      ...overNetwork,
      outcome: 'opened',
      async run({ plan, billingPeriod, ...page }: OpenPage, { actorId: checkoutId, effectId }: EffectContext) {
        const term = plan && billingPeriod && { plan, billingPeriod, renewalMinor: planPriceMinor(plan, billingPeriod)! };
        return told('no page', { checkoutId }, () => configured(processor).openPage({ ...page, checkoutId, term }, effectId));
      },
    },
    look: {
      ...overNetwork,
      outcome: 'looked',
      async run({ sessionId, amountMinor, close }: LookAtPage, { actorId }: EffectContext): Promise<PageFound> {
        const { look, closePage } = configured(processor);
        const found = await told('no answer', { checkoutId: actorId }, () => (close ? closePage(sessionId) : look(sessionId)));
        if (found.kind !== 'paid') return found;
        if (found.checkoutId === actorId && found.amountMinor === amountMinor && found.currency === currency)
          return { kind: 'paid', payer: found.payer };
        onMismatch();
        const { payer, ...paid } = found;
        const facts = { checkout_id: actorId, session_id: sessionId, payment: payer.payment, paid, asked: { amountMinor, currency } };
        log.error(facts, 'something else was paid than was asked for: nothing changes, a person must decide about the money');
        return { kind: 'mismatched' };
      },
    },
    giveBack: {
      ...overNetwork,
      outcome: 'returned',
      run: (payer: Payer, { actorId }: EffectContext) =>
        told('not given back', { checkoutId: actorId }, () => configured(processor).giveBack(payer, `${actorId}/return`)),
    },
    subscribe: {
      repeatable: () => true,
      timeoutMs: 30_000,
      isBrief: true,
      outcome: 'subscribed',
      async run({ accountId, isRenewed, ...offer }: Subscribe, { actorId }: EffectContext): Promise<Subscribed> {
        const asked = { ...offer, paymentId: actorId, processorId: isRenewed ? actorId : null };
        const change = await actors.ask(account, accountId, 'changePlan', asked, { commandId: actorId });
        const subscription = (await actors.query(account, accountId, 'get', null))?.subscription ?? null;
        const renewedBy = subscription?.processorId ?? null;
        return { change, renewedBy, paidUntilMs: renewedBy === actorId ? subscription!.paidUntilMs : null };
      },
    },
    tellSales: {
      run: (input: TellSales, { effectId }: EffectContext) =>
        mail.send({ to: salesAddress, subject: `Somebody asks for the ${input.plan} plan`, text: lettered(input) }, effectId),
      repeatable: () => false,
      timeoutMs: 60_000,
      outcome: 'told',
    },
  };

  /** What the processor says stays in the log; people are told that it could not be asked. */
  async function told<T>(what: string, { checkoutId }: { checkoutId: string }, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: error, checkout_id: checkoutId }, `the payment processor: ${what}`);
      throw error;
    }
  }
}

function configured(processor: PaymentProcessor | null): PaymentProcessor {
  if (processor === null) throw new AppError('unavailable', 'No payment processor is configured on this node');
  return processor;
}

function lettered({ name, email, message, accountId, plan }: TellSales): string {
  return [`Account: ${accountId}`, `Plan: ${plan}`, `Name: ${name}`, `E-mail: ${email}`, '', message].join('\n');
}
