/**
 * Authenticates callers. A cached token costs one look-up in memory, without waiting.
 *
 * A1 No caller is authenticated by an answer older than 900 ms: the session or key is queried again after 500 ms, and for a session also
 *    its user, so logout, revocation and the end of all sessions hold on every node within a second, without push.
 * A2 An expired token is refused to the millisecond, cached or not.
 * A3 A mistyped key and a token without our signature cost no look-up; an unknown key costs one in five seconds.
 * A4 A cookie allows no change without the session's CSRF token, because a browser sends the cookie with requests of any page.
 */
import { LRUCache } from 'lru-cache';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Authenticator } from '../../../edge/auth/authenticator.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import type { AccessClaims, Tokens } from '../../../edge/auth/tokens.ts';
import type { HttpRequest } from '../../../edge/http/message.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Database } from '../../../storage/database.ts';
import { apiKey } from '../api-key/messages.ts';
import { session } from '../session/messages.ts';
import { user } from '../user/messages.ts';
import { readApiKey } from './api-key-secret.ts';
import type { CookieSessions } from './cookie-session.ts';

export type AuthenticatorOptions = {
  actors: ActorSystem;
  database: Database;
  tokens: Tokens;
  cookies: CookieSessions;
  clock: Clock;
  log: Log;
};

type Known = {
  readonly principal: Principal;
  readonly expiresAtMs: number;
  /** When the last answered query was sent. */
  askedAtMs: number;
  isRevalidating: boolean;
  touchedAtMs: number;
};

const revalidateAfterMs = 500;
const oldestAnswerMs = 900;
const touchIntervalMs = 60_000;
const maxKnown = 20_000;
const maxUnknown = 10_000;
const unknownForMs = 5_000;
const maxHeaderChars = 2_100;

