/**
 * Converts amounts between people's notation and Stripe's: whole numbers of a currency's smallest unit, which is not always a hundredth.
 * Read from docs.stripe.com/currencies on 2026-11-23.
 */
import { ServiceFailed } from './service-failure.ts';

const zeroDecimal = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
/** The last of the three digits is always 0. */
const threeDecimal = new Set('bhd jod kwd omr tnd'.split(' '));
/** Given with two decimals that are always 0. */
const wholeOnly = new Set(['isk', 'ugx']);

/** Throws `ServiceFailed` for more decimals than the currency has. */
export function minorOf(amount: number, currency: string): number {
  const code = currency.toLowerCase();
  const minor = amount * 10 ** decimalsOf(code);
  const rounded = Math.round(minor);
  // Products such as 19.99 * 100 differ from a whole number by less than this.
  const isExact = Math.abs(minor - rounded) < 1e-6 && rounded % stepOf(code) === 0;
  if (!isExact || rounded < 1) throw new ServiceFailed({ type: 'invalid', message: `${amount} is no amount of ${code}`, field: 'amount' });
  return rounded;
}

export function majorOf(minor: number, currency: string): number {
  return minor / 10 ** decimalsOf(currency.toLowerCase());
}

function decimalsOf(code: string): number {
  if (zeroDecimal.has(code)) return 0;
  return threeDecimal.has(code) ? 3 : 2;
}

function stepOf(code: string): number {
  if (wholeOnly.has(code)) return 100;
  return threeDecimal.has(code) ? 10 : 1;
}
