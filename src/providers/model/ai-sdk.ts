/**
 * A real language model through the AI SDK: one turn per call, streamed. The SDK implements the vendors' protocols; this file and
 * endpoint.ts add what it does not guarantee: every turn ends, within limits of time, memory and tries, with an answer or a readable error.
 */
import type { LanguageModel, OutputInterface, TextStreamPart, ToolSet } from 'ai';
import { type Clock, systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { toSdkMessages } from './conversation.ts';
import { type EndpointTry, openEndpoint, requestNotMade, type WholeAnswer } from './endpoint.ts';
import type { Model, ModelReply, ModelRequest, TurnOptions } from './port.ts';
import { costMillicents, priceOf } from './prices.ts';
import { type AccumulatedReply, accumulate, answerText, cutNote, emptyReply, maxAnswerChars, withUsableIds } from './reply.ts';
import { retryPauseMs, type Sleep, systemSleep } from './retry.ts';
import { failureOfComplaint, type SettingNames, scrub, TryFailure } from './try-failure.ts';

export type Vendor = {
  /** The model of a turn that does not name one. */
  modelName: string;
  /** Masked in every text. */
  secrets: readonly string[];
  names: SettingNames;
  /** Loads the vendor's package; called on the first turn, because it needs memory. */
  load(): Promise<(modelId: string, fetch: typeof globalThis.fetch, schema?: object) => LanguageModel>;
  wholeAnswer?: WholeAnswer;
};

export type AiSdkOptions = {
  log: Log;
  /** Limit of the whole turn, with all tries and waits. */
  turnTimeoutMs?: number;
  /** From sending the request to the first byte of the answer. */
  firstByteTimeoutMs?: number;
  /** The longest pause within an answer. */
  idleTimeoutMs?: number;
  /** The longest time in which an answer has comments, empty events or blanks, and no content. */
  contentTimeoutMs?: number;
  random?: () => number;
  sleep?: Sleep;
  clock?: Clock;
};

/** An event of a stream may contain one character; a stream with events without characters ends soon. */
const bytesPerChar = 512;
const maxEmptyBytes = 4 * 2 ** 20;
const maxTries = 5;
const maxEmptyAnswers = 2;
const maxModelNameChars = 200;
const maxUnpricedNames = 100;

/** The known cost of the tries of one turn: an interrupted try is charged too. */
type Spent = { inputTokens: number; cachedInputTokens: number; outputTokens: number };

export function createAiSdkModel(vendor: Vendor, options: AiSdkOptions): Model {
  const {
    log,
    turnTimeoutMs = 600_000,
    firstByteTimeoutMs = 120_000,
    idleTimeoutMs = 60_000,
    contentTimeoutMs = 120_000,
    random = Math.random,
    sleep = systemSleep,
    clock = systemClock,
  } = options;
  const unpriced = new Set<string>();
  let loading: ReturnType<typeof loadSdk> | undefined;

  async function turn(request: ModelRequest, turnOptions: TurnOptions): Promise<ModelReply> {
    const { signal } = turnOptions;
    signal.throwIfAborted();
    const late = new AbortController();
    const seconds = Math.max(1, Math.round(turnTimeoutMs / 1000));
    const timer = setTimeout(() => late.abort(new TryFailure(`The model did not answer within ${seconds} s.`, 'never')), turnTimeoutMs);
    try {
      const ends = AbortSignal.any([signal, late.signal]);
      return await untilAborted(answer(request, turnOptions, ends), ends);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof TryFailure) throw unavailable(error);
      throw error;
    } finally {
      clearTimeout(timer);
      late.abort();
    }
  }

  async function answer(request: ModelRequest, turnOptions: TurnOptions, ends: AbortSignal): Promise<ModelReply> {
    const modelId = modelOf(request);
    const spent: Spent = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
    let emptyAnswers = 0;
    for (let tries = 1; ; tries++) {
      try {
        return await oneTry(request, turnOptions, ends, modelId, spent);
      } catch (error) {
        ends.throwIfAborted();
        if (!(error instanceof TryFailure)) throw error;
        if (error.retry === 'once') emptyAnswers++;
        if (error.retry === 'never' || emptyAnswers >= maxEmptyAnswers || tries >= maxTries) {
          log.warn({ model: modelId, tries, reason: error.message }, 'model turn failed');
          throw tries === 1 ? error : new TryFailure(`${error.message} (tried ${tries} times)`, 'never', error.retryAfterMs);
        }
        const waitMs = retryPauseMs(tries, error.retryAfterMs, random);
        log.info({ model: modelId, tries, waitMs, reason: error.message }, 'model turn failed; retrying');
        await sleep(waitMs, ends);
      }
    }
  }

  /** Sends the request once. Adds its cost to `spent`, also after a failure. */
  async function oneTry(
    request: ModelRequest,
    turnOptions: TurnOptions,
    ends: AbortSignal,
    modelId: string,
    spent: Spent,
  ): Promise<ModelReply> {
    const done = new AbortController();
    const tryEnds = AbortSignal.any([ends, done.signal]);
    const reply = emptyReply();
    const endpoint = openEndpoint(tryEnds, {
      firstByteTimeoutMs,
      idleTimeoutMs,
      contentTimeoutMs,
      contentChars: () => reply.chars,
      maxBytes: () => maxEmptyBytes + reply.chars * bytesPerChar,
      names: vendor.names,
      secrets: vendor.secrets,
      model: modelId,
      clock,
      wholeAnswer: vendor.wholeAnswer,
    });
    try {
      for await (const part of streamParts(request, turnOptions, tryEnds, modelId, endpoint))
        accumulate(reply, part, maxAnswerChars, turnOptions.onText);
      const text = answerText(reply, request);
      if (reply.finishReason === 'length' && reply.toolCalls.length === 0) turnOptions.onText?.(cutNote(request.maxOutputTokens));
      addUp(spent, reply, request);
      const toolCalls = withUsableIds(reply.toolCalls, request, turnOptions.idempotencyKey);
      const { inputTokens, outputTokens } = spent;
      const model = (reply.model ?? modelId).slice(0, maxModelNameChars);
      return { text, toolCalls, inputTokens, outputTokens, costMillicents: cost(modelId, model, spent), model };
    } catch (error) {
      if (endpoint.answered) addUp(spent, reply, request);
      throw error;
    } finally {
      // Leaving the loop does not end the request.
      done.abort();
    }
  }

  /** The parts of one try. Errors in here are the endpoint's; errors in the consumer's loop are the consumer's. */
  async function* streamParts(
    request: ModelRequest,
    turnOptions: TurnOptions,
    signal: AbortSignal,
    modelId: string,
    endpoint: EndpointTry,
  ) {
    try {
      for await (const part of await stream(request, turnOptions, signal, modelId, endpoint)) {
        if (part.type === 'error') throw part.error;
        yield part;
      }
      if (endpoint.failure) throw endpoint.failure;
    } catch (error) {
      signal.throwIfAborted();
      throw endpoint.failure ?? failureOf(error, modelId, endpoint);
    }
  }

  async function stream(
    request: ModelRequest,
    { idempotencyKey }: TurnOptions,
    signal: AbortSignal,
    modelId: string,
    endpoint: EndpointTry,
  ): Promise<AsyncIterable<TextStreamPart<ToolSet>>> {
    loading ??= loadSdk(vendor);
    const { ai, languageModel } = await loading;
    const tools = Object.fromEntries(
      request.tools.map(({ name, description, parameters }) => [name, ai.tool({ description, inputSchema: ai.jsonSchema(parameters) })]),
    );
    return ai.streamText({
      model: languageModel(modelId, endpoint.fetch, request.outputSchema?.schema),
      instructions: request.system === '' ? undefined : request.system,
      messages: toSdkMessages(request.messages),
      ...(request.tools.length > 0 ? { tools } : {}),
      ...(request.outputSchema ? { output: jsonOutput(request.outputSchema) } : {}),
      maxOutputTokens: request.maxOutputTokens,
      maxRetries: 0,
      abortSignal: signal,
      headers: { 'Idempotency-Key': idempotencyKey },
      telemetry: { isEnabled: false },
      // By default the SDK would print errors, with the requests, to the console.
      onError: () => {},
    }).stream;
  }

  function modelOf({ model }: ModelRequest): string {
    if (model === undefined) return vendor.modelName;
    if (model.trim() === '' || model.length > maxModelNameChars)
      throw new TryFailure('The task names a model that cannot be one.', 'never');
    return model;
  }

  function failureOf(error: unknown, modelId: string, { sent }: EndpointTry): TryFailure {
    if (error instanceof TryFailure) return error;
    if (!sent) {
      log.warn({ model: modelId, error: Object(error).name }, 'model request could not be made');
      return requestNotMade(vendor.names);
    }
    const { statusCode, code, type, message } = Object(error) as Record<string, unknown>;
    const detail = scrub(message ?? error, vendor.secrets);
    const codes = [code, type].filter((part) => typeof part === 'string').join(' ');
    const status = typeof statusCode === 'number' && statusCode >= 400 ? statusCode : statusOfType[String(type)];
    if (status !== undefined || codes !== '')
      return failureOfComplaint({ status: status ?? 500, detail, code: codes }, vendor.names, modelId);
    log.debug({ model: modelId, reason: detail }, 'model answer could not be read');
    return new TryFailure('The model endpoint sent something that cannot be read.', 'backoff');
  }

  /** By the price of the requested model: the model name in an endpoint's answers is not reliable. */
  function cost(requestedModel: string, answered: string, spent: Spent): number {
    const price = priceOf(requestedModel) ?? priceOf(answered);
    if (price) return costMillicents(price, spent.inputTokens, spent.cachedInputTokens, spent.outputTokens);
    if (!unpriced.has(requestedModel) && unpriced.size < maxUnpricedNames) {
      unpriced.add(requestedModel);
      log.warn({ model: requestedModel }, 'no price is known for this model: its turns count as costing nothing');
    }
    return 0;
  }

  return { name: vendor.modelName, turn };
}

