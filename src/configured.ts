/** Optional providers of a node: a payment processor, an issuer of cards. */
import { AppError } from './errors.ts';

/** The provider. Throws `unavailable` if none is configured: work that was started with one waits until there is one again. */
export function configured<T>(provider: T | null, what: string): T {
  if (provider === null) throw new AppError('unavailable', `No ${what} is configured on this node`);
  return provider;
}
