/** Any endpoint with OpenAI's chat completions API: OpenAI itself, vLLM, Ollama, OpenRouter and many more. */
import type { Vendor } from './ai-sdk.ts';

export type OpenAiCompatibleSettings = { baseUrl: string; apiKey: string | undefined; modelName: string };

/** @param settings.baseUrl the part before `/chat/completions`, e.g. `http://127.0.0.1:11434/v1` */
export function openAiCompatible({ baseUrl, apiKey, modelName }: OpenAiCompatibleSettings): Vendor {
  // OpenAI's newer models refuse `max_tokens`; most other endpoints support only that name.
  const renamesMaxTokens = /(^|\.)openai\.(com|azure\.com)$/.test(new URL(baseUrl).hostname);
  return {
    modelName,
    secrets: apiKey === undefined ? [] : [apiKey],
    names: { key: 'MODEL_API_KEY', address: 'MODEL_BASE_URL' },
    wholeAnswer: asEvents,
    load: async () => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return (modelId, fetch, schema) =>
        createOpenAICompatible({
          name: 'model',
          baseURL: baseUrl,
          apiKey,
          includeUsage: true,
          supportsStructuredOutputs: true,
          fetch,
          transformRequestBody: (body) => transformed(body, renamesMaxTokens, schema),
        }).chatModel(modelId);
    },
  };
}

type WireBody = Record<string, unknown> & { max_tokens?: unknown; response_format?: { json_schema?: object } };

function transformed(body: WireBody, renamesMaxTokens: boolean, schema: object | undefined): WireBody {
  const { max_tokens, response_format, ...rest } = body;
  const format = response_format?.json_schema && {
    ...response_format,
    json_schema: { ...response_format.json_schema, strict: fitsStrictMode(schema) },
  };
  return { ...rest, [renamesMaxTokens ? 'max_completion_tokens' : 'max_tokens']: max_tokens, response_format: format };
}

/** Strict mode refuses schemas with optional or additional properties; those are sent without strict mode, and the agent checks the answer. */
function fitsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrictMode);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
  if (type === 'object') {
    const names = Object.keys((properties as object | undefined) ?? {});
    const needed = new Set(Array.isArray(required) ? required : []);
    if (additionalProperties !== false || names.some((name) => !needed.has(name))) return false;
  }
  return Object.values(schema).every(fitsStrictMode);
}

/** Some endpoints answer with one document although a stream was requested. */
function asEvents(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const answer = body as { choices?: unknown; error?: unknown };
  if (answer.error === undefined && !Array.isArray(answer.choices)) return undefined;
  const choices = (Array.isArray(answer.choices) ? answer.choices.slice(0, 1) : []).map((choice) => {
    const { message, ...rest } = Object(choice);
    const calls = Array.isArray(message?.tool_calls)
      ? message.tool_calls.map((call: unknown, index: number) => ({ ...Object(call), index }))
      : undefined;
    return { ...rest, delta: { ...Object(message), tool_calls: calls } };
  });
  return `data: ${JSON.stringify({ ...answer, choices })}\n\ndata: [DONE]\n\n`;
}
