/**
 * The model that needs no account and no network: fixed rules over the request, the same answer for the same request. It does honest small work with
 * the agent's real tools and says in every report and closing word that it is the offline model. It costs nothing; tokens are estimated.
 */
import { takeTurn } from './offline/agent.ts';
import { isRecord, readConversation } from './offline/conversation.ts';
import { fillSchema } from './offline/output-json.ts';
import { makePlan, readPlanningRequest } from './offline/planning.ts';
import type { Model, ModelReply, ModelRequest, ToolCall } from './port.ts';

const charsPerToken = 4;

export function offlineModel(): Model {
  return {
    name: 'offline',
    async turn(request, { signal, onText }) {
      signal.throwIfAborted();
      const { text, toolCalls } = answer(request);
      if (text !== '') onText?.(text);
      return {
        text,
        toolCalls,
        inputTokens: tokensOf(JSON.stringify([request.system, request.messages, request.tools])),
        outputTokens: tokensOf(text + JSON.stringify(toolCalls)),
        costMillicents: 0,
        model: 'offline',
      };
    },
  };
}

function answer(request: ModelRequest): Pick<ModelReply, 'text' | 'toolCalls'> {
  if (request.outputSchema?.name === 'plan') {
    const asked = request.messages.filter((message) => message.role === 'user').map(({ text }) => text)[0] ?? '';
    return { text: JSON.stringify(makePlan(readPlanningRequest(asked))), toolCalls: [] };
  }
  if (request.outputSchema !== undefined) {
    const { schema } = request.outputSchema;
    return { text: JSON.stringify(fillSchema(isRecord(schema) ? schema : {}, new Map()).value), toolCalls: [] };
  }
  const talk = readConversation(request);
  const turn = takeTurn(talk);
  if ('calls' in turn) return { text: '', toolCalls: turn.calls.map(({ name, args }, i) => call(`call_${talk.turns}_${i}`, name, args)) };
  return talk.offered.has('finish')
    ? { text: '', toolCalls: [call(`call_${talk.turns}_0`, 'finish', { summary: turn.closing })] }
    : { text: turn.closing, toolCalls: [] };
}

function call(id: string, name: string, args: Record<string, unknown>): ToolCall {
  return { id, name, arguments: args };
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}
