/** Payments on a node: plans, deposits, invoices, and the payment processor if one is configured. */
import type { Platform, StartedDomain } from '../domain.ts';
import { user } from '../identity/contract.ts';
import { createDownloadLinks } from '../workspaces/contract.ts';
import { checkoutActor } from './checkout/checkout.ts';
import { checkoutEffects } from './checkout/effects.ts';
import { addPaymentMetrics } from './metrics.ts';
import { createEmbeddedPayments } from './payments/embedded.ts';
import { openProcessor } from './payments/open-processor.ts';
import { renewalEffects } from './renewal/effects.ts';
import { renewalActor } from './renewal/renewal.ts';
import { pastCheckouts } from './retention.ts';
import { billingRoutes } from './routes/billing.ts';
import { checkoutRoutes } from './routes/checkout.ts';
import { depositRoutes } from './routes/deposits.ts';
import { drawInvoice } from './routes/draw-invoice.ts';
import { invoiceRoutes } from './routes/invoices.ts';
import { paymentWebhookRoutes } from './routes/payment-webhook.ts';

export function startBilling(platform: Platform): StartedDomain {
  const { actors, database, tokens, publicUrl, secretKey, acceptedKeys, compute, mail, config, clock, log } = platform;
  const { processor, stats } = openProcessor(config, clock);
  const payments = { processor, onMismatch: () => void stats.mismatches++, log };
  const pages = createEmbeddedPayments(secretKey, acceptedKeys);
  const takesPayments = processor !== null;
  return {
    actors: [
      checkoutActor(checkoutEffects({ actors, mail, salesAddress: operatorAddress(config.mailFrom), ...payments }), { takesPayments }),
      renewalActor(renewalEffects(payments)),
    ],
    routes: [
      ...billingRoutes({ actors, database, clock }),
      ...invoiceRoutes({
        database,
        links: createDownloadLinks(tokens, publicUrl),
        pdf: (...invoice) => drawInvoice(compute, ...invoice),
        customerOf: async ({ userId }) => (await actors.query(user, userId, 'profile', null))?.email ?? '',
      }),
      ...checkoutRoutes({ actors, pages, takesPayments, publicUrl, clock }),
      ...(processor === null ? [] : paymentWebhookRoutes({ actors, read: (...signed) => processor.readNotification(...signed), log })),
      ...depositRoutes({ actors, database, pages, publicUrl, takesPayments, clock }),
    ],
    jobs: [pastCheckouts(clock)],
    metrics: (metrics) => addPaymentMetrics(metrics, stats),
  };
}

/** The operator reads mails at the address of the service's sender, without its name. Unset: no address, and such mails are only stored. */
function operatorAddress(mailFrom: string): string {
  const address = mailFrom.split(/[\s<>]/).findLast((part) => part.includes('@'))!;
  return address.endsWith('@localhost') ? 'operator@troupe.invalid' : address;
}
