/** Anthropic's Messages API. */
import type { Vendor } from './ai-sdk.ts';

export type AnthropicSettings = { apiKey: string; modelName: string; baseUrl?: string };

/** @param settings.baseUrl the part before `/messages`; default: Anthropic's own */
export function anthropic({ apiKey, modelName, baseUrl }: AnthropicSettings): Vendor {
  return {
    modelName,
    secrets: [apiKey],
    names: { key: 'ANTHROPIC_API_KEY' },
    load: async () => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return (modelId, fetch) => createAnthropic({ apiKey, fetch, baseURL: baseUrl ?? 'https://api.anthropic.com/v1' })(modelId);
    },
  };
}
