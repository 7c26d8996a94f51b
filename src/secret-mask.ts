/**
 * Removes the secrets that are sent to another service from what it answers: it could repeat them in an error, a result or a log. Found as they
 * are written, and as URLs and JSON write them.
 */

/** For credentials that stand alone: a shorter value would occur inside ordinary words. */
export const minCredentialChars = 4;

export class SecretMask {
  private readonly pattern: RegExp | null;

  /** @param minChars shorter secrets are left out, because they occur in texts by chance */
  constructor(secrets: readonly string[], minChars = 6) {
    const forms = secrets.filter(({ length }) => length >= minChars).flatMap((secret) => [secret, inUrl(secret), inJson(secret)]);
    // The longest first: another may be a part of it.
    const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length);
    this.pattern = sorted.length === 0 ? null : new RegExp(sorted.map(literally).join('|'), 'g');
  }

  text(text: string): string {
    return this.pattern === null ? text : text.replace(this.pattern, '[masked]');
  }

  /** @param value JSON, not deeply nested; names of fields are masked too */
  json<T>(value: T): T {
    return this.pattern === null ? value : (this.masked(value) as T);
  }

  /** Whether JSON has a secret, in a value or in the name of a field. */
  isIn(value: unknown): boolean {
    return this.pattern !== null && JSON.stringify(this.masked(value)) !== JSON.stringify(value);
  }

  private masked(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : '[masked]';
    if (Array.isArray(value)) return value.map((inner) => this.masked(inner));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.text(name), this.masked(inner)]));
  }
}

function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
