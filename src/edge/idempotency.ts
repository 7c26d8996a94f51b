/**
 * Idempotency-Key: a repeated request has its effect once and gets the first answer again. The key is reserved with the ids that the
 * request will use; a retry that finds no answer, because a crash came first, runs again with those ids and so repeats nothing. A key is
 * released only where certainly nothing happened: by a refusal of its first request, with none of its commands committed. A refusal of a
 * retry proves nothing: the first request's commit may still arrive. A request whose caller disconnected before its key was reserved does
 * not run.
 *
 * An account has one set of keys for live mode and one for test mode, for all its credentials. An answer is replayed to every credential
 * that could have made the request. An uploaded file is part of its request: it is hashed as it arrives, and the key is bound to the hash
 * before the file has an effect.
 */
import { createHash } from 'node:crypto';
import { AppError, errorCodes, invalidField, mayHaveHappened } from '../errors.ts';
import { type IdPrefix, newId } from '../ids.ts';
import type { Log } from '../log.ts';
import {
  commandsOf,
  earlierCommand,
  type IdempotencyKeys,
  type KeptFor,
  type KeyOfCaller,
  type Reservation,
  type Reserved,
} from '../storage/idempotency-keys.ts';
import { SecretError, type Secrets } from '../storage/secrets.ts';
import type { Principal } from './auth/principal.ts';
import type { AnyContext, AnyRoute, Reply } from './http/route.ts';
import { callerOf } from './limits/caller.ts';

export type IdempotencyOptions = {
  keys: IdempotencyKeys;
  secrets: Secrets;
  log: Log;
  /** Marks commands as repeated until the returned function is called: their refusals must be final for earlier requests too. */
  repeating(commandIds: readonly string[]): () => void;
};

export { earlierCommand };

/** Answers may hold secrets, e.g. a new key: they are stored encrypted, each bound to its account and key. */
const purpose = 'idempotent answers';
/** A larger answer is not stored: a retry runs again with the same ids. */
const maxKeptChars = 262_144;

/**
 * The id of the object that a handler creates, and the id of its command. One command id identifies one command: a handler with two adds
 * `earlierCommand` to that of the first. Without a key the object's id is new and there is no command id.
 */
export function commandIds<P extends IdPrefix>(
  { reservation, principal }: { readonly reservation: Reservation | null; readonly principal: Pick<Principal, 'accountId'> },
  prefix: P,
  nowMs?: number,
): { id: `${P}${string}`; commandId: string | undefined } {
  if (reservation === null) return { id: newId(prefix, principal.accountId, nowMs), commandId: undefined };
  return { id: `${prefix}${reservation.ulid}`, commandId: reservation.commandId };
}

/** Makes the wrapper of handlers for the router. */
export function createIdempotency({
  keys,
  secrets,
  log,
  repeating,
}: IdempotencyOptions): (context: AnyContext, next: () => Promise<Reply>) => Promise<Reply> {
  /** Fingerprints of requests that run in this process, by account and key. */
  const running = new Map<string, string>();

  return async function around(context, next) {
    if (!context.request.has('idempotency-key') || context.principal === null) return next();
    const of = keyOf(context.principal, readKey(context.request.header('idempotency-key')));
    const print = fingerprint(context);
    const name = `${of.accountId}\n${of.key}`;
    const inFlight = running.get(name);
    if (inFlight !== undefined) throw inFlight === print ? stillRunning() : otherRequest();
    running.set(name, print);
    try {
      return await reserved(context, of, name, print, next);
    } finally {
      running.delete(name);
    }
  };

  async function reserved(context: AnyContext, of: KeyOfCaller, name: string, print: string, next: () => Promise<Reply>): Promise<Reply> {
    const found = await keys.reserve(of, print, keptForOf(context.route), () => earlierFingerprint(context));
    if (found.kind === 'other') throw otherRequest();
    if (found.kind === 'running') throw stillRunning();
    if (found.kind === 'answered') {
      await context.route.authorize?.(context as never);
      if (context.route.body === 'multipart' && found.contents !== null) await mustUpload(context, found.contents);
      return replay(found.status, read(found.response, name));
    }
    if (context.request.isOver) {
      // Its caller may have been refused meanwhile by a retry at another node, and must not find it done after that.
      if (!found.isRepeat) await keys.free(of, found.commandId);
      throw new AppError('unavailable', 'The caller disconnected before the request began; nothing was done', { retryAfterS: 1 });
    }
    const release = keys.holdWhileRunning(of, found.commandId);
    try {
      return await run(context, of, name, found, next);
    } finally {
      release();
    }
  }

  async function run(
    context: AnyContext,
    of: KeyOfCaller,
    name: string,
    found: Extract<Reserved, { kind: 'mine' }>,
    next: () => Promise<Reply>,
  ): Promise<Reply> {
    context.reservation = found;
    let isBound = true;
    if (context.route.body === 'multipart') {
      // Before the file is stored: a retry after a crash, which may follow the effect, must have the same contents.
      context.uploaded = async (contents) => {
        const bound = await keys.bind(of, found.commandId, contents);
        isBound = bound === 'bound';
        if (!isBound) throw bound === 'other' ? otherRequest() : stillRunning();
      };
    }
    const ended = found.isRepeat ? repeating(commandsOf(found.commandId)) : null;
    let reply: Reply;
    try {
      reply = await next();
    } catch (error) {
      if (!found.isRepeat && hadNoEffect(error) && isBound) await ignoreFailure(keys.free(of, found.commandId), context);
      throw error;
    } finally {
      ended?.();
    }
    if (!found.isRepeat && reply.status >= 400 && reply.status < 500) await ignoreFailure(keys.free(of, found.commandId), context);
    if (reply.status < 300) await ignoreFailure(keep(of, found.commandId, name, reply, context.route), context);
    return reply;
  }

  async function keep(of: KeyOfCaller, commandId: string, name: string, reply: Reply, route: AnyRoute): Promise<void> {
    const { secretFields = [] } = route;
    const complete = keptForm(reply, []);
    if (complete === null) return;
    const encrypted = secrets.encrypt(purpose, complete, name);
    // A key that is kept for a day is deleted with its secret.
    if (keptForOf(route) === 'day' || secretFields.length === 0) return keys.keep(of, commandId, reply.status, encrypted);
    const bare = secrets.encrypt(purpose, keptForm(reply, secretFields)!, name);
    return keys.keep(of, commandId, reply.status, bare, encrypted);
  }

  function read(kept: string, name: string): string {
    try {
      return secrets.decrypt(purpose, kept, name);
    } catch (cause) {
      if (!(cause instanceof SecretError)) throw cause;
      throw new AppError('conflict', 'The first answer to this Idempotency-Key can no longer be read; use a new key', { cause });
    }
  }

  /** The request is already decided: a failure here only costs a later retry some work. */
  async function ignoreFailure(work: Promise<void>, { requestId }: AnyContext): Promise<void> {
    await work.catch((error) => log.warn({ err: error, request_id: requestId }, 'an idempotency key could not be completed'));
  }
}

