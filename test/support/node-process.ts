/** One node of the service as a separate process that can be killed, stopped, paused and restarted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Link } from './link.ts';
import { nodeEnv } from './node-env.ts';

export type Ended = { code: number | null; signal: NodeJS.Signals | null; afterMs: number };

/** The folder of this version of the program. */
export const ownProgram = fileURLToPath(new URL('../..', import.meta.url));
/** Several processes compile the same files; once is enough. */
const compileCache = join(ownProgram, 'node_modules/.cache/compile');
const startWithinMs = 60_000;
const endWithinMs = 60_000;
const pollMs = 25;
const askTimeoutMs = 10_000;
const keptLogChars = 2_000_000;

export class NodeProcess {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Standard output and error of all its lives, the newest two million characters. */
  log = '';
  /** The folder of the version that its next start runs. */
  program = ownProgram;
  /** For callers (`Entrance`). */
  readonly mayLoseLinks = true;
  private readonly link: Link | null;
  private child: ChildProcess | null = null;
  private running: { child: ChildProcess; url: string } | null = null;
  private frozen = false;
  private lastCode: number | null = null;

  /** Nothing runs yet. `env` is all that the process is given, `NODE_NAME` aside. `link`: the way to it, which refuses when it is gone. */
  constructor(name: string, env: Readonly<Record<string, string>>, link: Link | null = null) {
    this.name = name;
    this.env = env;
    this.link = link;
  }

  get url(): string {
    if (this.running === null) throw new Error(`${this.name} does not run`);
    return this.running.url;
  }

  /** From its spawning on. */
  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** It serves, or would, were it not frozen. */
  get isRunning(): boolean {
    return this.running !== null;
  }

  /** It runs and is not frozen. */
  get isUp(): boolean {
    return this.running !== null && !this.frozen;
  }

  /** Resolves when it says where it serves. Rejects with what it printed when it ends before, or takes longer than a minute. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
      cwd: this.program,
      env: { ...nodeEnv, NODE_COMPILE_CACHE: compileCache, ...this.env, NODE_NAME: this.name },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.frozen = false;
    child.once('exit', () => {
      if (this.child !== child) return;
      this.child = null;
      this.running = null;
      this.link?.refuse();
    });
    void this.link?.admit();
    this.running = { child, url: await this.announced(child) };
  }

  /** Starts the node, which must end during its start; resolves with its exit code and what it printed. */
  async startRefused(): Promise<{ code: number | null; output: string }> {
    const from = this.log.length;
    try {
      await this.start();
    } catch {
      return { code: this.lastCode, output: this.log.slice(from) };
    }
    throw new Error(`${this.name} should have been refused, but serves`);
  }

  /** As a power cut would. Resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** As an orchestrator does, one that kills after a minute what has not ended. */
  async term(): Promise<Ended> {
    return this.end('SIGTERM');
  }

  /** Suspends the process, as a hypervisor does with a machine; `thaw` resumes it. */
  freeze(): void {
    if (this.running === null) return;
    this.frozen = true;
    this.running.child.kill('SIGSTOP');
  }

  thaw(): void {
    if (this.running === null) return;
    this.running.child.kill('SIGCONT');
    this.frozen = false;
  }

  /** The answer of `/health/ready`: the status, and its text. 0 without an answer. */
  async readiness(): Promise<{ status: number; words: string }> {
    if (this.running === null) return { status: 0, words: 'does not run' };
    try {
      const response = await fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(askTimeoutMs) });
      return { status: response.status, words: ((await response.json()) as { status: string }).status };
    } catch (error) {
      return { status: 0, words: (error as Error).message };
    }
  }

  async untilReady(withinMs = 60_000): Promise<void> {
    await this.untilReadiness((status) => status === 200, withinMs);
  }

  async untilReadiness(holds: (status: number) => boolean, withinMs = 60_000): Promise<void> {
    const giveUpAtMs = performance.now() + withinMs;
    for (;;) {
      const { status, words } = await this.readiness();
      if (holds(status)) return;
      if (performance.now() > giveUpAtMs)
        throw new Error(`${this.name} says ${status} ${words} after ${withinMs} ms\n${this.log.slice(-4_000)}`);
      await pause(pollMs);
    }
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<Ended> {
    const { child } = this;
    if (child === null) throw new Error(`${this.name} does not run`);
    const beganMs = performance.now();
    const exited = once(child, 'exit');
    child.kill(signal);
    if (this.frozen) this.thaw();
    const patience = setTimeout(() => child.kill('SIGKILL'), endWithinMs);
    const [code, by] = (await exited) as [number | null, NodeJS.Signals | null];
    clearTimeout(patience);
    return { code, signal: by, afterMs: performance.now() - beganMs };
  }

  private announced(child: ChildProcess): Promise<string> {
    let printed = '';
    return new Promise<string>((resolve, reject) => {
      const giveUp = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`${this.name} was not up in time:\n${printed}`));
      }, startWithinMs);
      const take = (chunk: Buffer) => {
        this.log = (this.log + chunk).slice(-keptLogChars);
        if (printed.length > 20_000) return;
        printed += chunk;
        const found = /serves on (http:\S+)/.exec(printed);
        if (found === null) return;
        clearTimeout(giveUp);
        resolve(found[1]!);
      };
      child.stdout!.on('data', take);
      child.stderr!.on('data', take);
      child.once('close', (code: number | null) => {
        this.lastCode = code;
        clearTimeout(giveUp);
        reject(new Error(`${this.name} ended with ${code}:\n${printed}`));
      });
    });
  }
}
