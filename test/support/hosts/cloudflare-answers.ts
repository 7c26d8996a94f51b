/** Answers in the envelope that all of Cloudflare's have. */
import type { StandInAnswer } from './host-stand-in.ts';

export function good(result: unknown, status = 200): StandInAnswer {
  return { status, json: { result, success: true, errors: [], messages: [] } };
}
export function bad(status: number, code: number, message: string): StandInAnswer {
  return { status, json: { result: null, success: false, errors: [{ code, message }], messages: [] } };
}
