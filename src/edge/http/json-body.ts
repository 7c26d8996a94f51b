/** Reads a JSON body: limited in bytes, nesting and time, strictly UTF-8; refuses text that cannot be stored. */
import { isUtf8 } from 'node:buffer';
import { AppError, type Issue } from '../../errors.ts';
import { JsonBounds } from '../../json-bounds.ts';
import { unstorableMessage, unstorablePaths } from '../../storable-text.ts';
import type { HeldBody } from './body-budget.ts';
import type { HttpRequest } from './message.ts';

export const maxJsonBytes = 2 ** 20;
const maxDepth = 64;
/** Far more than any endpoint takes. Many small values cost the parser and later checks much more than their bytes suggest. */
const maxValues = 20_000;
const maxIssues = 20;
/** A slower sender of JSON is cut off. */
const withinMs = 60_000;

/** Returns null where a body of so many bytes may be parsed now, otherwise a promise of that (`BodyTurns`). */
export type TakeTurn = (bytes: number) => Promise<void> | null;

/**
 * The parsed body; undefined where it is empty. Throws `payload_too_large` as soon as the body is known to be over a MiB,
 * `unsupported_media_type`, `bad_request` for invalid JSON, `invalid` for strings with NUL or an unpaired surrogate, and what `held`
 * throws.
 */
export async function readJson(request: HttpRequest, held: HeldBody, turn: TakeTurn): Promise<unknown> {
  const { body } = request;
  if (body === null || body.declaredBytes === 0) return undefined;
  if (!isJsonType(request.header('content-type'))) throw new AppError('unsupported_media_type', 'Send the body as application/json');
  if (body.declaredBytes !== null && body.declaredBytes > maxJsonBytes) throw tooLarge();
  const whole = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let refused = false;
    body.read(
      {
        data(chunk, last) {
          if (refused) return;
          bytes += chunk.length;
          if (bytes > maxJsonBytes) {
            refused = true;
            return reject(tooLarge());
          }
          try {
            held.add(chunk.length);
            chunks.push(Buffer.from(chunk));
            if (last) resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
          } catch (error) {
            refused = true;
            reject(error);
          }
        },
        aborted: () => reject(new AppError('bad_request', 'The request ended before its body')),
      },
      withinMs,
    );
  });
  const waiting = turn(whole.length);
  if (waiting !== null) await waiting;
  const text = decode(whole);
  return text === '' ? undefined : parseJson(text);
}

/** The value in a body that was read already. Throws as `readJson`. */
export function jsonOf(bytes: Buffer): unknown {
  return parseJson(decode(bytes));
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', `A JSON body may have at most ${maxJsonBytes} bytes`);
}

function tooDeep(): AppError {
  return new AppError('bad_request', `The body nests deeper than ${maxDepth} levels`);
}

function tooMany(): AppError {
  const msg = `The body should have at most ${maxValues} names and values`;
  return new AppError('invalid', msg, { issues: [{ loc: ['body'], msg, type: 'too_long', input: null, ctx: { max_length: maxValues } }] });
}

/** Whether a Content-Type is JSON in UTF-8. */
export function isJsonType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => !parameter.trim().startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter.trim()));
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'The body is not valid UTF-8');
  const bounds = new JsonBounds({ maxDepth, maxValues });
  if (!bounds.take(bytes)) throw bounds.isTooDeep ? tooDeep() : tooMany();
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad_request', 'The body is not valid JSON', { cause });
  }
  // In valid UTF-8 and valid JSON, only an escape can produce NUL or an unpaired surrogate.
  if (text.includes('\\u')) {
    const issues = unstorablePaths(value, maxIssues).map(unstorable);
    if (issues.length > 0) throw new AppError('invalid', 'The body holds text that cannot be stored', { issues });
  }
  return value;
}

function unstorable(path: string[]): Issue {
  return { loc: ['body', ...path], msg: unstorableMessage, type: 'value_error', input: null, ctx: {} };
}
