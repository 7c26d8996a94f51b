/**
 * The program inside the sandbox process: one QuickJS in WebAssembly runs one piece of code, then the process ends. It has no asynchronous
 * input: stdin is read with blocking calls, so that readFile() is a synchronous function for the code, and the process ends when stdin
 * does. While the code is busy stdin is not read; a monitoring thread ends the process when the parent has ended. Limits that must hold
 * even if code escapes the engine are set from outside (`process.ts`); those in here give clear messages.
 */

import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import * as channel from './child-channel.ts';
import { describeError, loadEngine, timeIsUp } from './guest-engine.ts';
import { type ChildLine, type FileCall, maxLineChars, type ParentLine, type SandboxOutcome, sandboxLimits } from './protocol.ts';

/** JS_EVAL_FLAG_ASYNC of QuickJS: top-level await in a plain script; the answer is a promise of {value}. */
const asyncScript = 1 << 7;

/**
 * Runs before the code, with access to the engine's own functions, and leaves only the documented ones. Texts are passed as JSON: plain
 * strings would end at a null character.
 */
const prelude = `(() => {
  const { print, callFile } = globalThis;
  delete globalThis.print; delete globalThis.callFile;
  const { stringify, parse } = JSON, text = String, ErrorType = Error, slice = Function.prototype.call.bind(String.prototype.slice);
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof ErrorType) return text(value);
    try { return typeof value === 'object' && value !== null ? stringify(value) : text(value); } catch { return text(value); }
  };
  const log = (...values) => { let line = ''; for (let i = 0; i < values.length; i++) line += (i ? ' ' : '') + show(values[i]); print(stringify(slice(line, 0, ${sandboxLimits.stdoutChars + 1}))); };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
  const call = (op, path, content) => parse(callFile(op, stringify(text(path)), stringify(content)));
  globalThis.readFile = (path) => call('readFile', path, '');
  globalThis.writeFile = (path, content) => call('writeFile', path, show(content));
  globalThis.listFiles = () => call('listFiles', '', '');
  return stringify;
})()`;

const input = channel.lines<ParentLine>();
const send = (line: ChildLine): void => channel.writeLine(line);

/** Asks the parent for a file operation; throws its refusal, which becomes an error inside the code. */
function fileCaller(): (call: FileCall) => unknown {
  let calls = 0;
  return (call) => {
    if (++calls > sandboxLimits.calls) throw new Error(`too many file calls in one run (${sandboxLimits.calls})`);
    if (call.op === 'writeFile' && JSON.stringify(call.text).length > maxLineChars - 1024)
      throw new Error('the text is too large to write');
    if (call.op !== 'listFiles' && call.path.length > 1024) throw new Error('the file name is too long');
    send(call);
    const answer = input();
    if ('ok' in answer && answer.ok) return answer.value;
    throw new Error('ok' in answer ? answer.message : 'the file call failed');
  };
}

function installHostFunctions(context: QuickJSContext): void {
  let printed = 0;
  const print = context.newFunction('print', (line) => {
    if (printed > sandboxLimits.stdoutChars) return;
    const text = `${parseText(context, line)}\n`;
    printed += text.length;
    send({ op: 'print', text: text.slice(0, sandboxLimits.stdoutChars + 1) });
  });
  const call = fileCaller();
  const callFile = context.newFunction('callFile', (opHandle, pathHandle, textHandle) => {
    const op = context.getString(opHandle);
    const path = parseText(context, pathHandle);
    let answer: unknown;
    if (op === 'readFile') answer = call({ op, path });
    else if (op === 'writeFile') answer = call({ op, path, text: parseText(context, textHandle) });
    else answer = call({ op: 'listFiles' });
    return context.newString(JSON.stringify(answer));
  });
  context.setProp(context.global, 'print', print);
  context.setProp(context.global, 'callFile', callFile);
}

function parseText(context: QuickJSContext, json: QuickJSHandle): string {
  return String(JSON.parse(context.getString(json)));
}

/** The value of a settled promise; other values unchanged. */
function settle(context: QuickJSContext, handle: QuickJSHandle): { value: QuickJSHandle } | { error: string } {
  const state = context.getPromiseState(handle);
  if (state.type === 'rejected') return { error: describeError(context, state.error) };
  if (state.type === 'pending')
    return { error: 'the code waits for a promise that nothing here will ever settle (there are no timers and no network)' };
  return { value: state.value };
}

function runJobs(runtime: QuickJSRuntime, context: QuickJSContext, deadlineMs: number): string | null {
  while (runtime.hasPendingJob()) {
    if (performance.now() > deadlineMs) return timeIsUp;
    const outcome = runtime.executePendingJobs(500);
    if (outcome.error) return describeError(context, outcome.error);
  }
  return null;
}

/** First as a plain script; code with a `return` at its top level is the body of an async function. Line numbers stay the same. */
function compile(context: QuickJSContext, code: string) {
  const script = context.evalCode(code, 'code.js', asyncScript);
  if (!script.error) return script;
  if (!describeError(context, script.error).includes('return not in a function')) return script;
  return context.evalCode(`(async () => {${code}\n})()`, 'code.js', asyncScript);
}

function run(context: QuickJSContext, runtime: QuickJSRuntime, code: string, deadlineMs: number): SandboxOutcome {
  installHostFunctions(context);
  const stringify = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }));
  const failed = (error: string): SandboxOutcome => ({ result: null, error });

  const evaluated = compile(context, code);
  if (evaluated.error) return failed(describeError(context, evaluated.error));
  const stopped = runJobs(runtime, context, deadlineMs);
  if (stopped) return failed(stopped);
  const script = settle(context, evaluated.value);
  if ('error' in script) return failed(script.error);
  const last = settle(context, context.getProp(script.value, 'value'));
  if ('error' in last) return failed(last.error);

  const json = context.callFunction(stringify, context.undefined, last.value);
  if (json.error) return failed(`the value of the last expression is not JSON: ${describeError(context, json.error)}`);
  if (context.typeof(json.value) !== 'string') return { result: null, error: null };
  const text = context.getString(json.value);
  if (text.length <= sandboxLimits.resultChars) return { result: JSON.parse(text), error: null };
  return {
    result: `${text.slice(0, sandboxLimits.resultChars)}… (cut: ${text.length} characters; write large results to a file)`,
    error: null,
  };
}

const [{ engine }] = await Promise.all([loadEngine(sandboxLimits.memoryBytes), channel.watchParent()]);
const runtime = engine.newRuntime();
runtime.setMemoryLimit(sandboxLimits.memoryBytes * 0.85);
runtime.setMaxStackSize(256 * 1024);
const context = runtime.newContext();
send({ op: 'ready' });

const order = input();
if (!('op' in order)) process.exit(1);
const deadlineMs = performance.now() + order.timeMs;
runtime.setInterruptHandler(() => performance.now() > deadlineMs);
let outcome: SandboxOutcome;
try {
  outcome = run(context, runtime, order.code, deadlineMs);
} catch (error) {
  // The engine itself failed while it answered: interrupted, or out of stack or memory.
  const message =
    performance.now() > deadlineMs ? timeIsUp : `the code could not go on: ${error instanceof Error ? error.message : 'out of memory'}`;
  outcome = { result: null, error: message.slice(0, 4000) };
}
send({ op: 'done', ...outcome });
process.exit(0);
