/** Wraps a payment processor and counts its calls. */
import { CountBy } from '../../../counts.ts';
import { AppError } from '../../../errors.ts';
import type { PaymentProcessor } from './port.ts';

export class PaymentStats {
  readonly calls = new CountBy(['operation', 'outcome']);
  /** Payments and terms with another amount or currency than requested: an operator must check each. */
  mismatches = 0;
}

export function observedPayments(processor: PaymentProcessor, stats: PaymentStats): PaymentProcessor {
  const counted = Object.entries(processor).map(([operation, call]) => [
    operation,
    async (...input: unknown[]) => {
      try {
        const answer = await (call as (...input: unknown[]) => Promise<unknown>)(...input);
        stats.calls.add([operation, 'done']);
        return answer;
      } catch (error) {
        stats.calls.add([operation, error instanceof AppError ? error.code : 'internal']);
        throw error;
      }
    },
  ]);
  return Object.fromEntries(counted) as PaymentProcessor;
}
