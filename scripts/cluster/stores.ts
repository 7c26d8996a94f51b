/** The Redis and PostgreSQL of a local cluster: the given ones, and started ones for the rest, in a process that briefly outlives this one. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signalProcess } from '../../src/storage/live-process.ts';
import { readPostmaster } from '../../src/storage/postmaster.ts';

export type StoresOrder =
  | { kind: 'start'; dataDir: string; redis: boolean; postgres: boolean; restart: boolean }
  /** A node has been started: the stores stay until it has ended. */
  | { kind: 'node'; pid: number }
  | { kind: 'stop' };

export type StoresNotification =
  | { kind: 'started'; databaseUrl: string | null; redisUrl: string | null; redisPid: number | null }
  | { kind: 'failed'; message: string }
  | { kind: 'says'; line: string }
  | { kind: 'lost'; what: 'redis' | 'postgres' }
  | { kind: 'redis'; pid: number };

export type StoresOptions = {
  dataDir: string;
  /** Null: one is started. */
  databaseUrl: string | null;
  redisUrl: string | null;
  /** A Redis that ends is restarted, empty. */
  restart: boolean;
  print(line: string): void;
  /** The started PostgreSQL, or the process that keeps it, has ended unexpectedly: the cluster cannot continue. */
  onLost(why: string): void;
};

export class Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Of the started Redis. */
  redisPid: number | null;
  private readonly keeper: ChildProcess;
  private readonly dataDir: string;
  private readonly ownPostgres: boolean;
  private stopping = false;

  private constructor(
    keeper: ChildProcess,
    { databaseUrl, redisUrl, redisPid }: Extract<StoresNotification, { kind: 'started' }>,
    options: StoresOptions,
  ) {
    this.keeper = keeper;
    this.dataDir = options.dataDir;
    this.ownPostgres = options.databaseUrl === null;
    this.databaseUrl = options.databaseUrl ?? databaseUrl!;
    this.redisUrl = options.redisUrl ?? redisUrl!;
    this.redisPid = redisPid;
    keeper.on('message', (notification: StoresNotification) => this.onNotification(notification, options));
    keeper.once('exit', () => {
      if (!this.stopping) options.onLost('What keeps Redis and PostgreSQL has ended');
    });
  }

  /** Rejects with one line that says what is missing, or when `signal` is aborted; then nothing is left running. */
  static async start(options: StoresOptions, signal: AbortSignal): Promise<Stores> {
    signal.throwIfAborted();
    // Detached: Ctrl-C at the terminal goes to the tool, which stops this process last.
    const keeper = fork(fileURLToPath(new URL('./stores-process.ts', import.meta.url)), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const onAbort = () => keeper.connected && keeper.disconnect();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { dataDir, databaseUrl, redisUrl, restart } = options;
      keeper.send({ kind: 'start', dataDir, redis: redisUrl === null, postgres: databaseUrl === null, restart } satisfies StoresOrder);
      const notification = await firstNotification(keeper, options.print);
      if (notification.kind === 'started') return new Stores(keeper, notification, options);
      throw new Error(notification.message);
    } catch (error) {
      if (keeper.exitCode === null && keeper.signalCode === null) await once(keeper, 'exit');
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** From now on the stores wait for this process's end before they stop. */
  serves(pid: number): void {
    if (this.keeper.connected) this.keeper.send({ kind: 'node', pid } satisfies StoresOrder);
  }

  /** Ends the started stores, after commits are on disk. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (this.keeper.exitCode !== null || this.keeper.signalCode !== null) return;
    const gone = once(this.keeper, 'exit');
    if (this.keeper.connected) this.keeper.send({ kind: 'stop' } satisfies StoresOrder);
    await gone;
  }

  /** Ends them at once, as in a crash: commits are safe. */
  async kill(): Promise<void> {
    this.stopping = true;
    const postmaster = this.ownPostgres ? await readPostmaster(join(this.dataDir, 'postgres')).catch(() => null) : null;
    if (postmaster !== null && postmaster.pid > 0) signalProcess(postmaster.pid, 'SIGQUIT');
    if (this.redisPid !== null) signalProcess(this.redisPid, 'SIGKILL');
    this.keeper.kill('SIGKILL');
  }

  private onNotification(notification: StoresNotification, { print, restart, onLost }: StoresOptions): void {
    if (notification.kind === 'says') print(notification.line);
    if (notification.kind === 'redis') {
      this.redisPid = notification.pid;
      print(`Redis runs again, empty (pid ${notification.pid})`);
    }
    if (notification.kind !== 'lost' || this.stopping) return;
    if (notification.what === 'postgres') onLost('PostgreSQL has ended');
    else {
      this.redisPid = null;
      print(restart ? 'Redis has ended; it is started again' : 'Redis has ended; the nodes go on as they are placed');
    }
  }
}

/** The keeper's message at the end of its start. */
async function firstNotification(
  keeper: ChildProcess,
  print: (line: string) => void,
): Promise<Extract<StoresNotification, { kind: 'started' | 'failed' }>> {
  return new Promise((resolve, reject) => {
    const onNotification = (notification: StoresNotification) => {
      if (notification.kind === 'says') print(notification.line);
      if (notification.kind !== 'started' && notification.kind !== 'failed') return;
      keeper.off('message', onNotification);
      resolve(notification);
    };
    keeper.on('message', onNotification);
    keeper.once('exit', () => reject(new Error('What keeps Redis and PostgreSQL did not start')));
  });
}
