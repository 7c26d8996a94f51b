/**
 * Decides whether a caller may make one more request now. The edge checks it before it reads a body; the limiter defines how requests are
 * counted.
 */
import { AppError } from '../../errors.ts';
import { accountTimes, unlimited as noLimit, timesLimit } from '../../plans.ts';
import type { Principal } from '../auth/principal.ts';
import { addressGroup } from '../http/client-address.ts';
import type { HttpRequest } from '../http/message.ts';
import type { OwnQuota } from '../http/route.ts';
import type { RateLimitState, Taken } from './bucket.ts';
import { callerOf } from './caller.ts';
import type { Concurrency } from './concurrency.ts';
import type { Entitlement, Entitlements } from './entitlements.ts';
import type { Rates } from './rates.ts';

export interface Limits {
  /**
   * Counts one request, and holds one of the caller's concurrency slots until the request has ended. Sets `request.rateLimit`. Returns
   * null, or the error for a refused caller. Rejects `unavailable` where a plan cannot be read.
   *
   * @param principal null without authentication: the client's address is then the caller
   * @param own of the endpoint, for callers without authentication; null: the quota of all other endpoints
   */
  admit(principal: Principal | null, request: HttpRequest, own?: OwnQuota | null): AppError | null | Promise<AppError | null>;
  /** Sets `request.rateLimit` to that of the client's address, as far as this node knows it. Counts nothing. */
  peek(request: HttpRequest): void;
}

/** Counts nothing and refuses nothing. */
export const unlimited: Limits = { admit: () => null, peek() {} };

/** Sent in headers instead of -1 where there is no limit: clients wait when nothing remains. */
const withoutLimit: RateLimitState = { limit: 2_147_483_647, remaining: 2_147_483_647, resetS: 0 };
/** Larger limits count as unlimited: no caller reaches them. */
const maxRate = 100_000_000;
/** Requests per minute for each concurrent request, as in the free plan. */
const ratePerPlace = 6;
/** All /64 networks of one /48 together may have this many times the quota of one /64: one customer may have all of them. */
const wideNetworkTimes = 20;

export type LimitsOptions = {
  entitlements: Pick<Entitlements, 'of'>;
  rates: Rates;
  concurrency: Concurrency;
  /** Limit of an address without key or session. */
  anonymousPerMinute: number;
};

const reasons = [
  'rate',
  'concurrency',
  'account_rate',
  'account_concurrency',
  'link_rate',
  'link_concurrency',
  'address_rate',
  'address_concurrency',
] as const;
export type RefusalReason = (typeof reasons)[number];

type RequestQuota = Pick<Entitlement, 'requestsPerMinute' | 'concurrentRequests'>;

/** The counters of a request: the caller and, where `group` is not null, the group with which the caller shares a larger quota. */
type Counted = {
  readonly kind: '' | 'link_' | 'address_';
  readonly caller: string;
  readonly quota: RequestQuota;
  readonly group: string | null;
  /** Factor of the group's quota over the caller's. */
  readonly groupTimes: number;
};

export class RequestLimits implements Limits {
  /** Refused requests by reason. */
  readonly refused = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<RefusalReason, number>;
  private readonly entitlements: Pick<Entitlements, 'of'>;
  private readonly rates: Rates;
  private readonly concurrency: Concurrency;
  private readonly anonymous: RequestQuota;

  constructor({ entitlements, rates, concurrency, anonymousPerMinute }: LimitsOptions) {
    this.entitlements = entitlements;
    this.rates = rates;
    this.concurrency = concurrency;
    this.anonymous = { requestsPerMinute: anonymousPerMinute, concurrentRequests: Math.ceil(anonymousPerMinute / ratePerPlace) };
  }

  admit(principal: Principal | null, request: HttpRequest, own: OwnQuota | null = null): AppError | null | Promise<AppError | null> {
    if (principal === null) return this.enter(this.byAddress(request.clientAddress, own), request);
    const entitlement = this.entitlements.of(principal.accountId);
    if (entitlement instanceof Promise) return entitlement.then((found) => this.enter(byPrincipal(principal, found), request));
    return this.enter(byPrincipal(principal, entitlement), request);
  }

