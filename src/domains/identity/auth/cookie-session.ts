/**
 * The two cookies of a dashboard in the browser. `troupe_session` authenticates and is not readable by scripts; the dashboard's own script
 * reads `troupe_csrf` and sends it with each change, which a page of another site cannot. It is bound to the session by the service's key,
 * so an attacker who can only set cookies cannot create a valid pair.
 *
 * With https both names begin with `__Host-`, and no others are read: a browser accepts such a cookie only from this host over https, so no
 * sibling domain and no unencrypted connection can set one.
 *
 * They are SameSite=Lax, not Strict: links to pages that need the session are opened from e-mails, chats and other sites (above all
 * `GET /integrations/connect`), where a browser would not send a Strict cookie, so a signed-in user would get 401. Lax sends it with such a
 * navigation alone, which is a GET and changes nothing; changes need the CSRF token, whichever site they come from.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { derivedKey } from '../../../derived-key.ts';
import { cookieLifeMs } from '../../../edge/auth/tokens.ts';
import { cookieOf } from '../../../edge/http/cookie.ts';
import type { HttpRequest } from '../../../edge/http/message.ts';
import { base62 } from './base62.ts';

const sessionCookie = 'troupe_session';
const csrfCookie = 'troupe_csrf';
const hostPrefix = '__Host-';
const csrfHeader = 'x-csrf-token';
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface CookieSessions {
  /** The value of `troupe_csrf` for a session. */
  csrfToken(sessionId: string): string;
  /** Values of Set-Cookie: a session begins in this browser. @param token from `Tokens.cookieToken` */
  begin(token: string, sessionId: string): string[];
  /** Values of Set-Cookie: the session ends in this browser. */
  end(): string[];
  /** The value of the session cookie; null if the request has none. */
  sessionOf(request: HttpRequest): string | null;
  /** Whether another site's page may have forged the request: it changes something and does not repeat its CSRF cookie in a header. */
  mayBeForeign(request: HttpRequest): boolean;
  /** Whether the session cookie may authenticate a request: it changes nothing, or contains the session's CSRF token. */
  mayAct(request: HttpRequest, sessionId: string): boolean;
}

export type CookieSessionsOptions = {
  secretKey: string;
  acceptedKeys?: readonly string[];
  /** The address where browsers reach the service. */
  publicUrl(): string;
};

export function createCookieSessions({ secretKey, acceptedKeys = [], publicUrl }: CookieSessionsOptions): CookieSessions {
  const keys = [secretKey, ...acceptedKeys].map((root) => derivedKey(root, 'csrf tokens')) as [Buffer, ...Buffer[]];
  const tokenOf = (sessionId: string, key: Buffer): string => base62(createHmac('sha256', key).update(sessionId).digest(), 43);
  const isSecure = (): boolean => publicUrl().startsWith('https:');
  const nameOf = (cookie: string): string => (isSecure() ? hostPrefix + cookie : cookie);
  const cookie = (name: string, value: string, lifeMs: number, more = ''): string =>
    `${nameOf(name)}=${value}; Path=/; Max-Age=${lifeMs / 1000}; SameSite=Lax${more}${isSecure() ? '; Secure' : ''}`;
  const pair = (token: string, csrf: string, lifeMs: number) => [
    cookie(sessionCookie, token, lifeMs, '; HttpOnly'),
    cookie(csrfCookie, csrf, lifeMs),
  ];
  return {
    csrfToken: (sessionId) => tokenOf(sessionId, keys[0]),
    begin: (token, sessionId) => pair(token, tokenOf(sessionId, keys[0]), cookieLifeMs),
    end: () => pair('', '', 0),
    sessionOf: (request) => cookieOf(request, nameOf(sessionCookie)),
    mayBeForeign(request) {
      if (safeMethods.has(request.method)) return false;
      const sent = request.header(csrfHeader);
      return sent === '' || sent !== cookieOf(request, nameOf(csrfCookie));
    },
    mayAct(request, sessionId) {
      if (safeMethods.has(request.method)) return true;
      return keys.some((key) => isSame(request.header(csrfHeader), tokenOf(sessionId, key)));
    },
  };
}

/** For a header with any content: its numbers of characters and bytes may differ. */
function isSame(sent: string, expected: string): boolean {
  const [given, wanted] = [Buffer.from(sent), Buffer.from(expected)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
