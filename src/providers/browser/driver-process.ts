/** The node's side of the process that drives the browser: it starts it, sends it requests, and kills it with its browser. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppError, ToolError } from '../../errors.ts';
import { lowerProcess } from '../../process-priority.ts';
import type { BrowserUser } from './browser-user.ts';
import { makeHome, removeHome, removeStaleHomes } from './driver-home.ts';
import type { DriverSettings, FromDriver, ToDriver, Visit, VisitResult } from './protocol.ts';

const programFile = fileURLToPath(new URL('./driver/child.ts', import.meta.url));
/** Longer than the start of the browser (`driver/chromium.ts`), which is in it. */
const startMs = 60_000;
/** After that it is killed. */
const closeMs = 5_000;
const heapMb = 512;
/** Below the node's own priority, for the browser too: on few cores, requests run first. */
const niceness = 5;

export const cannotStart = 'The browser cannot be started or reached; the log of the service says why';

export class DriverExited extends Error {}

type Waiting = { resolve(result: VisitResult | null): void; reject(error: unknown): void };

export class DriverProcess {
  /** Settles when pages can be opened; rejects `unavailable` with the reason. */
  readonly ready: Promise<{ version: string }>;
  readonly gone: Promise<void>;
  isReady = false;
  isGone = false;
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private browserPid: number | null = null;
  private lastId = 0;

  constructor(settings: Pick<DriverSettings, 'allow' | 'chromium'>, { uid, sandbox }: BrowserUser) {
    removeStaleHomes();
    const home = makeHome(uid);
    this.child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning', programFile], {
      ...(uid === null ? {} : { uid, gid: uid }),
      cwd: home,
      // A user without a name on this machine has no other home.
      env: { HOME: home, TMPDIR: home },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
    lowerProcess(this.child.pid, niceness);
    const stderrTail = tailOf(this.child);
    this.gone = new Promise((resolve) => {
      const end = () => {
        if (this.isGone) return;
        this.isGone = true;
        this.killBrowser();
        removeHome(home);
        for (const { reject } of this.waiting.values()) reject(new DriverExited('the browser has ended'));
        this.waiting.clear();
        resolve();
      };
      this.child.once('exit', end);
      this.child.once('error', end);
    });
    this.ready = new Promise((resolve, reject) => {
      const fail = (reason: string) => {
        clearTimeout(timer);
        reject(new AppError('unavailable', cannotStart, { cause: new Error(reason) }));
        void this.kill();
      };
      const timer = setTimeout(fail, startMs, 'no answer in time');
      void this.gone.then(() => fail(stderrTail()));
      this.child.on('message', (message: FromDriver) => {
        if (message.op === 'failed') return fail(message.reason);
        if (message.op !== 'ready') return this.settle(message);
        clearTimeout(timer);
        this.browserPid = message.pid;
        this.isReady = true;
        resolve({ version: message.version });
      });
    });
    this.ready.catch(() => {});
    this.send({ op: 'begin', settings: { ...settings, sandbox, home } });
  }

  /** Rejects with `ToolError`, the signal's reason, or `DriverExited`. */
  async visit(visit: Visit, signal: AbortSignal): Promise<VisitResult> {
    return (await this.ask((id) => ({ op: 'visit', id, visit }), signal))!;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.ask((id) => ({ op: 'probe', id }), signal);
  }

  /** Ends it with its browser; resolves when it has ended. */
  async close(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    const timer = setTimeout(() => void this.kill(), closeMs);
    await this.gone;
    clearTimeout(timer);
  }

  /** Kills it and its browser at once; resolves when it has ended. */
  kill(): Promise<void> {
    this.child.kill('SIGKILL');
    return this.gone;
  }

  private async ask(message: (id: number) => ToDriver, signal: AbortSignal): Promise<VisitResult | null> {
    signal.throwIfAborted();
    if (this.isGone) throw new DriverExited('the browser has ended');
    const id = ++this.lastId;
    const { promise, resolve, reject } = Promise.withResolvers<VisitResult | null>();
    const onAbort = () => {
      this.send({ op: 'abort', id });
      reject(signal.reason);
    };
    this.waiting.set(id, { resolve, reject });
    signal.addEventListener('abort', onAbort, { once: true });
    this.send(message(id));
    try {
      return await promise;
    } finally {
      this.waiting.delete(id);
      signal.removeEventListener('abort', onAbort);
    }
  }

  private settle(message: Extract<FromDriver, { op: 'done' | 'threw' }>): void {
    const waiting = this.waiting.get(message.id);
    if (message.op === 'done') waiting?.resolve(message.result);
    else waiting?.reject(message.forAgent ? new ToolError(message.message) : new Error(message.message));
  }

  private send(message: ToDriver): void {
    if (this.child.connected) this.child.send(message, () => {});
  }

  /** It ends with its driver; one that hangs does not. It leads a process group of its own. */
  private killBrowser(): void {
    if (this.browserPid === null) return;
    try {
      process.kill(-this.browserPid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
}

/** The last error output, for the log. */
function tailOf(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-1_000);
  });
  return () => tail.trim();
}
