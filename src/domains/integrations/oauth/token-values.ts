/** Reads the values of token answers (RFC 6749, section 5.1), which another server has written: any value may be missing or invalid. */

/** A longer one does not fit in a header. */
const maxTokenChars = 16_384;
/** The end of a longer lifetime, such as 1e308 s, could not be stored as a date. */
const maxLifetimeS = 10 * 366 * 86_400;
const maxScopes = 200;
/** Of RFC 6749, section 3.3. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

/** null: it is missing, or cannot be sent in a header. */
export function accessTokenIn(value: unknown): string | null {
  return typeof value === 'string' && value.length <= maxTokenChars && /^[\x21-\x7e]+$/.test(value) ? value : null;
}

/** null: it is missing or invalid. */
export function refreshTokenIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= maxTokenChars ? value : null;
}

/** The lifetime in milliseconds, from `expires_in` in seconds; null: it is missing or invalid. */
export function lifeIn(expiresIn: unknown): number | null {
  const seconds = typeof expiresIn === 'string' ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== 'number' || Number.isNaN(seconds) || seconds <= 0) return null;
  return Math.min(seconds, maxLifetimeS) * 1_000;
}

/** Separated by spaces or commas; invalid names are left out. */
export function scopesIn(scope: string): string[] {
  return scope
    .split(/[\s,]+/)
    .filter((name) => scopeForm.test(name))
    .slice(0, maxScopes);
}
