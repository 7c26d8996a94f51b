/** The offline model's answer to one request: a pure function of it. */
import type { JobFunction } from '../../compute/port.ts';
import type { ModelReply, ModelRequest, ToolCall } from '../port.ts';
import { takeTurn } from './agent.ts';
import { isRecord, readConversation } from './conversation.ts';
import { fillSchema } from './output-json.ts';
import { makePlan, readPlanningRequest } from './planning.ts';
import { withReasons } from './withheld.ts';

export function offlineReply(request: ModelRequest): ModelReply {
  const { text, toolCalls } = answer(request);
  return {
    text,
    toolCalls,
    inputTokens: 0,
    outputTokens: 0,
    costMillicents: 0,
    model: 'offline',
  };
}

/** The request is passed as JSON, because the schemas of tools contain values that cannot be copied to another process. */
const job: JobFunction<string, ModelReply> = (request) => offlineReply(JSON.parse(request));
export default job;

function answer(request: ModelRequest): Pick<ModelReply, 'text' | 'toolCalls'> {
  if (request.outputSchema?.name === 'plan') {
    const userText = request.messages.filter((message) => message.role === 'user').map(({ text }) => text)[0] ?? '';
    return { text: JSON.stringify(makePlan(readPlanningRequest(userText))), toolCalls: [] };
  }
  if (request.outputSchema !== undefined) {
    const { schema } = request.outputSchema;
    return { text: JSON.stringify(fillSchema(isRecord(schema) ? schema : {}, new Map()).value), toolCalls: [] };
  }
  const conversation = readConversation(request);
  const turn = takeTurn(conversation);
  if ('calls' in turn)
    return { text: '', toolCalls: turn.calls.map(({ name, args }, i) => call(`call_${conversation.turns}_${i}`, name, args)) };
  const closing = withReasons(turn.closing, request.withheld ?? []);
  return conversation.offered.has('finish')
    ? { text: '', toolCalls: [call(`call_${conversation.turns}_0`, 'finish', { summary: closing })] }
    : { text: closing, toolCalls: [] };
}

function call(id: string, name: string, args: Record<string, unknown>): ToolCall {
  return { id, name, arguments: args };
}
