/** Effects of a checkout: the account's plan, mails to the operator, and the payment processor where there is one. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectContext, EffectsOf } from '../../../actors/define-actor.ts';
import { configured } from '../../../configured.ts';
import { type Log, warned } from '../../../log.ts';
import { type BillingPeriod, type Plan, planPriceMinor } from '../../../plans.ts';
import type { MailProvider } from '../../../providers/mail/port.ts';
import { account } from '../../accounts/contract.ts';
import { type Payer, type PaymentPage, type PaymentProcessor, paymentCurrency } from '../payments/port.ts';
import type { PlanCheckoutRow } from './entity.ts';
import type { CheckoutContract, ContactRequest, PageFound, Subscribed } from './messages.ts';

export type CheckoutEffectParts = {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  mail: MailProvider;
  /** The address that answers requests for an offer. */
  salesAddress: string;
  /** null: pages of this service decide all checkouts. */
  processor: PaymentProcessor | null;
  /** Called for each payment with another amount or currency than requested. */
  onMismatch(): void;
  log: Log;
};

export type OpenPage = Omit<PaymentPage, 'checkoutId' | 'term'> & { plan: Plan | null; billingPeriod: BillingPeriod | null };
export type FindPage = { sessionId: string; amountMinor: number; close: boolean };
export type Subscribe = Pick<PlanCheckoutRow, 'accountId' | 'plan' | 'billingPeriod' | 'amountMinor'> & { isRenewed: boolean };
export type NotifySales = ContactRequest & Pick<PlanCheckoutRow, 'accountId' | 'plan'>;

export function checkoutEffects({
  actors,
  mail,
  salesAddress,
  processor,
  onMismatch,
  log,
}: CheckoutEffectParts): EffectsOf<CheckoutContract> {
  const overNetwork = { repeatable: () => true, timeoutMs: 60_000, lane: 'vital' } as const;
  return {
    openPage: {
      ...overNetwork,
      outcome: 'opened',
      input: Type.Object({
        accountId: Type.String(),
        amountMinor: Type.Integer(),
        successUrl: Type.String(),
        cancelUrl: Type.String(),
        expiresAtMs: Type.Number(),
        plan: Type.Union([Type.String(), Type.Null()]),
        billingPeriod: Type.Union([Type.String(), Type.Null()]),
      }),
      async run({ plan, billingPeriod, ...page }: OpenPage, { actorId: checkoutId, effectId }: EffectContext) {
        const term = plan && billingPeriod && { plan, billingPeriod, renewalMinor: planPriceMinor(plan, billingPeriod)! };
        return callProcessor('no page', checkoutId, (of) => of.openPage({ ...page, checkoutId, term }, effectId));
      },
    },
    look: {
      ...overNetwork,
      outcome: 'looked',
      input: Type.Object({ sessionId: Type.String(), amountMinor: Type.Integer(), close: Type.Boolean() }),
      async run({ sessionId, amountMinor, close }: FindPage, { actorId }: EffectContext): Promise<PageFound> {
        const found = await callProcessor('no answer', actorId, (of) => (close ? of.closePage(sessionId) : of.readPage(sessionId)));
        if (found.kind !== 'paid') return found;
        if (found.checkoutId === actorId && found.amountMinor === amountMinor && found.currency === paymentCurrency)
          return { kind: 'paid', payer: found.payer };
        onMismatch();
        const { payer, ...paid } = found;
        const facts = {
          checkout_id: actorId,
          session_id: sessionId,
          payment: payer.payment,
          paid,
          requested: { amountMinor, currency: paymentCurrency },
        };
        log.error(facts, 'the payment does not match the request: nothing changes, an operator must decide about the money');
        return { kind: 'mismatched' };
      },
    },
    giveBack: {
      ...overNetwork,
      outcome: 'returned',
      input: Type.Object({ customer: Type.String(), method: Type.String(), payment: Type.String() }),
      run: (payer: Payer, { actorId }: EffectContext) =>
        callProcessor('not given back', actorId, (of) => of.giveBack(payer, `${actorId}/return`)),
    },
    subscribe: {
      repeatable: () => true,
      timeoutMs: 30_000,
      isBrief: true,
      lane: 'vital',
      outcome: 'subscribed',
      input: Type.Object({
        accountId: Type.String(),
        plan: Type.String(),
        billingPeriod: Type.String(),
        amountMinor: Type.Integer(),
        isRenewed: Type.Boolean(),
      }),
      async run({ accountId, isRenewed, ...offer }: Subscribe, { actorId }: EffectContext): Promise<Subscribed> {
        const wanted = { ...offer, paymentId: actorId, processorId: isRenewed ? actorId : null };
        const change = await actors.ask(account, accountId, 'changePlan', wanted, { commandId: actorId });
        const subscription = (await actors.query(account, accountId, 'get', null))?.subscription ?? null;
        const renewedBy = subscription?.processorId ?? null;
        return { change, renewedBy, paidUntilMs: renewedBy === actorId ? subscription!.paidUntilMs : null };
      },
    },
    tellSales: {
      run: (input: NotifySales, { effectId }: EffectContext) =>
        mail.send({ to: salesAddress, subject: `Somebody asks for the ${input.plan} plan`, text: lettered(input) }, effectId),
      // A duplicate with one Message-ID is better than no mail.
      repeatable: () => true,
      timeoutMs: 60_000,
      lane: 'vital',
      outcome: 'told',
      input: Type.Object({
        name: Type.String(),
        email: Type.String(),
        message: Type.String(),
        accountId: Type.String(),
        plan: Type.String(),
      }),
    },
  };

  /** The processor's error is only logged; users get an error that it did not answer. */
  function callProcessor<T>(what: string, checkoutId: string, work: (of: PaymentProcessor) => Promise<T>): Promise<T> {
    const message = `the payment processor: ${what}`;
    return warned(log, { checkout_id: checkoutId }, message, async () => work(configured(processor, 'payment processor')));
  }
}

/** User input cannot look like a line of this service: a name has one line, and each line of the message is quoted. */
function lettered({ name, email, message, accountId, plan }: NotifySales): string {
  const quoted = message.split(lineBreak).map((line) => `> ${line}`);
  return [`Account: ${accountId}`, `Plan: ${plan}`, `Name: ${oneLine(name)}`, `E-mail: ${oneLine(email)}`, '', ...quoted].join('\n');
}

/** Every character that some mail program treats as a line break. */
const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

function oneLine(text: string): string {
  return text.split(lineBreak).join(' ');
}
