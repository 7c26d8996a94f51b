/**
 * Programs that are measured, ours and the limits alike, run in processes of their own, so that neither warms up or litters the other's heap.
 * A program serves named calls over the channel to its parent; `Program` is the parent's side.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

type Call = { id: number; name: string; input: unknown };
type Answer = { id: number; value?: unknown; error?: string };
type Served = Record<string, (input: never) => unknown>;

const answerWithinMs = 180_000;

/** In the program: answers calls until the parent asks it to end, or is gone. A call of a name that is missing is an error. */
export function serveCalls(served: Served): void {
  process.on('message', async ({ id, name, input }: Call) => {
    if (name === 'end') process.exit(0);
    try {
      process.send!({ id, value: await served[name]!(input as never) } satisfies Answer);
    } catch (error) {
      process.send!({ id, error: (error as Error).stack ?? String(error) } satisfies Answer);
    }
  });
  process.on('disconnect', () => process.exit(0));
}

/** Called in the program: sends a notice to the parent process. */
export function notifyParent(notice: object): void {
  process.send!({ notice });
}

export class Program {
  /** Called with each notice of the program. */
  onNotice: (notice: never) => void = () => {};
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void; timer: NodeJS.Timeout }>();
  private nextId = 1;

  /** @param file below bench/ */
  constructor(file: string, options: { nodeOptions?: string[]; env?: NodeJS.ProcessEnv; cpus?: string | undefined } = {}) {
    this.child = fork(fileURLToPath(new URL(`../${file}`, import.meta.url)), {
      execArgv: ['--disable-warning=ExperimentalWarning', ...(options.nodeOptions ?? [])],
      env: { ...process.env, ...options.env },
      serialization: 'advanced',
      // What a program prints is no row.
      stdio: ['ignore', 2, 'inherit', 'ipc'],
    });
    if (options.cpus !== undefined) execFileSync('taskset', ['-acp', options.cpus, String(this.child.pid)]);
    this.child.on('message', (message: Answer & { notice?: unknown }) => {
      if (message.notice !== undefined) return this.onNotice(message.notice as never);
      const call = this.waiting.get(message.id);
      if (call === undefined) return;
      this.forget(message.id);
      if (message.error === undefined) call.resolve(message.value);
      else call.reject(new Error(`${file}: ${message.error}`));
    });
    this.child.on('exit', (code) => {
      for (const [id, call] of this.waiting) {
        this.forget(id);
        call.reject(new Error(`${file} ended with ${code} in the middle of a call`));
      }
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Rejects with the program's own error, when it ends, or when it does not answer for three minutes. */
  call<T>(name: string, input: unknown = null): Promise<T> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.forget(id);
        reject(new Error(`no answer to ${name}`));
      }, answerWithinMs);
      this.waiting.set(id, { resolve, reject, timer });
      this.child.send({ id, name, input } satisfies Call);
    });
  }

  /** Ends the program by its own exit, so that a profile it was started with is written. */
  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.send({ id: 0, name: 'end', input: null } satisfies Call);
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }

  private forget(id: number): void {
    clearTimeout(this.waiting.get(id)?.timer);
    this.waiting.delete(id);
  }
}
