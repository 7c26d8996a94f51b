/**
 * Identifies the browser that began a consent. A consent that our callback completes connects the service that the person at this browser has just allowed.
 * It must not complete for another account: an attacker could send a person the address of a consent that was begun for the attacker's account.
 * A browser has one cookie for all consents that it begins; a consent stores the hash of the cookie.
 */
import { cookieOf } from '../../../edge/http/cookie.ts';
import type { HttpRequest } from '../../../edge/http/message.ts';
import { randomState } from '../oauth/token-endpoint.ts';
import { authorizationLifeMs } from './authorization.ts';

const name = 'troupe_consent';
const valueForm = /^[\w-]{32,128}$/;

/** The browser's value, a new one if it has none, and the Set-Cookie header that keeps it as long as the consent. */
export function markBrowser(request: HttpRequest, publicUrl: string): { browser: string; cookie: string } {
  const isSecure = publicUrl.startsWith('https:');
  const browser = browserOf(request, publicUrl) ?? randomState();
  // `Lax`: the browser returns by a link from another site.
  const rules = `Path=/; Max-Age=${authorizationLifeMs / 1_000}; SameSite=Lax; HttpOnly${isSecure ? '; Secure' : ''}`;
  return { browser, cookie: `${nameOf(isSecure)}=${browser}; ${rules}` };
}

/** null: it began no consent in the last minutes. */
export function browserOf(request: HttpRequest, publicUrl: string): string | null {
  const value = cookieOf(request, nameOf(publicUrl.startsWith('https:')));
  return value !== null && valueForm.test(value) ? value : null;
}

/**
 * Whether a person's browser may have sent the request. Browsers send headers that no page and no link can prevent; a program that sends a
 * code was given the code, and a link cannot run a program.
 */
export function isFromBrowser(request: HttpRequest): boolean {
  const isMarked = request.has('sec-fetch-site') || request.has('sec-fetch-dest');
  return isMarked || /^mozilla\//i.test(request.header('user-agent')) || /text\/html|image\//.test(request.header('accept'));
}

/** With https no other host and no unencrypted connection can set such a cookie. */
function nameOf(isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}
