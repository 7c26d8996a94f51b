/**
 * A token bucket, stored as the spent amount: a full bucket has spent nothing, so a bucket unused for a minute need not be stored. Amounts
 * are millionths of a token in whole numbers, and the refilled amount is rounded down, so that no sequence of requests gains a fraction.
 */

/** `perMinute`: the rate at the last request; tokens since then were refilled at that rate. */
export type Bucket = { spent: number; atUs: number; perMinute: number };

/** A caller's rate limit after a request: the values of `X-RateLimit-*`. */
export type RateLimitState = {
  readonly limit: number;
  /** Requests that would be allowed now. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full. */
  readonly resetS: number;
};

export type Taken = {
  readonly allowed: boolean;
  readonly state: RateLimitState /** Whole seconds until a request is allowed; 0 if it was allowed. */;
  readonly retryAfterS: number;
};

export const tokenSize = 1_000_000;
const minuteUs = 60_000_000;

/** The amount still spent after this time, refilled at `perMinute`. */
export function spentAfter(spent: number, elapsedUs: number, perMinute: number): number {
  const came = Math.floor((Math.max(0, Math.min(elapsedUs, minuteUs)) * perMinute) / 60);
  return Math.max(0, spent - came);
}

/** Takes a token if one is available. @param capacity tokens; refilled at `perMinute` */
export function takeFrom(bucket: Bucket, nowUs: number, perMinute: number, capacity = perMinute): boolean {
  const spent = Math.min(spentAfter(bucket.spent, nowUs - bucket.atUs, bucket.perMinute), capacity * tokenSize);
  bucket.atUs = Math.max(bucket.atUs, nowUs);
  bucket.perMinute = perMinute;
  const allowed = spent + tokenSize <= capacity * tokenSize;
  bucket.spent = allowed ? spent + tokenSize : spent;
  return allowed;
}

export function rateLimitStateOf(spent: number, limit: number): RateLimitState {
  const remaining = Math.max(0, Math.min(limit, Math.floor((limit * tokenSize - spent) / tokenSize)));
  return { limit, remaining, resetS: limit === 0 ? 60 : Math.ceil((Math.max(0, spent) * 60) / limit / tokenSize) };
}

/** Whole seconds until a token is available. */
export function retryAfterS(spent: number, limit: number): number {
  if (limit <= 0) return 60;
  const missing = spent + tokenSize - limit * tokenSize;
  return Math.max(1, Math.ceil((missing * 60) / limit / tokenSize));
}
