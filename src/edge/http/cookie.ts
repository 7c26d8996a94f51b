/** The cookies that a browser sends with a request. */
import type { HttpRequest } from './message.ts';

/** null: the request has none of this name, or an empty one. */
export function cookieOf(request: Pick<HttpRequest, 'header'>, name: string): string | null {
  for (const pair of request.header('cookie').split(';')) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || null;
  }
  return null;
}
