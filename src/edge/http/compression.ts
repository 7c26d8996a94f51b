/**
 * Compresses answers where it saves a packet: longer texts, for callers that accept gzip. Not compressed: files, which are sent as stored;
 * answers to commands, which may show a secret beside text that the caller chose; and answers to requests with a cookie, which a page of
 * another site can cause. The length of a compressed answer would reveal the secret (BREACH).
 */
import { promisify } from 'node:util';
import { constants, gzip, gzipSync } from 'node:zlib';
import type { HttpRequest, HttpResponse } from './message.ts';

/** Shorter texts fit one packet uncompressed. */
const minCompressedChars = 1_400;
/** Longer texts are compressed in the thread pool; a text of this length takes about 50 µs of the event loop. */
const atOnceChars = 16_384;
/** Fastest level: most of the gain for the least work. The small window and table are cheap to set up. */
const fast = { level: constants.Z_BEST_SPEED, windowBits: 13, memLevel: 6 };
/** Most texts that are compressed in the thread pool at once; further ones are sent uncompressed instead of waiting. */
const atWorkMax = 16;
let atWork = 0;

const compress = promisify(gzip);

/** The answer to GET or HEAD as it is sent. */
export function compressed(request: HttpRequest, response: HttpResponse): HttpResponse | Promise<HttpResponse> {
  const { body, status, headers } = response;
  if (typeof body !== 'string' || body.length < minCompressedChars || status !== 200) return response;
  const varied: HttpResponse = { ...response, headers: { ...headers, Vary: 'Accept-Encoding' } };
  if (!accepts(request.header('accept-encoding'), 'gzip') || request.has('cookie')) return varied;
  if (body.length <= atOnceChars) return encoded(varied, gzipSync(body, fast));
  return atWork >= atWorkMax ? varied : compressLater(varied, body);
}

/** Whether Accept-Encoding names the coding with a weight above zero. */
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
