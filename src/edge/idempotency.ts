/**
 * Idempotency-Key: a request that is sent again has its effect once and gets the first answer again. The key is reserved with the ids the
 * request will work with; a retry that finds no answer, since a crash came first, runs again with those ids and so repeats nothing.
 * It is freed only where surely nothing happened: by a refusal of the first request that had it, behind which none of its commands is committed.
 * A refusal of a retry proves nothing: the commit of the first may still be on its way.
 *
 * An account has one space of keys for what is live and one for what is test, whichever credential sends them. An answer is given again to whoever
 * could have made the request. An uploaded file is part of its request: it is hashed as it comes, and the key is bound to the hash before the file has an effect.
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
} from '../storage/idempotency-keys.ts';
import { SecretError, type Secrets } from '../storage/secrets.ts';
import type { Principal } from './auth/principal.ts';
import type { AnyContext, AnyRoute, Reply } from './http/route.ts';
import { callerOf } from './limits/caller.ts';

export type IdempotencyOptions = {
  keys: IdempotencyKeys;
  secrets: Secrets;
  log: Log;
  /** Told which commands are asked for again, until the returned function is called: their refusals must be final for earlier requests too. */
  repeating(commandIds: readonly string[]): () => void;
};

export { earlierCommand };

/** Answers may hold secrets, a new key above all: they are kept encrypted, each bound to its account and key. */
const purpose = 'idempotent answers';
/** Larger answers are not kept: a retry runs again with the same ids instead. */
const maxKeptChars = 262_144;

/**
 * The id of what a handler creates, and the id of the command it asks for. One command id stands for one command: a handler that asks twice
 * adds `earlierCommand` to that of the first. Without a key the id is new and there is no command id.
 */
export function commandIds<P extends IdPrefix>(
  { reservation, principal }: { readonly reservation: Reservation | null; readonly principal: Pick<Principal, 'accountId'> },
  prefix: P,
  nowMs?: number,
): { id: `${P}${string}`; commandId: string | undefined } {
  if (reservation === null) return { id: newId(prefix, principal.accountId, nowMs), commandId: undefined };
  return { id: `${prefix}${reservation.ulid}`, commandId: reservation.commandId };
}

/** Makes the wrapper of handlers that the router takes. */
export function createIdempotency({
  keys,
  secrets,
  log,
  repeating,
}: IdempotencyOptions): (context: AnyContext, next: () => Promise<Reply>) => Promise<Reply> {
  /** Fingerprints of what runs in this process, by account and key. */
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
    const isUpload = context.route.body === 'multipart';
    if (found.kind === 'answered') {
      await context.route.authorize?.(context as never);
      if (isUpload && found.contents !== null) await mustUpload(context, found.contents);
      return replay(found.status, read(found.response, name));
    }
    context.reservation = found;
    let isOther = false;
    if (isUpload) {
      // Before it is stored: a retry after a crash, which may have come behind the effect, is held to the same contents.
      context.uploaded = async (contents) => {
        isOther = !(await keys.bind(of, found.commandId, contents));
        if (isOther) throw otherRequest();
      };
    }
    const ended = found.again ? repeating(commandsOf(found.commandId)) : null;
    let reply: Reply;
    try {
      reply = await next();
    } catch (error) {
      if (!found.again && hadNoEffect(error) && !isOther) await quietly(keys.free(of, found.commandId), context);
      throw error;
    } finally {
      ended?.();
    }
    if (!found.again && reply.status >= 400 && reply.status < 500) await quietly(keys.free(of, found.commandId), context);
    if (reply.status < 300) await quietly(keep(of, found.commandId, name, reply, context.route), context);
    return reply;
  }

  async function keep(of: KeyOfCaller, commandId: string, name: string, reply: Reply, route: AnyRoute): Promise<void> {
    const { secretFields = [] } = route;
    const whole = keptForm(reply, []);
    if (whole === null) return;
    const encrypted = secrets.encrypt(purpose, whole, name);
    // A key that is kept for a day is gone when its secret would be.
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

  /** The request itself has been decided: what fails here costs a later retry some work, and nobody their answer. */
  async function quietly(work: Promise<void>, { requestId }: AnyContext): Promise<void> {
    await work.catch((error) => log.warn({ err: error, request_id: requestId }, 'an idempotency key could not be completed'));
  }
}

/** Bare, or quoted as a structured field. */
function readKey(header: string): string {
  const key = header.length >= 2 && header.startsWith('"') && header.endsWith('"') ? header.slice(1, -1) : header;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalidField(['header', 'Idempotency-Key'], 'Use 1 to 255 printable characters');
  return key;
}

/** Live and test keys are apart: no caller's key holds a tab. */
function keyOf({ accountId, mode }: Principal, key: string): KeyOfCaller {
  return { accountId, key: mode === 'test' ? `test\t${key}` : key };
}

/**
 * What makes two requests the same: target and contents, those of an upload excepted, which have not come yet. Where any key may ask and the
 * route does not say what an answer needs, the caller too.
 */
function fingerprint({ route, request, principal, body }: AnyContext): string {
  const { method, path, queryString } = request;
  const caller = route.scope === 'any' && route.authorize === undefined ? callerOf(principal!) : null;
  return printOf([caller, method, path.startsWith('/v1/') ? path.slice(3) : path, queryString, body ?? null]);
}

/** How an earlier version told requests apart, whose keys are still in use: by caller and prefix too, and an upload by its length. */
function earlierFingerprint({ request, principal, body }: AnyContext): string {
  const caller = callerOf(principal!);
  const contents = body === undefined ? (request.body?.declaredBytes ?? null) : body;
  return printOf([caller, request.method, request.path, request.queryString, contents]);
}

function printOf(parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts, inOrder)).digest('base64url');
}

/** Reads the uploaded file to its end and keeps nothing of it. Throws where it is another one. */
async function mustUpload(context: AnyContext, contents: string): Promise<void> {
  context.uploaded = async (uploaded) => {
    if (uploaded !== contents) throw otherRequest();
  };
  await context.receiveFile(async ({ content }) => {
    for await (const _chunk of content);
  });
}

/** For JSON.stringify: the order of an object's fields does not matter. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A refusal (4xx) leaves no trace. What failed otherwise may have had part of its effect: its ids stay reserved for the retry. */
function hadNoEffect(error: unknown): boolean {
  return error instanceof AppError && errorCodes[error.code].http < 500 && !mayHaveHappened(error);
}

/** Where money moves a retry may come late. */
function keptForOf({ path }: AnyRoute): KeptFor {
  return /^\/(commerce|trading)\//.test(path) ? 'month' : 'day';
}

type Kept = { json?: unknown; text?: string; headers?: Record<string, string> | null };

/** null: a body that cannot be kept. */
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