/** The key, bare or quoted as a structured field. */
function readKey(header: string): string {
  const key = header.length >= 2 && header.startsWith('"') && header.endsWith('"') ? header.slice(1, -1) : header;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalidField(['header', 'Idempotency-Key'], 'Use 1 to 255 printable characters');
  return key;
}

/** Separates live and test keys: no caller's key contains a tab. */
function keyOf({ accountId, mode }: Principal, key: string): KeyOfCaller {
  return { accountId, key: mode === 'test' ? `test\t${key}` : key };
}

/**
 * Identifies equal requests: by target and contents; an upload's contents are added when they have arrived. The caller is included where
 * any key may ask and the route does not state what the answer requires.
 */
function fingerprint({ route, request, principal, body }: AnyContext): string {
  const { method, path, queryString } = request;
  const caller = route.scope === 'any' && route.authorize === undefined ? callerOf(principal!) : null;
  return printOf([caller, method, path.startsWith('/v1/') ? path.slice(3) : path, queryString, body ?? null]);
}

/** The fingerprint of an earlier version, whose keys are still in use: includes caller and prefix, and an upload's length. */
function earlierFingerprint({ request, principal, body }: AnyContext): string {
  const caller = callerOf(principal!);
  const contents = body === undefined ? (request.body?.declaredBytes ?? null) : body;
  return printOf([caller, request.method, request.path, request.queryString, contents]);
}

function printOf(parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts, inOrder)).digest('base64url');
}

/** Reads the uploaded file to its end without storing it. Throws where it differs from the first one. */
async function mustUpload(context: AnyContext, contents: string): Promise<void> {
  context.uploaded = async (uploaded) => {
    if (uploaded !== contents) throw otherRequest();
  };
  await context.receiveFile(async ({ content }) => {
    for await (const _chunk of content);
  });
}

/** For JSON.stringify: makes the order of an object's fields irrelevant. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A refusal (4xx) had no effect. Another failure may have had part of its effect: its ids stay reserved for the retry. */
function hadNoEffect(error: unknown): boolean {
  return error instanceof AppError && errorCodes[error.code].http < 500 && !mayHaveHappened(error);
}

/** Routes that move money keep keys longer, because a retry may come late. */
function keptForOf({ path }: AnyRoute): KeptFor {
  return /^\/(commerce|trading)\//.test(path) ? 'month' : 'day';
}

type Kept = { json?: unknown; text?: string; headers?: Record<string, string> | null };

/** null: the body cannot be stored. */
function keptForm(reply: Reply, secretFields: readonly string[]): string | null {
  let kept: Kept;
  if (!('body' in reply)) kept = { json: without(secretFields, reply.json), headers: reply.headers };
  else if (reply.body === null || typeof reply.body === 'string') kept = { text: reply.body ?? undefined, headers: reply.headers };
  else return null;
  const text = JSON.stringify(kept);
  return text.length <= maxKeptChars ? text : null;
}

function without(secretFields: readonly string[], json: unknown): unknown {
  if (secretFields.length === 0 || json === undefined) return json;
  return JSON.parse(JSON.stringify(json, (name, value) => (secretFields.includes(name) ? null : value)));
}

function replay(status: number, kept: string): Reply {
  const { json, text, headers }: Kept = JSON.parse(kept);
  const marked = { ...headers, 'Idempotency-Replayed': 'true' };
  return text === undefined ? { status, json, headers: marked } : { status, body: text, headers: marked };
}

function stillRunning(): AppError {
  return new AppError('conflict', 'The first request with this Idempotency-Key is still running', { retryAfterS: 1 });
}

function otherRequest(): AppError {
  return invalidField(['header', 'Idempotency-Key'], 'This key was used for another request before');
}