async function loadSdk(vendor: Vendor) {
  const [ai, languageModel] = await Promise.all([import('ai'), vendor.load()]);
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return { ai, languageModel };
}

/** Requests JSON by schema without the SDK's parser, which would parse the whole text again with every piece. */
function jsonOutput({ name, schema }: { name: string; schema: object }): OutputInterface<string, never, never> {
  return {
    name: 'json',
    responseFormat: Promise.resolve({ type: 'json', schema, name }),
    parseCompleteOutput: async ({ text }) => text,
    parsePartialOutput: async () => undefined,
    createElementStreamTransform: () => undefined,
  };
}

const statusOfType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** If an endpoint reports no usage, four characters count as a token. */
function addUp(spent: Spent, reply: AccumulatedReply, request: ModelRequest): void {
  spent.inputTokens += reply.inputTokens ?? Math.ceil(JSON.stringify([request.system, request.messages, request.tools]).length / 4);
  spent.cachedInputTokens += reply.cachedInputTokens;
  const chars = Math.max(reply.chars, reply.text.length + JSON.stringify(reply.toolCalls).length - 2);
  spent.outputTokens += reply.outputTokens ?? Math.ceil(chars / 4);
}

function unavailable(failure: TryFailure): AppError {
  const retryAfterS = failure.retryAfterMs === undefined ? undefined : Math.ceil(failure.retryAfterMs / 1000);
  return new AppError('unavailable', failure.message, { cause: failure, retryAfterS });
}

/** `work`, or the signal's reason as soon as it is aborted; the result of `work` is then ignored. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
