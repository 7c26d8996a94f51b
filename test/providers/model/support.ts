/** Shared by the model tests: a model at a stand-in, with recorded instead of real waits, and a minimal turn. */
import type { TestContext } from 'node:test';
import type { Log } from '../../../src/log.ts';
import { type AiSdkOptions, createAiSdkModel } from '../../../src/providers/model/ai-sdk.ts';
import { openAiCompatible } from '../../../src/providers/model/openai-compatible.ts';
import type { Model, ModelReply, ModelRequest, TurnOptions } from '../../../src/providers/model/port.ts';
import { type OpenAiServer, openAiServer, type Script } from '../../support/openai-server.ts';

export const apiKey = 'sk-very-secret-0123456789';

export type Rig = {
  model: Model;
  /** The back-off waits, milliseconds. */
  waits: number[];
  /** Every log line as one text. */
  logged: string[];
  turn(request?: Partial<ModelRequest>, options?: Partial<TurnOptions>): Promise<ModelReply>;
};

/** `random` is the middle: each wait is half of its window. */
export function rigAt(baseUrl: string, options: Partial<AiSdkOptions> = {}, modelName = 'gpt-5'): Rig {
  const waits: number[] = [];
  const { log, logged } = noteLog();
  const vendor = openAiCompatible({ baseUrl, apiKey, modelName });
  const model = createAiSdkModel(vendor, {
    log,
    random: () => 0.5,
    sleep: async (ms) => void waits.push(ms),
    ...options,
  });
  return {
    model,
    waits,
    logged,
    turn: (request, turnOptions) => model.turn({ ...aRequest, ...request }, { ...someOptions(), ...turnOptions }),
  };
}

export const aRequest: ModelRequest = {
  system: 'You are an analyst.',
  messages: [{ role: 'user', text: 'What stands out?' }],
  tools: [],
  maxOutputTokens: 1_000,
};

export function someOptions(): TurnOptions {
  return { signal: new AbortController().signal, idempotencyKey: 'eff_1' };
}

export function noteLog(): { log: Log; logged: string[] } {
  const logged: string[] = [];
  const note = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log };
  return { log, logged };
}

/** A server that is closed when the test ends. */
export async function served(t: TestContext, script: Script): Promise<OpenAiServer> {
  const server = await openAiServer(script);
  t.after(() => server.close());
  return server;
}
