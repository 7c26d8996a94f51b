/** Metrics of the payment processor. */
import type { Metrics } from '../../metrics.ts';
import type { PaymentStats } from './payments/observed.ts';

export function addPaymentMetrics(metrics: Metrics, payments: PaymentStats): void {
  metrics.counter('troupe_payment_calls_total', 'Calls of the payment processor, by outcome', () => payments.calls.read());
  metrics.counter(
    'troupe_payment_mismatches_total',
    'Payments with another amount or currency than requested: an operator must decide about each',
    () => payments.mismatches,
  );
}
