/** Serves one POST to `/mcp`: recognized messages directly, all others through the SDK. */

import { jsonOf } from '../../../edge/http/json-body.ts';
import type { HttpRequest, HttpResponse } from '../../../edge/http/message.ts';
import { AppError } from '../../../errors.ts';
import { FairGate } from '../../../fair-queue.ts';
import { callTool, type Session } from './call-tool.ts';
import { type ListenParts, maxTaskIds, TaskStreams } from './listen.ts';
import { isObject, type RecognizedCall, type RequestId, recognize } from './message.ts';
import { callResult, listCaching, type ServerInfo } from './results.ts';
import { createSdkHandler, type SdkHandler, unknownTool } from './sdk-handler.ts';
import { cancelTask, createdTask, getTask, type TaskAnswer, updateTask } from './task-extension.ts';
import { toolList, toolNamed } from './tools.ts';

export type McpServing = {
  /** @param body of the request, as sent */
  serve(request: HttpRequest, body: Buffer, session: Session): Promise<HttpResponse>;
  /** The node is leaving: its streams end, and new ones end at once. */
  leave(): void;
};

const jsonHeaders = { 'Content-Type': 'application/json' };
const parseError = -32_700;
const invalidRequest = -32_600;
const invalidParams = -32_602;
const missingCapability = -32_021;
/** Messages of one request, in revisions before 2025-06-18. All of them begin at once, and one answer contains all results. */
const maxMessages = 20;
/** Calls in flight on a node: each holds its message, and in the SDK also a server object. */
const inFlight = { maxRunning: 256, maxRunningEach: 128, maxWaiting: 2_048, maxWaitingEach: 512, maxWaitMs: 10_000 };

export type McpServingOptions = { info: ServerInfo; instructions: string } & Pick<ListenParts, 'feed' | 'newestSeq'>;

export function createMcpServing({ feed, newestSeq, ...options }: McpServingOptions): McpServing {
  const gate = new FairGate({ ...inFlight, full: 'Too many MCP calls at once; try again shortly' });
  const serverMeta = `"io.modelcontextprotocol/serverInfo":${JSON.stringify(options.info)}`;
  const modernEnd = `,"_meta":{${serverMeta}}}`;
  const streams = new TaskStreams({ feed, newestSeq, serverMeta });
  let sdk: Promise<SdkHandler> | null = null;

  async function serve(request: HttpRequest, body: Buffer, session: Session): Promise<HttpResponse> {
    let message: unknown;
    try {
      message = jsonOf(body);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return errorAnswer(null, parseError, `Parse error: ${error.message}`, 400);
    }
    if (Array.isArray(message) && message.length > maxMessages)
      return errorAnswer(null, invalidRequest, `A list has at most ${maxMessages} messages`, 400);
    const call = recognize(request, message);
    const leave = await gate.enter(session.principal.accountId);
    try {
      if (call !== null) return await direct(call, session);
      sdk ??= createSdkHandler(options);
      return await (await sdk).serve(request, message, session);
    } finally {
      leave();
    }
  }

  async function direct(call: RecognizedCall, session: Session): Promise<HttpResponse> {
    switch (call.method) {
      case 'tools/list': {
        const tools = `"tools":${toolList(session.principal).text}`;
        return call.era === 'legacy'
          ? result(call, tools)
          : result(call, `${tools},"resultType":"complete",${JSON.stringify(listCaching).slice(1, -1)}`);
      }
      case 'tools/call': {
        const tool = toolNamed(call.name);
        if (tool === null) return errorAnswer(call.id, invalidParams, unknownTool(call.name));
        const called = await callTool(session, tool, call.arguments, call.key ?? session.idempotencyKey);
        if (call.takesTasks && tool.name === 'run_task' && called.status < 300) return result(call, createdTask(called));
        const fields = callResult(called, call.era).slice(1, -1);
        return result(call, call.era === 'legacy' ? fields : `${fields},"resultType":"complete"`);
      }
      case 'subscriptions/listen':
        if (!call.takesTasks) return needsTasks(call.id);
        if (call.taskIds.length > maxTaskIds) return errorAnswer(call.id, invalidParams, `A stream has at most ${maxTaskIds} tasks`);
        return streams.listen(session, call.id, call.taskIds);
      default:
        if (!call.takesTasks) return needsTasks(call.id);
        return taskAnswer(call, await onTask(call, session));
    }
  }

  function taskAnswer(call: RecognizedCall, answer: TaskAnswer): HttpResponse {
    return 'error' in answer ? errorAnswer(call.id, answer.error.code, answer.error.message) : result(call, answer.fields);
  }

  /** @param fields of the result, as JSON without braces */
  function result({ id, era }: RecognizedCall, fields: string): HttpResponse {
    const end = era === 'modern' ? modernEnd : '}';
    return { status: 200, headers: jsonHeaders, body: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${fields}${end}}` };
  }

  return {
    serve,
    leave: () => streams.leave(),
  };
}

function onTask(call: Extract<RecognizedCall, { taskId: string }>, session: Session): Promise<TaskAnswer> {
  if (call.method === 'tasks/get') return getTask(session, call.taskId);
  if (call.method === 'tasks/cancel') return cancelTask(session, call.taskId);
  return updateTask(session, call.taskId, isObject(call.params.inputResponses) ? call.params.inputResponses : {});
}

function needsTasks(id: RequestId): HttpResponse {
  const message = 'This method needs a client with the tasks extension';
  return errorAnswer(id, missingCapability, message, 400, {
    requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  });
}

function errorAnswer(id: RequestId | null, code: number, message: string, status = 200, data?: object): HttpResponse {
  return { status, headers: jsonHeaders, body: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }) };
}
