/** Makes answers of failures: `{"detail": …}`, with nothing internal. */
import { AppError, errorCodes } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { unavailableIfUnreachable } from '../../storage/database.ts';
import { traceFields } from '../../trace-fields.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

const jsonType = 'application/json';
/** Default of `Retry-After`. */
const soonS = 1;

/** An error answer with a text for people. */
export function refusal(status: number, detail: string, headers: Record<string, string> = {}): HttpResponse {
  return { status, headers: { 'Content-Type': jsonType, ...headers }, body: JSON.stringify({ detail }) };
}

/**
 * The answer to an error thrown by a handler. An error that is not a public `AppError` is logged with the request's id and answered without
 * its text.
 */
export function errorResponse(thrown: unknown, request: HttpRequest, log: Log): HttpResponse {
  const error = unavailableIfUnreachable(thrown);
  if (!(error instanceof AppError)) {
    log.error({ ...about(request), err: error }, 'request failed unexpectedly');
    return refusal(500, 'Internal Server Error');
  }
  const { http: status, public: isPublic } = errorCodes[error.code];
  // Shed requests are only counted: a log line for each would slow other requests.
  if (status >= 500 && !isShed(error)) log.warn({ ...about(request), err: error }, 'request failed');
  const headers: Record<string, string> = { 'Content-Type': jsonType };
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const retryAfterS = error.retryAfterS ?? (status === 429 || status === 503 ? soonS : undefined);
  if (retryAfterS !== undefined) headers['Retry-After'] = String(Math.max(0, Math.ceil(retryAfterS)));
  const detail = error.code === 'invalid' && error.issues !== undefined ? error.issues : publicText(status, isPublic, error.message);
  return { status, headers, body: JSON.stringify({ detail }) };
}

function isShed({ code }: AppError): boolean {
  return code === 'overloaded' || code === 'mailbox_full' || code === 'storage_full';
}

/** The fields of every log line about a request. The query is left out: links carry their tokens there. */
export function about({ requestId, trace, method, path }: HttpRequest): object {
  return { request_id: requestId, ...traceFields(trace), method, path };
}

function publicText(status: number, isPublic: boolean, message: string): string {
  if (isPublic) return message;
  return status === 500 ? 'Internal Server Error' : 'Service Unavailable';
}
