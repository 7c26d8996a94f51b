/**
 * The program inside the sandbox process: one QuickJS in WebAssembly runs one piece of code, then the process ends. It has no asynchronous
 * input: stdin is read with blocking calls, so that readFile() is a synchronous function for the code, and the process ends when stdin
 * does. While the code is busy stdin is not read; a monitoring thread ends the process when the parent has ended. Limits that must hold
 * even if code escapes the engine are set from outside (`process.ts`); those in here give clear messages.
 */

import { once } from 'node:events';
import { readSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { Worker } from 'node:worker_threads';
import release from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { type ChildLine, type FileCall, maxLineChars, type ParentLine, type SandboxOutcome, sandboxLimits } from './protocol.ts';

/** Node has it; only the browser's type library declares it. */
declare const WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => object };

/** JS_EVAL_FLAG_ASYNC of QuickJS: top-level await in a plain script; the answer is a promise of {value}. */
const asyncScript = 1 << 7;
const pageBytes = 64 * 1024;
const timeIsUp = 'stopped: the time limit was reached';

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

const input = lines();

/** Lines of stdin, read with blocking calls. */
function lines(): () => ParentLine {
  const chunk = Buffer.alloc(pageBytes);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return () => {
    const parts: string[] = [];
    for (;;) {
      const end = rest.indexOf('\n');
      if (end >= 0) {
        parts.push(rest.slice(0, end));
        rest = rest.slice(end + 1);
        return JSON.parse(parts.join(''));
      }
      parts.push(rest);
      const read = readSync(0, chunk);
      if (read === 0) process.exit(0);
      rest = decoder.write(chunk.subarray(0, read));
    }
  };
}

function tell(line: ChildLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

/** Ends this process when its original parent has ended, even while the main thread is busy. */
async function watchParent(): Promise<void> {
  const program = `const parent = ${process.ppid}; setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 200);`;
  // By default the worker would open this process's stdout, which makes it non-blocking.
  const options = { eval: true, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 } };
  await once(new Worker(program, options), 'online');
}

/** Asks the parent for a file operation; throws its refusal, which becomes an error inside the code. */
function fileCaller(): (call: FileCall) => unknown {
  let calls = 0;
  return (call) => {
    if (++calls > sandboxLimits.calls) throw new Error(`too many file calls in one run (${sandboxLimits.calls})`);
    if (call.op === 'writeFile' && JSON.stringify(call.text).length > maxLineChars - 1024)
      throw new Error('the text is too large to write');
    if (call.op !== 'listFiles' && call.path.length > 1024) throw new Error('the file name is too long');
    tell(call);
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
    tell({ op: 'print', text: text.slice(0, sandboxLimits.stdoutChars + 1) });
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

function describeError(context: QuickJSContext, error: QuickJSHandle): string {
  const property = (name: string) => {
    const handle = context.getProp(error, name);
    return context.typeof(handle) === 'string' ? context.getString(handle) : '';
  };
  if (context.typeof(error) !== 'object') return `thrown: ${context.typeof(error) === 'symbol' ? 'a symbol' : String(context.dump(error))}`;
  // Without memory the engine cannot create an error, and throws null.
  if (context.dump(error) === null) return 'null was thrown, or the memory ran out';
  const message = property('message') || JSON.stringify(context.dump(error)) || 'an object was thrown';
  if (message === 'interrupted') return timeIsUp;
  const line = /code\.js:(\d+)/.exec(property('stack'))?.[1];
  return `${property('name') || 'Error'}: ${message}${line ? ` (line ${line})` : ''}`.slice(0, 4000);
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

/** A memory that cannot grow beyond the limit, even where the engine's own accounting is incomplete. */
async function loadEngine() {
  const pages = sandboxLimits.memoryBytes / pageBytes;
  const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: pages });
  return newQuickJSWASMModuleFromVariant(newVariant(release as unknown as QuickJSSyncVariant, { wasmMemory }));
}

const [engine] = await Promise.all([loadEngine(), watchParent()]);
const runtime = engine.newRuntime();
runtime.setMemoryLimit(sandboxLimits.memoryBytes * 0.85);
runtime.setMaxStackSize(256 * 1024);
const context = runtime.newContext();
tell({ op: 'ready' });

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
tell({ op: 'done', ...outcome });
process.exit(0);
