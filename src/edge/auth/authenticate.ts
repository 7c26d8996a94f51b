/**
 * Who is calling. A token that was seen before costs one look-up in memory, and is answered on the spot.
 *
 * A1 Nobody is let in on an answer older than 900 ms: the session or key itself is asked again after 500 ms, so logout and revocation hold
 *    on every node within a second, and nothing has to be pushed.
 * A2 An expired token is refused to the millisecond, cached or not.
 * A3 A mistyped key and a token without our signature cost no look-up; an unknown key costs one in five seconds.
 */
import { LRUCache } from 'lru-cache';
import { apiKey } from '../../actors/api-key/messages.ts';
import type { ActorSystem } from '../../actors/runtime/actor-system.ts';
import { session } from '../../actors/session/messages.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import type { HttpRequest } from '../http/message.ts';
import { readApiKey } from './api-key-secret.ts';
import type { Principal } from './principal.ts';
import type { Tokens } from './tokens.ts';

export interface Authenticator {
  /**
   * By the value of an Authorization header; null: it names nobody who counts. Throws or rejects `unavailable` when that cannot be found out.
   */
  authenticate(authorization: string): Principal | null | Promise<Principal | null>;
  /** Like `authenticate`, and where there is no header by the `token` of a download link. Rejects `forbidden` for a link that does not open this path. */
  ofRequest(request: HttpRequest): Principal | null | Promise<Principal | null>;
  /** Whether the session or key behind a principal counts now: for connections, which outlive the moment they were authenticated. */
  standing(principal: Principal): Promise<boolean>;
}

export type AuthenticatorOptions = { actors: ActorSystem; database: Database; tokens: Tokens; clock: Clock; log: Log };

type Known = {
  readonly principal: Principal;
  readonly expiresAtMs: number;
  /** When the question was put that was answered last. */
  askedAtMs: number;
  asking: boolean;
  touchedAtMs: number;
};

const askAgainAfterMs = 500;
const oldestAnswerMs = 900;
const touchIntervalMs = 60_000;
const maxKnown = 20_000;
const maxUnknown = 10_000;
const unknownForMs = 5_000;
const maxHeaderChars = 2_100;

