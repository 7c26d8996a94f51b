/** Calls a tool: one or two requests to the endpoints of this service, with the authority and limits of the caller. */

import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Principal } from '../../../edge/auth/principal.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import type { Forwarded } from '../../../edge/http/route.ts';
import { AppError, errorCodes, invalidField } from '../../../errors.ts';
import type { Arguments, McpTool } from './tools.ts';

/** One HTTP request to `/mcp`. */
export type Session = {
  readonly principal: Principal;
  /** The trace of the HTTP request; null: none. */
  readonly idempotencyKey: string | null;
  forward(target: Forwarded): Promise<HttpResponse>;
  /** Whether the caller's token is valid now; for streams. */
  isStillValid(): Promise<boolean>;
  /** The agent that requested an approval; null: it no longer exists. */
  agentOfApproval(approvalId: string): Promise<string | null>;
  /** Calls so far. The first is counted as the HTTP request, each further one (of a batch) separately. */
  calls: number;
};

/** The answer of an endpoint. `json`: its body. */
export type Answered = { status: number; json: string };
/** `more`: further content besides the JSON, each as JSON. */
export type Called = Answered & { more: readonly string[] };

/** A larger file is sent as a link. */
const maxInlineBytes = 256 * 1024;
/** The scopes of lists and reads end here: calls that change something may have a key. */
const noContent = '{}';

/** Does not reject: a refusal or failure is the answer with its status and `detail`. */
export async function callTool(session: Session, tool: McpTool, given: Arguments, key = session.idempotencyKey): Promise<Called> {
  try {
    const whole = tool.name === 'decide_approval' ? await withAgent(session, given) : given;
    const answered = await send(session, tool.request(whole), key);
    if (tool.name !== 'get_deliverable' || answered.status >= 400) return { ...answered, more: [] };
    return { ...answered, more: [await contentOf(session, tool.request(given), JSON.parse(answered.json))] };
  } catch (error) {
    if (!(error instanceof AppError) || !errorCodes[error.code].public) throw error;
    return { status: errorCodes[error.code].http, json: JSON.stringify({ detail: error.issues ?? error.message }), more: [] };
  }
}

/** The answer of an endpoint to a call. The first call of an HTTP request is counted already. */
export async function send(session: Session, target: Forwarded, key: string | null = null): Promise<Answered> {
  const idempotencyKey = target.method === 'POST' ? key : null;
  const { status, body } = await session.forward({ ...target, idempotencyKey, counted: session.calls++ > 0 });
  if (body instanceof Readable) throw new Error(`${target.path} answered with a stream`);
  return { status, json: body === null || body.length === 0 ? noContent : String(body) };
}

async function withAgent(session: Session, given: Arguments): Promise<Arguments> {
  if (given.agent_id !== undefined && given.agent_id !== null) return given;
  const approvalId = given.approval_id;
  if (typeof approvalId !== 'string') {
    if (approvalId === undefined) throw invalidField(['arguments', 'approval_id'], 'Field required', 'missing');
    throw invalidField(['arguments', 'approval_id'], 'Input should be a valid string', 'string_type');
  }
  const agentId = await session.agentOfApproval(approvalId);
  if (agentId === null) throw new AppError('not_found', 'Approval not found');
  return { ...given, agent_id: agentId };
}

type Deliverable = { name: string; type: string; size_bytes: number; download_url: string };

/** The file itself, or a link to it. */
async function contentOf({ forward }: Session, target: Forwarded, { name, type, size_bytes: bytes, download_url: uri }: Deliverable) {
  const link = JSON.stringify({ type: 'resource_link', uri, name, mimeType: type, size: bytes });
  if (bytes > maxInlineBytes) return link;
  const { status, body } = await forward({ ...target, path: `${target.path}/download` });
  if (status !== 200) return link;
  const content = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? '');
  const inline = isText(type) && isUtf8(content) ? { text: content.toString('utf8') } : { blob: content.toString('base64') };
  return JSON.stringify({ type: 'resource', resource: { uri, mimeType: type, ...inline } });
}

function isText(type: string): boolean {
  return /^text\/|[/+](json|xml|yaml|javascript|x-ndjson)\b/.test(type);
}