  /**
   * Counts a token that was refused outside of a request, e.g. of a WebSocket. False: the client's address has had too many; the caller
   * must answer only that.
   */
  async admitRefusedToken(clientAddress: string): Promise<boolean> {
    const { caller, quota, group, groupTimes } = this.byAddress(clientAddress);
    const { requestsPerMinute } = quota;
    if (requestsPerMinute === noLimit || requestsPerMinute > maxRate) return true;
    const own = await this.rates.take(caller, requestsPerMinute);
    const last = own.allowed && group !== null ? await this.rates.take(group, timesLimit(requestsPerMinute, groupTimes)) : own;
    if (!last.allowed) this.refused.address_rate++;
    return last.allowed;
  }

  peek(request: HttpRequest): void {
    request.rateLimit = this.rates.peek(addressGroup(request.clientAddress, 64), this.anonymous.requestsPerMinute);
  }

  private byAddress(address: string, own: OwnQuota | null = null): Counted {
    const name = own === null ? '' : `${own.name}:`;
    const group = address.includes(':') ? `${name}${addressGroup(address, 48)}` : null;
    const quota = own === null ? this.anonymous : timesQuota(this.anonymous, own.times);
    return { kind: 'address_', caller: `${name}${addressGroup(address, 64)}`, quota, group, groupTimes: wideNetworkTimes };
  }

  private enter(counted: Counted, request: HttpRequest): AppError | null | Promise<AppError | null> {
    const { caller, group, groupTimes } = counted;
    const { requestsPerMinute, concurrentRequests } = counted.quota;
    const isLimited = requestsPerMinute !== noLimit && requestsPerMinute <= maxRate;
    const groupPlaces = timesLimit(concurrentRequests, groupTimes);
    const full = this.concurrency.enter(caller, concurrentRequests, group, groupPlaces, request);
    if (full !== null) {
      request.rateLimit = isLimited ? this.rates.peek(caller, requestsPerMinute) : withoutLimit;
      const places = full === 'caller' ? concurrentRequests : groupPlaces;
      return this.refuse(counted, full, 'concurrency', `${places} requests at once`, 1);
    }
    if (!isLimited) {
      request.rateLimit = withoutLimit;
      return null;
    }
    const own = this.rates.take(caller, requestsPerMinute);
    return own instanceof Promise
      ? own.then((taken) => this.spend(counted, taken, false, request))
      : this.spend(counted, own, true, request);
  }

  /** Takes the group's token after the caller's own: a request that the caller's quota refuses costs the group nothing. */
  private spend(counted: Counted, own: Taken, isAtOnce: boolean, request: HttpRequest): AppError | null | Promise<AppError | null> {
    const { caller, group, groupTimes, quota } = counted;
    request.rateLimit = own.state;
    if (!own.allowed) return this.refuse(counted, 'caller', 'rate', `${quota.requestsPerMinute} requests a minute`, own.retryAfterS);
    if (group === null) return null;
    const perMinute = timesLimit(quota.requestsPerMinute, groupTimes);
    const decided = (all: Taken): AppError | null => {
      if (all.state.remaining < own.state.remaining) request.rateLimit = all.state;
      return all.allowed ? null : this.refuse(counted, 'group', 'rate', `${perMinute} requests a minute`, all.retryAfterS);
    };
    const all = this.rates.take(group, perMinute);
    if (all instanceof Promise) return all.then(decided);
    if (!all.allowed && isAtOnce) this.rates.refund(caller);
    return decided(all);
  }

  private refuse({ kind }: Counted, whose: 'caller' | 'group', of: 'rate' | 'concurrency', limit: string, retryAfterS: number): AppError {
    const isAccount = whose === 'group' && kind === '';
    this.refused[`${isAccount ? 'account_' : kind}${of}`]++;
    const by = isAccount ? ' by all keys and sessions of the account together' : '';
    return new AppError('rate_limited', `More than ${limit}${by}`, { retryAfterS });
  }
}

/** A link may be shared: it has a separate quota, as large as the account's, and does not use the account's quota. */
function byPrincipal(principal: Principal, quota: RequestQuota): Counted {
  const { kind, accountId } = principal;
  if (kind === 'link')
    return { kind: 'link_', caller: `link:${accountId}`, quota: timesQuota(quota, accountTimes), group: null, groupTimes: 1 };
  return { kind: '', caller: callerOf(principal), quota, group: accountId, groupTimes: accountTimes };
}

function timesQuota({ requestsPerMinute, concurrentRequests }: RequestQuota, times: number): RequestQuota {
  return { requestsPerMinute: timesLimit(requestsPerMinute, times), concurrentRequests: timesLimit(concurrentRequests, times) };
}