export function createAuthenticator({ actors, database, tokens, clock, log }: AuthenticatorOptions): Authenticator {
  const known = new LRUCache<string, Known>({ max: maxKnown });
  /** Hashes of keys that do not exist, and until when that is believed. */
  const unknown = new LRUCache<string, number>({ max: maxUnknown });
  /** Tokens being looked up, so that a burst of requests with a new one asks once. */
  const looking = new Map<string, Promise<Principal | null>>();

  function authenticate(authorization: string): Principal | null | Promise<Principal | null> {
    const entry = known.get(authorization);
    if (entry === undefined) return look(authorization);
    const nowMs = clock.nowMs();
    if (nowMs >= entry.expiresAtMs) {
      known.delete(authorization);
      return null;
    }
    const ageMs = nowMs - entry.askedAtMs;
    // A clock that was set back makes an answer of unknown age.
    if (ageMs >= 0 && ageMs < askAgainAfterMs) return entry.principal;
    return askAgain(authorization, entry, nowMs, ageMs >= 0 && ageMs < oldestAnswerMs);
  }

  function askAgain(authorization: string, entry: Known, nowMs: number, mayServe: boolean): Principal | null | Promise<Principal | null> {
    if (mayServe && entry.asking) return entry.principal;
    const heard = (stands: boolean): Principal | null => {
      entry.asking = false;
      if (!stands) {
        if (known.peek(authorization) === entry) known.delete(authorization);
        return null;
      }
      entry.askedAtMs = nowMs;
      noteUse(entry, nowMs);
      return entry.principal;
    };
    const answer = ask(entry.principal);
    if (typeof answer === 'boolean') return heard(answer);
    entry.asking = true;
    const hearing = answer.then(heard).finally(() => (entry.asking = false));
    if (!mayServe) return hearing;
    hearing.catch((error) => log.warn({ err: error, principal: entry.principal.id }, 'a session or key could not be asked again'));
    return entry.principal;
  }

  function ask({ kind, id }: Principal): boolean | Promise<boolean> {
    if (kind === 'link') return true;
    if (kind === 'session') return actors.query(session, id, 'standing', null);
    const facts = actors.query(apiKey, id, 'facts', null);
    return facts instanceof Promise ? facts.then((found) => found !== null) : facts !== null;
  }

  /** When a key was used last is good to know and worth no failure. */
  function noteUse(entry: Known, nowMs: number): void {
    if (entry.principal.kind !== 'api_key' || nowMs - entry.touchedAtMs < touchIntervalMs) return;
    entry.touchedAtMs = nowMs;
    actors
      .ask(apiKey, entry.principal.id, 'touch', null)
      .catch((error) => log.debug({ err: error, key_id: entry.principal.id }, 'the use of a key was not noted'));
  }

  function look(authorization: string): null | Promise<Principal | null> {
    if (authorization.length > maxHeaderChars || !/^bearer /i.test(authorization)) return null;
    const token = authorization.slice(7).trim();
    const first = looking.get(authorization);
    if (first !== undefined) return first;
    const isKey = token.startsWith('mk_') || token.startsWith('mt_');
    if (!isKey && !token.startsWith('v4.public.')) return null;
    const found = isKey ? lookForKey(token) : lookForSession(token);
    if (found === null) return null;
    const result = found
      .then((entry) => {
        if (entry === null) return null;
        known.set(authorization, entry);
        noteUse(entry, entry.askedAtMs);
        return entry.principal;
      })
      .finally(() => looking.delete(authorization));
    looking.set(authorization, result);
    return result;
  }

  async function lookForSession(token: string): Promise<Known | null> {
    const claims = await tokens.readAccessToken(token);
    if (claims === null) return null;
    const { accountId, userId, sessionId, expiresAtMs } = claims;
    const askedAtMs = clock.nowMs();
    const principal: Principal = { accountId, userId, kind: 'session', scopes: 'all', mode: 'live', id: sessionId };
    return (await ask(principal)) ? { principal, expiresAtMs, askedAtMs, asking: false, touchedAtMs: 0 } : null;
  }

  function lookForKey(token: string): null | Promise<Known | null> {
    const read = readApiKey(token);
    if (read === null) return null;
    const askedAtMs = clock.nowMs();
    const believedUntilMs = unknown.get(read.hash);
    if (believedUntilMs !== undefined && askedAtMs < believedUntilMs) return null;
    return database
      .read({
        name: 'api_key_by_hash',
        text: `select id, account_id, user_id, mode, scopes from api_key where secret_hash = $1 and status = 'active'`,
        values: [read.hash],
      })
      .then(({ rows: [row] }): Known | null => {
        if (row === undefined) unknown.set(read.hash, askedAtMs + unknownForMs);
        // A prefix that says another mode than the key's was mistyped, and might spend real money.
        if (row === undefined || (read.mode !== null && read.mode !== row.mode)) return null;
        const { id, account_id: accountId, user_id: userId, mode, scopes } = row;
        const principal: Principal = { accountId, userId, kind: 'api_key', scopes: new Set(scopes), mode, id };
        return { principal, expiresAtMs: Infinity, askedAtMs, asking: false, touchedAtMs: 0 };
      });
  }

  function ofRequest(request: HttpRequest): Principal | null | Promise<Principal | null> {
    const authorization = request.header('authorization');
    if (authorization !== '' || request.queryString === '') return authenticate(authorization);
    const token = new URLSearchParams(request.queryString).get('token');
    return token === null ? null : byLink(token, request);
  }

  async function byLink(token: string, { method, path }: HttpRequest): Promise<Principal> {
    const claims = await tokens.readDownloadToken(token);
    const asked = path.startsWith('/v1/') ? path.slice(3) : path;
    if (claims === null || claims.path !== asked || (method !== 'GET' && method !== 'HEAD'))
      throw new AppError('forbidden', 'This link is not valid or has expired');
    const { accountId, userId, scope } = claims;
    return { accountId, userId, kind: 'link', scopes: new Set([scope]), mode: 'live', id: asked };
  }

  return { authenticate, ofRequest, standing: async (principal) => ask(principal) };
}
