/**
 * Compresses answers where that pays: text of more than a packet, to callers who take gzip. Everything else is sent as it is: files are stored
 * as they came, answers to commands may show a secret once beside text of the caller's choosing, and what a cookie opens could be asked for
 * from another site's page; the length of a compressed secret gives it away (BREACH).
 */
import { promisify } from 'node:util';
import { constants, gzip, gzipSync } from 'node:zlib';
import type { HttpRequest, HttpResponse } from './message.ts';

/** Shorter ones fit a packet either way. */
const worthwhileChars = 1_400;
/** Longer ones are compressed beside the event loop, which this many take 50 µs of. */
const atOnceChars = 16_384;
/** Most of the gain for the least work; the small window and table are cheap to set up. */
const fast = { level: constants.Z_BEST_SPEED, windowBits: 13, memLevel: 6 };
/** Texts being compressed beside the event loop; beyond it they are sent as they are rather than wait for each other. */
const atWorkMax = 16;
let atWork = 0;

const compress = promisify(gzip);

/** The answer to GET or HEAD as it goes out. */
export function compressed(request: HttpRequest, response: HttpResponse): HttpResponse | Promise<HttpResponse> {
  const { body, status, headers } = response;
  if (typeof body !== 'string' || body.length < worthwhileChars || status !== 200) return response;
  const varied: HttpResponse = { ...response, headers: { ...headers, Vary: 'Accept-Encoding' } };
  if (!accepts(request.header('accept-encoding'), 'gzip') || request.has('cookie')) return varied;
  if (body.length <= atOnceChars) return encoded(varied, gzipSync(body, fast));
  return atWork >= atWorkMax ? varied : compressLater(varied, body);
}

/** Whether Accept-Encoding names the coding, and not with a weight of nothing. */
export function accepts(acceptEncoding: string, coding: 'gzip' | 'br'): boolean {
  if (acceptEncoding === '') return false;
  return acceptEncoding
    .toLowerCase()
    .split(',')
    .some((part) => {
      const [name = '', ...parameters] = part.split(';');
      return name.trim() === coding && !parameters.some((parameter) => /^\s*q=0(\.0*)?\s*$/.test(parameter));
    });
}

async function compressLater(response: HttpResponse, body: string): Promise<HttpResponse> {
  atWork++;
  try {
    return encoded(response, await compress(body, fast));
  } finally {
    atWork--;
  }
}

function encoded(response: HttpResponse, body: Buffer): HttpResponse {
  return { ...response, headers: { ...response.headers, 'Content-Encoding': 'gzip' }, body };
}
