/**
 * Recognizes the well-formed calls that make up nearly all traffic, of both protocol generations, so that they are served without a server
 * object of the SDK for each request, which costs more than the call. A message is recognized only where the SDK would accept it with the
 * same meaning; all others, good or bad, are the SDK's.
 */
import type { HttpRequest } from '../../../edge/http/message.ts';
import type { Era } from './results.ts';

export const modernVersion = '2026-07-28';
const legacyVersions = new Set(['', '2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']);
const own = 'io.modelcontextprotocol/';
const tasksExtension = `${own}tasks`;

type Fields = Record<string, unknown>;
export type RequestId = string | number;

export type RecognizedCall = {
  era: Era;
  id: RequestId;
  params: Fields;
  /** The client supports the tasks extension. */
  takesTasks: boolean;
} & (
  | { method: 'tools/list' }
  | { method: 'tools/call'; name: string; arguments: Fields; key: string | null }
  | { method: 'tasks/get' | 'tasks/cancel' | 'tasks/update'; taskId: string }
  | { method: 'subscriptions/listen'; taskIds: string[] }
);

/** null: the SDK answers. */
export function recognize(request: HttpRequest, message: unknown): RecognizedCall | null {
  if (!isObject(message) || message.jsonrpc !== '2.0' || !isId(message.id)) return null;
  const { id, method, params = {} } = message;
  if (typeof method !== 'string' || !isObject(params)) return null;
  const meta = params._meta ?? {};
  if (!isObject(meta) || !(meta.progressToken === undefined || isId(meta.progressToken))) return null;
  const found = methodOf(method, params);
  if (found === null) return null;
  const version = request.header('mcp-protocol-version');
  if (meta[`${own}protocolVersion`] === modernVersion) {
    if (version !== modernVersion || request.header('mcp-method') !== method || !isNamed(request, found) || !isEnvelope(meta)) return null;
    const { extensions } = meta[`${own}clientCapabilities`] as { extensions?: Fields };
    const takesTasks = isObject(extensions?.[tasksExtension]);
    return { era: 'modern', id, params, takesTasks, ...found };
  }
  const isLegacy = legacyVersions.has(version) && found.method.startsWith('tools/') && acceptsBoth(request.header('accept'));
  if (!isLegacy || Object.keys(meta).some((name) => name.startsWith(own))) return null;
  return { era: 'legacy', id, params, takesTasks: false, ...found };
}

type Found =
  | { method: 'tools/list' }
  | { method: 'tools/call'; name: string; arguments: Fields; key: string | null }
  | { method: 'tasks/get' | 'tasks/cancel' | 'tasks/update'; taskId: string }
  | { method: 'subscriptions/listen'; taskIds: string[] };

function methodOf(method: string, params: Fields): Found | null {
  switch (method) {
    case 'tools/list':
      return params.cursor === undefined ? { method } : null;
    case 'tools/call': {
      const { name, arguments: given = {} } = params;
      return typeof name === 'string' && isObject(given) ? { method, name, arguments: given, key: keyOf(params) } : null;
    }
    case 'tasks/get':
    case 'tasks/cancel':
      return typeof params.taskId === 'string' ? { method, taskId: params.taskId } : null;
    case 'tasks/update':
      return typeof params.taskId === 'string' && isObject(params.inputResponses) ? { method, taskId: params.taskId } : null;
    case 'subscriptions/listen': {
      // Other notifications are handled by the SDK; none of them is ever sent by a client.
      const { taskIds } = isObject(params.notifications) ? params.notifications : {};
      return Array.isArray(taskIds) && taskIds.every((id) => typeof id === 'string') ? { method, taskIds } : null;
    }
    default:
      return null;
  }
}

/** The call's idempotency key in its `_meta`, for clients that cannot set a header; null: none. */
export function keyOf(params: Fields | undefined): string | null {
  const meta = params?._meta;
  return isObject(meta) && typeof meta.idempotency_key === 'string' ? meta.idempotency_key : null;
}

function isNamed(request: HttpRequest, found: Found): boolean {
  if (found.method === 'tools/list' || found.method === 'subscriptions/listen') return true;
  const name = found.method === 'tools/call' ? found.name : found.taskId;
  // Other characters may be encoded in the header.
  return /^[\w.:-]+$/.test(name) && request.header('mcp-name') === name;
}

function isEnvelope(meta: Fields): boolean {
  if (meta[`${own}clientCapabilities`] === undefined) return false;
  return Object.entries(meta).every(([name, value]) => {
    if (!name.startsWith(own) || name === `${own}protocolVersion`) return true;
    if (name === `${own}clientCapabilities`) return isObject(value) && Object.values(value).every(isObject);
    return name === `${own}clientInfo` && isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';
  });
}

function acceptsBoth(accept: string): boolean {
  return accept.includes('application/json') && accept.includes('text/event-stream');
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
