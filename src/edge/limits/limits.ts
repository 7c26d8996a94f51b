/** Whether a caller may make one more request now. The edge asks before it reads a body; how requests are counted is the limiter's matter. */
import { AppError } from '../../errors.ts';
import { unlimited as noLimit } from '../../plans.ts';
import type { Principal } from '../auth/principal.ts';
import { networkOf } from '../http/client-address.ts';
import type { HttpRequest } from '../http/message.ts';
import type { Standing, Taken } from './bucket.ts';
import { callerOf } from './caller.ts';
import type { Concurrency } from './concurrency.ts';
import type { Entitlement, Entitlements } from './entitlements.ts';
import type { Rates } from './rates.ts';

export interface Limits {
  /**
   * Counts one request, and keeps one of the caller's places for it until it has ended. Sets `request.standing`, and answers why it is refused,
   * as an error for its caller, or null. Rejects `unavailable` where a plan cannot be found out.
   *
   * @param principal null where nobody is known: then the client's address is the caller
   */
  admit(principal: Principal | null, request: HttpRequest): AppError | null | Promise<AppError | null>;
  /** Sets `request.standing` to that of the client's address, as far as this node knows it. Counts nothing. */
  peek(request: HttpRequest): void;
}

/** Counts nothing and refuses nobody. */
export const unlimited: Limits = { admit: () => null, peek() {} };

/** What headers say instead of -1 where there is no limit: clients wait when nothing remains. */
const withoutLimit: Standing = { limit: 2_147_483_647, remaining: 2_147_483_647, resetS: 0 };
/** Larger limits are none: no caller reaches them. */
const largestRate = 100_000_000;
/** As the free plan has it: so many requests under way for each of so many a minute. */
const ratePerPlace = 6;

export type LimitsOptions = {
  entitlements: Pick<Entitlements, 'of'>;
  rates: Rates;
  concurrency: Concurrency;
  /** Of an address without key or session. */
  anonymousPerMinute: number;
};

export type RefusalReason = 'rate' | 'concurrency' | 'address_rate' | 'address_concurrency';

export class RequestLimits implements Limits {
  /** Refused requests by reason. */
  readonly refused: Record<RefusalReason, number> = { rate: 0, concurrency: 0, address_rate: 0, address_concurrency: 0 };
  readonly #entitlements: Pick<Entitlements, 'of'>;
  readonly #rates: Rates;
  readonly #concurrency: Concurrency;
  readonly #anonymous: Pick<Entitlement, 'requestsPerMinute' | 'concurrentRequests'>;

  constructor({ entitlements, rates, concurrency, anonymousPerMinute }: LimitsOptions) {
    this.#entitlements = entitlements;
    this.#rates = rates;
    this.#concurrency = concurrency;
    this.#anonymous = { requestsPerMinute: anonymousPerMinute, concurrentRequests: Math.ceil(anonymousPerMinute / ratePerPlace) };
  }

  admit(principal: Principal | null, request: HttpRequest): AppError | null | Promise<AppError | null> {
    if (principal === null || principal.kind === 'link') return this.#enter(addressOf(request), this.#anonymous, request, 'address_');
    const caller = callerOf(principal);
    const entitlement = this.#entitlements.of(principal.accountId);
    if (entitlement instanceof Promise) return entitlement.then((found) => this.#enter(caller, found, request, ''));
    return this.#enter(caller, entitlement, request, '');
  }

  peek(request: HttpRequest): void {
    request.standing = this.#rates.peek(addressOf(request), this.#anonymous.requestsPerMinute);
  }

  #enter(
    caller: string,
    { requestsPerMinute, concurrentRequests }: Pick<Entitlement, 'requestsPerMinute' | 'concurrentRequests'>,
    request: HttpRequest,
    kind: '' | 'address_',
  ): AppError | null | Promise<AppError | null> {
    const isLimited = requestsPerMinute !== noLimit && requestsPerMinute <= largestRate;
    if (!this.#concurrency.enter(caller, concurrentRequests, request)) {
      request.standing = isLimited ? this.#rates.peek(caller, requestsPerMinute) : withoutLimit;
      this.refused[`${kind}concurrency`]++;
      return tooMany(`More than ${concurrentRequests} requests at once`, 1);
    }
    if (!isLimited) {
      request.standing = withoutLimit;
      return null;
    }
    const decided = ({ allowed, standing, retryAfterS }: Taken): AppError | null => {
      request.standing = standing;
      if (allowed) return null;
      this.refused[`${kind}rate`]++;
      return tooMany(`More than ${requestsPerMinute} requests a minute`, retryAfterS);
    };
    const taken = this.#rates.take(caller, requestsPerMinute);
    return taken instanceof Promise ? taken.then(decided) : decided(taken);
  }
}

function addressOf(request: HttpRequest): string {
  return networkOf(request.clientAddress);
}

function tooMany(message: string, retryAfterS: number): AppError {
  return new AppError('rate_limited', message, { retryAfterS });
}