export function createAuthenticator({ actors, database, tokens, cookies, clock, log }: AuthenticatorOptions): Authenticator {
  const cache = new LRUCache<string, Known>({ max: maxKnown });
  /** Hashes of keys that do not exist, each with the end of its cache entry. */
  const unknown = new LRUCache<string, number>({ max: maxUnknown });
  /** Tokens being looked up, so that concurrent requests with a new token cause one query. */
  const inProgress = new Map<string, Promise<Principal | null>>();

  const authenticate = (authorization: string) => cached(authorization, identify);

  /** @param name the key of the principal in the cache */
  function cached(name: string, lookUp: (name: string) => null | Promise<Principal | null>): Principal | null | Promise<Principal | null> {
    const entry = cache.get(name);
    if (entry === undefined) return lookUp(name);
    const nowMs = clock.nowMs();
    if (nowMs >= entry.expiresAtMs) {
      cache.delete(name);
      return null;
    }
    const ageMs = nowMs - entry.askedAtMs;
    // After a clock was set back the answer's age is unknown.
    if (ageMs >= 0 && ageMs < revalidateAfterMs) return entry.principal;
    return revalidate(name, entry, nowMs, ageMs >= 0 && ageMs < oldestAnswerMs);
  }

  function revalidate(name: string, entry: Known, nowMs: number, mayServe: boolean): Principal | null | Promise<Principal | null> {
    if (mayServe && entry.isRevalidating) return entry.principal;
    const applyResult = (isValid: boolean): Principal | null => {
      entry.isRevalidating = false;
      if (!isValid) {
        if (cache.peek(name) === entry) cache.delete(name);
        return null;
      }
      entry.askedAtMs = nowMs;
      noteUse(entry, nowMs);
      return entry.principal;
    };
    const answer = ask(entry.principal);
    if (typeof answer === 'boolean') return applyResult(answer);
    entry.isRevalidating = true;
    const revalidation = answer.then(applyResult).finally(() => (entry.isRevalidating = false));
    if (!mayServe) return revalidation;
    revalidation.catch((error) => log.warn({ err: error, principal: entry.principal.id }, 'a session or key could not be revalidated'));
    return entry.principal;
  }

  function ask({ kind, id, userId }: Principal): boolean | Promise<boolean> {
    if (kind === 'link') return true;
    if (kind === 'session') {
      const opened = actors.query(session, id, 'standing', null);
      const current = actors.query(user, userId, 'generation', null);
      if (opened instanceof Promise || current instanceof Promise) return Promise.all([opened, current]).then(isOfToday);
      return isOfToday([opened, current]);
    }
    const facts = actors.query(apiKey, id, 'facts', null);
    return facts instanceof Promise ? facts.then((found) => found !== null) : facts !== null;
  }

  /** The time of last use is only informative: a failure to record it is logged. */
  function noteUse(entry: Known, nowMs: number): void {
    if (entry.principal.kind !== 'api_key' || nowMs - entry.touchedAtMs < touchIntervalMs) return;
    entry.touchedAtMs = nowMs;
    actors
      .ask(apiKey, entry.principal.id, 'touch', null)
      .catch((error) => log.debug({ err: error, key_id: entry.principal.id }, 'the use of a key could not be recorded'));
  }

  function identify(authorization: string): null | Promise<Principal | null> {
    if (authorization.length > maxHeaderChars || !/^bearer /i.test(authorization)) return null;
    const token = authorization.slice(7).trim();
    const isKey = token.startsWith('mk_') || token.startsWith('mt_');
    if (!isKey && !token.startsWith('v4.public.')) return null;
    return identifyOnce(authorization, () => (isKey ? findKey(token) : findSession(tokens.readAccessToken(token))));
  }

  function identifyOnce(name: string, find: () => null | Promise<Known | null>): null | Promise<Principal | null> {
    const first = inProgress.get(name);
    if (first !== undefined) return first;
    const found = find();
    if (found === null) return null;
    const result = found
      .then((entry) => {
        if (entry === null) return null;
        cache.set(name, entry);
        noteUse(entry, entry.askedAtMs);
        return entry.principal;
      })
      .finally(() => inProgress.delete(name));
    inProgress.set(name, result);
    return result;
  }

  async function findSession(reading: Promise<(AccessClaims & { expiresAtMs: number }) | null>): Promise<Known | null> {
    const claims = await reading;
    if (claims === null) return null;
    const { accountId, userId, sessionId, expiresAtMs } = claims;
    const askedAtMs = clock.nowMs();
    const principal: Principal = { accountId, userId, kind: 'session', scopes: 'all', mode: 'live', id: sessionId };
    return (await ask(principal)) ? { principal, expiresAtMs, askedAtMs, isRevalidating: false, touchedAtMs: 0 } : null;
  }

  function findKey(token: string): null | Promise<Known | null> {
    const read = readApiKey(token);
    if (read === null) return null;
    const askedAtMs = clock.nowMs();
    const unknownUntilMs = unknown.get(read.hash);
    if (unknownUntilMs !== undefined && askedAtMs < unknownUntilMs) return null;
    return database
      .read({
        name: 'api_key_by_hash',
        text: `select id, account_id, user_id, mode, scopes from api_key where secret_hash = $1 and status = 'active'`,
        values: [read.hash],
      })
      .then(({ rows: [row] }): Known | null => {
        if (row === undefined) unknown.set(read.hash, askedAtMs + unknownForMs);
        // A prefix with another mode than the key's was mistyped, and might spend real money.
        if (row === undefined || (read.mode !== null && read.mode !== row.mode)) return null;
        const { id, account_id: accountId, user_id: userId, mode, scopes } = row;
        const principal: Principal = { accountId, userId, kind: 'api_key', scopes: new Set(scopes), mode, id };
        return { principal, expiresAtMs: Infinity, askedAtMs, isRevalidating: false, touchedAtMs: 0 };
      });
  }

  function ofRequest(request: HttpRequest): Principal | null | Promise<Principal | null> {
    if (request.has('authorization')) return authenticate(request.header('authorization'));
    const token = request.queryString === '' ? null : new URLSearchParams(request.queryString).get('token');
    if (token !== null) return byLink(token, request);
    const cookie = cookies.sessionOf(request);
    return cookie === null ? null : byCookie(cookie, request);
  }

  function byCookie(cookie: string, request: HttpRequest): Principal | null | Promise<Principal | null> {
    if (cookies.mayBeForeign(request)) throw foreign();
    const mayAct = (principal: Principal | null): Principal | null => {
      if (principal !== null && !cookies.mayAct(request, principal.id)) throw foreign();
      return principal;
    };
    // A header cannot contain NUL, so no sent token equals the cache key of a cookie.
    const found = cached(`\0${cookie}`, (name) => identifyOnce(name, () => findSession(tokens.readCookieToken(cookie))));
    return found instanceof Promise ? found.then(mayAct) : mayAct(found);
  }

  async function byLink(token: string, { method, path }: HttpRequest): Promise<Principal> {
    const claims = await tokens.readDownloadToken(token);
    const unversioned = path.startsWith('/v1/') ? path.slice(3) : path;
    if (claims === null || claims.path !== unversioned || (method !== 'GET' && method !== 'HEAD'))
      throw new AppError('forbidden', 'This link is not valid or has expired');
    const { accountId, userId, scope } = claims;
    return { accountId, userId, kind: 'link', scopes: new Set([scope]), mode: 'live', id: unversioned };
  }

  return { authenticate, ofRequest, isStillValid: async (principal) => ask(principal) };
}

/** Whether a session is valid: compares the generation it was opened with and the user's current one. */
function isOfToday([opened, current]: [number | null, number | null]): boolean {
  return opened !== null && opened === current;
}

function foreign(): AppError {
  return new AppError('forbidden', 'Send the value of the troupe_csrf cookie as X-CSRF-Token');
}
