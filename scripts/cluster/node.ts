/** One node of a local cluster: a process of the service, whose log lines are passed on under its name. It ends when this process ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export type NodeEnd = { code: number | null; signal: NodeJS.Signals | null };

export type NodeOptions = {
  name: string;
  /** The entry file. */
  entry: string;
  env: Readonly<Record<string, string | undefined>>;
  /** A line of its log or standard error. */
  onLine(line: string): void;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const startWithinMs = 60_000;

export class LocalNode {
  readonly name: string;
  readonly pid: number;
  /** Its address, when it serves. Rejects with one line if it ends first, or takes longer than a minute. */
  readonly url: Promise<string>;
  readonly ended: Promise<NodeEnd>;
  private readonly child: ChildProcess;

  /** Throws if no process can be started. */
  constructor({ name, entry, env, onLine }: NodeOptions) {
    this.name = name;
    // Detached: Ctrl-C at the terminal goes to the tool, which stops the nodes. The channel notifies them when the tool has ended without a
    // signal.
    this.child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
      cwd: root,
      env: { ...env, NODE_NAME: name },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    this.child.on('error', () => {});
    if (this.child.pid === undefined) throw new Error(`${name} cannot be started: this machine gives no more processes`);
    this.pid = this.child.pid;
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
    let lastLine = '';
    const readLines = (stream: Readable, line: (text: string) => void) => createInterface({ input: stream }).on('line', line);
    readLines(this.child.stderr!, (line) => {
      lastLine = line;
      onLine(line);
    });
    this.url = new Promise<string>((resolve, reject) => {
      readLines(this.child.stdout!, (line) => {
        const address = /^Troupe serves on (\S+)$/.exec(line)?.[1];
        if (address === undefined) {
          // Its other announcements are for people who start it alone.
          if (line.startsWith('{')) onLine(line);
          return;
        }
        clearTimeout(late);
        resolve(address);
      });
      const late = setTimeout(() => reject(new Error(`${name} was not up within ${startWithinMs / 1_000} s`)), startWithinMs);
      void this.ended.then(({ code, signal }) => {
        clearTimeout(late);
        reject(new Error(`${name} ended with ${signal ?? code} while it started${lastLine === '' ? '' : `: ${lastLine}`}`));
      });
    });
    // Nobody is required to await it.
    this.url.catch(() => {});
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isAlive) this.child.kill(signal);
  }

  /** Asks it to stop, as Ctrl-C does, and kills it after `withinMs`. */
  async stop(withinMs: number): Promise<NodeEnd> {
    // A stopped process handles no other signal first.
    this.signal('SIGCONT');
    this.signal('SIGINT');
    const late = setTimeout(() => this.signal('SIGKILL'), withinMs);
    return this.ended.finally(() => clearTimeout(late));
  }
}
