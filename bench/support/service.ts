/** The service itself, as `npm start` runs it, in a DATA_DIR of its own and on free ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { liftLimits, manyAnonymousRequests } from '../../test/support/lift-limits.ts';
import { machineMs } from './machine-clock.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 60_000;
const endWithinMs = 60_000;
const pollMs = 10;

export type ServiceOptions = {
  dataDir: string;
  /** Through the launcher of `npm start`, which checks whether packages are missing. */
  launcher?: boolean;
  nodeOptions?: string[];
  env?: NodeJS.ProcessEnv;
  /** Processors for it and its PostgreSQL, as `taskset` takes them. Default: all. */
  cpus?: string | undefined;
};

export class Service {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process until `/health/ready` said so. */
  readonly readyAfterMs: number;
  readonly process: ChildProcess;

  private constructor(child: ChildProcess, url: string, readyAfterMs: number) {
    this.process = child;
    this.pid = child.pid!;
    this.url = url;
    this.readyAfterMs = readyAfterMs;
  }

  /** Rejects with what the service printed when it ends, or is not ready within a minute. */
  static async start({ dataDir, launcher = false, nodeOptions = [], env = {}, cpus }: ServiceOptions): Promise<Service> {
    const beganMs = machineMs();
    const entry = launcher ? ['scripts/run.mjs', 'src/main.ts'] : ['--disable-warning=ExperimentalWarning', ...nodeOptions, 'src/main.ts'];
    const [command, ...args] = [...(cpus === undefined ? [] : ['taskset', '-c', cpus]), process.execPath, ...entry];
    const child = spawn(command!, args, {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
        DATA_DIR: dataDir,
        PORT: '0',
        ADMIN_PORT: '0',
        LOG_LEVEL: 'warn',
        ...manyAnonymousRequests,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    try {
      const url = await Service.announced(child);
      while (!(await fetch(`${url}/health/ready`)).ok) {
        if (machineMs() - beganMs > readyWithinMs) throw new Error('the service does not get ready');
        await after(pollMs);
      }
      const readyAfterMs = machineMs() - beganMs;
      await liftLimits(env.DATABASE_URL ?? (await runningEmbeddedPostgres(dataDir))!);
      return new Service(child, url, readyAfterMs);
    } catch (error) {
      child.kill('SIGTERM');
      throw error;
    }
  }

  private static announced(child: ChildProcess): Promise<string> {
    let printed = '';
    return new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the service did not start:\n${printed}`)), readyWithinMs);
      child.on('exit', (code) => reject(new Error(`the service ended with ${code}:\n${printed}`)));
      child.stdout!.on('data', (chunk) => {
        printed = (printed + chunk).slice(-4_000);
        const found = /serves on (http:\/\/\S+)/.exec(printed);
        if (found === null) return;
        clearTimeout(timer);
        resolve(found[1]!);
      });
    });
  }

  /** As an operator ends it; resolves when it and its PostgreSQL are gone. */
  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), endWithinMs);
    await ended;
    clearTimeout(timer);
  }
}
