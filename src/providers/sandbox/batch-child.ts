/**
 * The program inside a sandbox process that runs code over batches of numbers: a trusted harness and the caller's code share one QuickJS, and
 * numbers pass through arrays in its memory, so that no single step needs a call between host and engine. A failure is reported with the number of
 * the current step; the process ends with the first.
 */
import { randomBytes } from 'node:crypto';
import { linesAndBytes, watchParent, writeBytes, writeLine } from './child-channel.ts';
import { describeError, loadEngine, nullOrNoMemory } from './guest-engine.ts';
import type { FromBatches, GuestFailure, ToBatches } from './protocol.ts';

/** The engine's own needs: its code's data and what it cannot count. */
const engineBytes = 32 * 2 ** 20;

const markBytes = 32;

const input = linesAndBytes<ToBatches>();
const send = (line: FromBatches): void => writeLine(line);
await watchParent();
send({ op: 'ready' });

const order = input.line();
if (order.op !== 'open') process.exit(1);
const { memoryBytes } = order;
const { wasmMemory, engine } = await loadEngine(engineBytes + memoryBytes);
const runtime = engine.newRuntime();
runtime.setMemoryLimit(memoryBytes);
runtime.setMaxStackSize(256 * 1024);
const context = runtime.newContext();

let stopped: GuestFailure | null = null;
let progressAt = -1;
let step = 0;
const beganMs = cpuMs();
let stepBeganMs = beganMs;
runtime.setInterruptHandler(() => {
  const nowMs = cpuMs();
  const at = progress();
  if (at !== step) {
    step = at;
    stepBeganMs = nowMs;
  }
  if (nowMs - beganMs > order.cpuMs) stopped = 'time';
  else if (nowMs - stepBeganMs > order.stepMs) stopped = 'step_time';
  return stopped !== null;
});

try {
  serve();
} catch (error) {
  // The engine itself gave up while answering.
  fail(stopped ?? 'memory', error instanceof Error ? error.message : 'out of memory');
}

function serve(): never {
  if (order.op !== 'open') process.exit(1);
  const harness = evaluate(order.harness, 'harness.js');
  const settings = evaluate(`(${JSON.stringify(order.settings)})`, 'settings.js');
  const [inputs, outputs, steps] = [sharedBuffer(order.inputs), sharedBuffer(order.outputs), sharedBuffer(1)];
  progressAt = steps.at;
  const made = value(context.callFunction(harness, context.undefined, settings, inputs.handle, outputs.handle, steps.handle));
  evaluate(order.code, 'code.js');
  value(context.callFunction(context.getProp(made, 'start'), made));
  const batch = context.getProp(made, 'batch');
  send({ op: 'opened' });
  for (;;) {
    const next = input.line();
    if (next.op !== 'batch') process.exit(1);
    if (next.bytes > order.inputs * 8) throw new Error('the batch is larger than the harness allows');
    // Memory that has grown is another buffer, so views are made anew for each batch.
    input.bytes(new Uint8Array(wasmMemory.buffer, inputs.at, next.bytes));
    const count = context.newNumber(next.count);
    value(context.callFunction(batch, made, count)).dispose();
    const results = Buffer.from(wasmMemory.buffer, outputs.at, order.outputs * 8);
    send({ op: 'batched', bytes: results.length });
    writeBytes(results);
  }
}

/**
 * An array of the engine that this program reads and writes in place, and where in the engine's memory it is. The library does not expose the address
 * (it reads copies), so the array is made with random content, which is then searched for. It never moves, and is never freed.
 */
function sharedBuffer(doubles: number) {
  const content = new Uint8Array(Math.max(doubles * 8, markBytes));
  const mark = content.subarray(0, markBytes);
  mark.set(randomBytes(markBytes));
  const handle = context.newArrayBuffer(content.buffer);
  const memory = Buffer.from(wasmMemory.buffer);
  const at = memory.indexOf(mark);
  if (at < 0 || memory.indexOf(mark, at + 1) >= 0) throw new Error('the shared array is not in the memory of the engine once');
  memory.fill(0, at, at + markBytes);
  return { handle, at };
}

function evaluate(code: string, name: string) {
  return value(context.evalCode(code, name, { type: 'global' }));
}

type Outcome = ReturnType<typeof context.evalCode>;

function value(outcome: Outcome) {
  if (!outcome.error) return outcome.value;
  const message = describeError(context, outcome.error);
  // The engine's memory never shrinks: where it is below the limit, the limit was not reached.
  if (message === nullOrNoMemory && wasmMemory.buffer.byteLength < memoryBytes) fail(stopped ?? 'error', 'null was thrown');
  fail(stopped ?? (/out of memory|memory ran out/.test(message) ? 'memory' : 'error'), message);
}

function fail(reason: GuestFailure, message: string): never {
  send({ op: 'failed', reason, step: progress(), message: message.slice(0, 4_000) });
  process.exit(0);
}

function progress(): number {
  return progressAt < 0 ? 0 : new DataView(wasmMemory.buffer).getFloat64(progressAt, true);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
