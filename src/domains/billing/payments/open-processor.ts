/** The payment processor, if one is configured. */
import type { Clock } from '../../../clock.ts';
import type { Config } from '../../../config.ts';
import { createStripeClient } from '../../../providers/stripe/client.ts';
import { observedPayments, PaymentStats } from './observed.ts';
import type { PaymentProcessor } from './port.ts';
import { createStripePayments } from './stripe.ts';

type ProcessorConfig = Pick<Config, 'stripeSecretKey' | 'stripeWebhookSecrets' | 'stripeApiUrl'>;
/** `processor` null: the checkout page of this service charges nothing. */
export type OpenedProcessor = { processor: PaymentProcessor | null; stats: PaymentStats };

export function openProcessor(config: ProcessorConfig, clock: Clock): OpenedProcessor {
  const { stripeSecretKey: secretKey, stripeWebhookSecrets: webhookSecrets, stripeApiUrl: apiUrl } = config;
  const stats = new PaymentStats();
  if (secretKey === null || webhookSecrets.length === 0) return { processor: null, stats };
  const stripe = createStripeClient({ secretKey, webhookSecrets, apiUrl });
  return { processor: observedPayments(createStripePayments(stripe, clock), stats), stats };
}
