/**
 * The program of a computing process. It has no secrets: its environment is empty. It loads a job's module at the job's first run and keeps
 * it. Nothing here must end in time by itself: the node kills the process from outside.
 */
import { Readable } from 'node:stream';
import { AppError, type ErrorCode, ToolError } from '../../errors.ts';
import { Guests } from './guests.ts';
import type { JobFunction } from './port.ts';
import type { PlainError, ToChild, ToParent } from './protocol.ts';

/** Errors of the caller's source: the caller must get its own error back. */
const ofSource = new WeakSet<Error>();

const never = new AbortController().signal;
let sources = 0;
/** Receives the node's answer to the pending question. */
let answered: ((answer: ToChild) => void) | null = null;
let asking: Promise<unknown> = Promise.resolve();

process.on('message', (message: ToChild) => {
  if (message.op === 'run') void run(message.module, message.input);
  else answered?.(message);
});
// The node has ended.
process.on('disconnect', () => process.exit(0));
say({ op: 'ready' });

async function run(module: string, input: unknown): Promise<void> {
  const before = process.cpuUsage();
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const guests = new Guests(never);
  try {
    const { default: work } = (await import(module)) as { default: JobFunction<unknown, unknown> };
    const result = await work(input, { open, signal: never, report, openGuest: (options) => guests.open(options) });
    say({ op: 'done', result, cpuMs: cpuMs() });
  } catch (error) {
    say({ op: 'threw', error: plain(error), cpuMs: cpuMs() });
  } finally {
    await guests.close();
  }
}

function report(data: unknown): Promise<void> {
  return new Promise((resolve) => process.send!({ op: 'report', data } satisfies ToParent, () => resolve()));
}

async function open(): Promise<Readable> {
  const source = sources++;
  await ask({ op: 'open', source });
  return Readable.from(pieces(source), { objectMode: false, highWaterMark: 64 * 1024 });
}

async function* pieces(source: number): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const answer = await ask({ op: 'read', source });
      if (answer.op !== 'piece' || answer.bytes === null) return;
      yield answer.bytes;
    }
  } finally {
    say({ op: 'close', source });
  }
}

/** Asks one question at a time, because answers have no number. */
function ask(question: ToParent): Promise<ToChild> {
  const answer = asking.then(() => {
    return new Promise<ToChild>((resolve, reject) => {
      answered = (message) => {
        answered = null;
        if (message.op === 'failed') reject(revived(message.error));
        else resolve(message);
      };
      say(question);
    });
  });
  asking = answer.catch(() => {});
  return answer;
}

function revived({ name, message, code }: PlainError): Error {
  const error =
    name === 'ToolError' ? new ToolError(message) : code === undefined ? new Error(message) : new AppError(code as ErrorCode, message);
  ofSource.add(error);
  return error;
}

function plain(thrown: unknown): PlainError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  const { name, message, stack } = thrown;
  const error: PlainError = { name, message, ofSource: ofSource.has(thrown) };
  if (stack !== undefined) error.stack = stack;
  if (thrown instanceof AppError) error.code = thrown.code;
  if (thrown.cause !== undefined) error.cause = String(thrown.cause);
  return error;
}

function say(message: ToParent): void {
  process.send!(message);
}
