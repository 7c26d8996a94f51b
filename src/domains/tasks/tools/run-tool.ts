/**
 * Runs one tool call in the same way for every tool: time limit, abort, limited result, failures as texts that help the agent. While this
 * service is too busy, a repeatable call is retried within its time limit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { elapsedBackoffMs } from '../../../backoff.ts';
import { AppError, errorCodes, ToolError } from '../../../errors.ts';
import { checkArguments, unstorableArguments } from './check-arguments.ts';
import { fitResult } from './fit-result.ts';
import { ApprovalExpired, maxResultBytes, type Tool, type ToolContext, type ToolOutcome } from './port.ts';
import { type CheckedArguments, ConnectionLost, NeedsConnection, type SourcedTool } from './source.ts';

/**
 * The result is JSON of at most `maxResultBytes`; a failure is `{error: message}`, or `{error: {message, ...details}}`. Rejects only with the reason of `context.signal`, when
 * the caller aborts (the tool's late result is ignored), and with `draining` when this node stops: the call is then repeated by another
 * node.
 *
 * @param fit makes a result short enough; default: `fitResult` to `maxResultBytes`
 * @param onDefect called with an error that is neither a `ToolError` nor a refusal (`AppError`), for the log; the agent is only informed that
 *   the tool failed
 */
export async function runTool(
  tool: Tool & Pick<SourcedTool, 'check'>,
  sentArguments: unknown,
  context: ToolContext,
  onDefect: (error: unknown) => void,
  fit: (result: unknown) => unknown = (result) => fitResult(result, maxResultBytes),
): Promise<ToolOutcome> {
  context.signal.throwIfAborted();
  const checked = await checkCall(tool, sentArguments, context.signal);
  context.signal.throwIfAborted();
  if (!checked.ok) return failure(checked.message);

  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new ToolError(tooLate(tool))), tool.timeoutMs);
  const signal = AbortSignal.any([context.signal, late.signal]);
  try {
    const result = await unlessAborted(signal, () => untilNotBusy(tool, signal, () => tool.run(checked.args, { ...context, signal })));
    return { result: await fit(result), isError: false };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof AppError && error.code === 'draining') throw error;
    if (late.signal.aborted) return failure(tooLate(tool));
    if (error instanceof ApprovalExpired) return { ...failure(`${error.message}. Nothing was done.`), askAgain: error.preview };
    if (error instanceof NeedsConnection) {
      const { message, service, tool: name, connectUrl } = error;
      return { ...failure(message), needsConnection: { service, tool: name, connectUrl } };
    }
    if (error instanceof ConnectionLost) return { ...failure(error.message), connectionLost: error.message };
    if (error instanceof ToolError) return failure(error.message, error.details);
    if (isRefusal(error)) return failure(error.message);
    onDefect(error);
    const failed = `${tool.name} failed unexpectedly. The details are in the service's log.`;
    return failure(tool.repeatable ? `${failed} Try another way.` : `${failed} ${mayBeDone}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks the arguments of a call: in the tool's own way, where it has one. */
export async function checkCall(tool: Tool & Pick<SourcedTool, 'check'>, sent: unknown, signal?: AbortSignal): Promise<CheckedArguments> {
  if (tool.check === undefined) return checkArguments(tool, sent);
  const unstorable = unstorableArguments(sent);
  if (unstorable.length > 0) return { ok: false, message: `Wrong arguments for ${tool.name}: ${unstorable.join('; ')}.` };
  return await tool.check(sent, signal);
}

/** Retries, with growing pauses, while the service is too busy for a repeatable call. */
async function untilNotBusy(tool: Tool, signal: AbortSignal, run: () => Promise<unknown>): Promise<unknown> {
  const beganAtMs = performance.now();
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!tool.repeatable || !isBusy(error) || signal.aborted) throw error;
      const triedForMs = performance.now() - beganAtMs;
      const pauseMs = elapsedBackoffMs(triedForMs, minPauseMs, maxPauseMs);
      // No time for another attempt: the result says why the call could not run.
      if (triedForMs + pauseMs >= tool.timeoutMs) throw error;
      await pause(pauseMs, undefined, { signal });
    }
  }
}

/** An intentional failure, with a text for callers. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && errorCodes[error.code].public;
}

/** The call was not run, and may succeed later: too much work here, or a part of the service does not answer. */
function isBusy(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'overloaded' || error.code === 'mailbox_full' || error.code === 'unavailable');
}

const mayBeDone = 'It is not known whether it took effect; do not simply repeat it.';
const minPauseMs = 200;
const maxPauseMs = 5_000;

/** Settles with the work or at once with the abort, for tools that ignore their signal. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function tooLate(tool: Tool): string {
  const stopped = `${tool.name} took longer than ${tool.timeoutMs / 1000} s and was stopped.`;
  return tool.repeatable ? stopped : `${stopped} ${mayBeDone}`;
}

function failure(message: string, details?: Readonly<Record<string, unknown>>): ToolOutcome {
  const error = details === undefined ? message : { message, ...details };
  return { result: fitResult({ error }, maxResultBytes), isError: true };
}
