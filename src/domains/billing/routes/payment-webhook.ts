/** The payment processor's webhook: signed, taken as a hint to query the processor, and answered when the result is stored. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { readSigned, signedWebhook } from '../../../edge/routes/signed-webhook.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import { checkout } from '../checkout/messages.ts';
import { renewal } from '../renewal/messages.ts';

export type PaymentWebhookParts = {
  actors: Pick<ActorSystem, 'ask'>;
  /** Throws `bad_request` for an invalid signature; null: a notification that is ignored. */
  read(body: Uint8Array, signature: string): Promise<PaymentNotification | null>;
  log: Log;
};
type PaymentNotification = { id: string; about: 'checkout'; checkoutId: string } | { id: string; about: 'renewal'; renewalId: string };

/** Served if a payment processor is configured. */
export function paymentWebhookRoutes({ actors, read, log }: PaymentWebhookParts): AnyRoute[] {
  return [
    route({
      ...signedWebhook,
      path: '/stripe/webhook',
      summary: "Receive Stripe's payment webhook",
      description:
        'For Stripe only: the address of a webhook endpoint at Stripe. The signature over the exact body is checked. The content is not trusted: the state is queried at Stripe. 2xx: the queried state is stored; repeated and late deliveries change nothing.',
      responses: { 200: Type.Object({ received: Type.Boolean() }) },
      async handler(context) {
        const notification = await readSigned(context, read);
        if (notification !== null) await take(notification);
        return { status: 200, json: { received: true } };
      },
    }),
  ];

  async function take(notification: PaymentNotification): Promise<void> {
    try {
      // The event's id: a repeated delivery within a day has the same answer.
      if (notification.about === 'checkout')
        await actors.ask(checkout, notification.checkoutId, 'look', null, { commandId: notification.id });
      else await actors.ask(renewal, notification.renewalId, 'look', null, { commandId: notification.id });
    } catch (error) {
      // An event of another service on the same Stripe account, or from before this database.
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
      log.warn({ event_id: notification.id }, 'Stripe reported a checkout that this service does not know');
    }
  }
}
