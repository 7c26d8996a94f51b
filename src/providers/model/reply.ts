/** Collects the stream of one try, within limits, and checks whether it is a valid answer. */

import type { TextStreamPart, ToolSet } from 'ai';
import { insideFence } from '../../fence.ts';
import { derivedId, idPrefixes } from '../../ids.ts';
import type { ModelRequest, ToolCall } from './port.ts';
import { TryFailure } from './try-failure.ts';

export type AccumulatedReply = {
  text: string;
  toolCalls: ToolCall[];
  /** Characters received: text, reasoning and arguments. */
  chars: number;
  inputTokens: number | undefined;
  cachedInputTokens: number;
  outputTokens: number | undefined;
  /** The model's own name for itself. */
  model: string | undefined;
  finishReason: string | undefined;
};

const maxToolCalls = 128;
const maxToolNameChars = 200;

export const emptyReply = (): AccumulatedReply => ({
  text: '',
  toolCalls: [],
  chars: 0,
  inputTokens: undefined,
  cachedInputTokens: 0,
  outputTokens: undefined,
  model: undefined,
  finishReason: undefined,
});

/**
 * The limit of one answer: its text, reasoning and arguments together. In characters, because endpoints count tokens in different ways and
 * some ignore the limit; a longer answer would not end.
 */
export const maxAnswerChars = 262_144;

/** Adds one part of the SDK's stream to `accumulated`. Throws a `TryFailure` when the answer exceeds `maxChars`. */
export function accumulate(
  accumulated: AccumulatedReply,
  part: TextStreamPart<ToolSet>,
  maxChars: number,
  onText?: (piece: string) => void,
): void {
  switch (part.type) {
    case 'text-delta':
      accumulated.chars += part.text.length;
      checkLength(accumulated, maxChars);
      accumulated.text += part.text;
      if (part.text !== '') onText?.(part.text);
      break;
    case 'reasoning-delta':
      accumulated.chars += part.text.length;
      checkLength(accumulated, maxChars);
      break;
    case 'tool-input-delta':
      accumulated.chars += part.delta.length;
      checkLength(accumulated, maxChars);
      break;
    case 'tool-call':
      if (accumulated.toolCalls.length === maxToolCalls)
        throw new TryFailure(`The model asked for more than ${maxToolCalls} tool calls at once.`, 'never');
      accumulated.toolCalls.push({
        id: part.toolCallId,
        name: part.toolName.slice(0, maxToolNameChars),
        arguments: part.input === '' ? {} : isDeep(part.input) ? tooDeep : part.input,
      });
      break;
    case 'finish-step':
      accumulated.finishReason = part.finishReason;
      accumulated.inputTokens = believable(part.usage.inputTokens);
      accumulated.cachedInputTokens = believable(part.usage.inputTokenDetails.cacheReadTokens) ?? 0;
      accumulated.outputTokens = believable(part.usage.outputTokens);
      accumulated.model = part.response.modelId;
      break;
  }
}

/** Deeper arguments overflow recursive code. They are replaced by a string, so that the agent gets an error for them. */
const maxDepth = 100;
const tooDeep = `(arguments nested more than ${maxDepth} levels deep)`;

function isDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === maxDepth || Object.values(value).some((part) => isDeep(part, depth + 1));
}

/** The answer's text for the agent. Throws a `TryFailure` for an invalid answer. */
export function answerText(accumulated: AccumulatedReply, request: ModelRequest): string {
  const { text, toolCalls, finishReason } = accumulated;
  if (finishReason === 'content-filter') throw new TryFailure('The model refused to answer this request.', 'never');
  if (finishReason === undefined || finishReason === 'error' || finishReason === 'interrupted')
    throw new TryFailure('The answer of the model broke off in the middle.', 'backoff');
  const limit = `its limit of ${request.maxOutputTokens} tokens`;
  if (text.trim() === '' && toolCalls.length === 0) {
    if (finishReason === 'length') throw new TryFailure(`The model used up ${limit} without an answer.`, 'never');
    throw new TryFailure('The model gave an empty answer.', 'once');
  }
  if (finishReason === 'length' && toolCalls.length === 0) {
    if (request.outputSchema) throw new TryFailure(`The answer of the model was cut at ${limit}.`, 'never');
    return `${text}${cutNote(request.maxOutputTokens)}`;
  }
  return request.outputSchema && toolCalls.length === 0 ? unwrappedJson(text) : text;
}

export function cutNote(maxOutputTokens: number): string {
  return `\n\n[The answer was cut here: it reached the limit of ${maxOutputTokens} tokens.]`;
}

/** Gives calls ids that are valid and unique in the conversation: endpoints omit ids, repeat them, or count from 0 in each turn. */
export function withUsableIds(calls: readonly ToolCall[], request: ModelRequest, idempotencyKey: string): ToolCall[] {
  const taken = new Set(
    request.messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map((call) => call.id) : [])),
  );
  return calls.map((call, index) => {
    const usable = /^[\w-]{1,64}$/.test(call.id) && !taken.has(call.id);
    const id = usable ? call.id : derivedId(idPrefixes.call, idempotencyKey, idempotencyKey, String(index));
    taken.add(id);
    return { ...call, id };
  });
}

/** Models wrap JSON in a fence, or write reasoning before it. Text that still is not JSON is passed on unchanged. */
function unwrappedJson(text: string): string {
  const visible = text.replace(/^\s*<think>[\s\S]*?<\/think>/, '').trim();
  return insideFence(visible) ?? visible;
}

function checkLength(accumulated: AccumulatedReply, maxChars: number): void {
  if (accumulated.chars > maxChars) throw new TryFailure('The model went on without end and was cut off.', 'never');
}

/** A plausible token count; endpoints report nothing, zero, fractions or invalid values. */
function believable(tokens: number | undefined): number | undefined {
  return tokens !== undefined && tokens > 0 && tokens <= 100_000_000 ? Math.ceil(tokens) : undefined;
}
