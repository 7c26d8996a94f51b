/** Selects the model of a node by its settings. */
import type { Log } from '../../log.ts';
import { createAiSdkModel } from './ai-sdk.ts';
import { anthropic } from './anthropic.ts';
import { openAiCompatible } from './openai-compatible.ts';
import type { Model } from './port.ts';

export type ModelSettings = {
  /** MODEL_BASE_URL: an OpenAI-compatible endpoint, the part before `/chat/completions`. */
  modelBaseUrl?: string | null;
  /** MODEL_API_KEY: its key; without a URL, a key of OpenAI. */
  modelApiKey?: string | null;
  /** MODEL_NAME: the model of a task that does not name one. */
  modelName?: string | null;
  /** ANTHROPIC_API_KEY */
  anthropicApiKey?: string | null;
};

const openAiBaseUrl = 'https://api.openai.com/v1';

/** MODEL_BASE_URL has priority, then ANTHROPIC_API_KEY, then MODEL_API_KEY at OpenAI; without them it is the offline model. */
export function createModel(settings: ModelSettings, { log, offline }: { log: Log; offline: () => Model }): Model {
  const baseUrl = given(settings.modelBaseUrl);
  const apiKey = given(settings.modelApiKey);
  const modelName = given(settings.modelName);
  const anthropicKey = given(settings.anthropicApiKey);
  // Many local endpoints have a single model and accept any name for it.
  if (baseUrl) return createAiSdkModel(openAiCompatible({ baseUrl, apiKey, modelName: modelName ?? 'default' }), { log });
  if (anthropicKey) return createAiSdkModel(anthropic({ apiKey: anthropicKey, modelName: modelName ?? 'claude-sonnet-5-5' }), { log });
  if (apiKey) return createAiSdkModel(openAiCompatible({ baseUrl: openAiBaseUrl, apiKey, modelName: modelName ?? 'gpt-5-mini' }), { log });
  return offline();
}

/** Settings come from environment files, where values are often empty or padded. */
function given(value: string | null | undefined): string | undefined {
  return value?.trim() || undefined;
}
