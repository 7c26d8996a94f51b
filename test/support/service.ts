/** The whole service as a child process, as a user starts it: its own DATA_DIR, embedded PostgreSQL, any free port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../src/backoff.ts';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import type { EventBody } from './bodies.ts';
import { DescribedApi } from './described-api.ts';
import type { Json } from './json.ts';
import { liftLimits, manyAnonymousRequests } from './lift-limits.ts';
import { nodeEnv } from './node-env.ts';
import { copyPreparedPostgres } from './prepared-postgres.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type Service = {
  readonly url: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Standard output and error so far. */
  output(): string;
  /** Kills the process, as a power cut would, and waits until it has ended. Its PostgreSQL continues. */
  kill(): Promise<void>;
  /** Asks it to stop, as Ctrl-C does; resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves with its exit code when it ends for any reason. */
  ended(): Promise<number | null>;
  /** Starts it again on the same DATA_DIR, with these settings over the first ones. */
  restart(env?: Record<string, string>): Promise<void>;
  /** What it says of itself: callers hold good answers against it. */
  readonly api?: DescribedApi;
};

/**
 * Where a caller sends its requests. `mayLoseLinks`: it is a node of a cluster, where a busy machine may break the link to another node, and the
 * outcome of a command is unknown then.
 */
export type Entrance = Pick<Service, 'url' | 'api'> & { readonly mayLoseLinks?: boolean };

/** A start that follows a kill may be slow on a busy machine. */
const readyWithinMs = 180_000;
const taskPollMs = 50;
const maxTaskPollMs = 1_000;
const insistForMs = 180_000;
/** Of a task, which then changes no more. */
export const endStatuses = ['complete', 'failed', 'cancelled'];

/**
 * Starts the service and stops it, its PostgreSQL included, when the test has ended.
 *
 * @param fresh whether DATA_DIR is empty, as on a user's first start; else it has a PostgreSQL with the service's tables (`copyPreparedPostgres`)
 * @param limited whether callers have the limits that a user's service gives them; `work`: those on tasks and agents, not on requests
 */
export async function startService(
  t: Scope,
  env: Record<string, string> = {},
  { fresh = false, limited = false }: { fresh?: boolean; limited?: boolean | 'work' } = {},
): Promise<Service> {
  const folder = await temporaryFolder('troupe-service-');
  const dataDir = join(folder.path, 'data');
  const over = limited === true ? env : { ...manyAnonymousRequests, ...env };
  if (!fresh && env.DATABASE_URL === undefined) await copyPreparedPostgres(dataDir);
  let running!: Launched;
  // Registered before the start: a start that fails leaves a PostgreSQL too.
  t.after(async () => {
    if (running !== undefined) await stopProcess(running.child, 'SIGINT');
    await stopLeftPostgres(dataDir);
    await folder.remove();
  });
  running = await launch(dataDir, over);
  if (limited !== true) await liftLimits(env.DATABASE_URL ?? (await runningEmbeddedPostgres(dataDir))!, limited === 'work');
  // Where requests are limited, the test gets all of them: none is used for the description.
  const api = limited === true ? undefined : new DescribedApi(await (await fetch(`${running.url}/v1/openapi.json`)).json());
  const service: Service = {
    ...(api && { api }),
    get url() {
      return running.url;
    },
    get pid() {
      return running.child.pid!;
    },
    dataDir,
    output: () => running.output(),
    async kill() {
      const exited = once(running.child, 'exit');
      running.child.kill('SIGKILL');
      await exited;
    },
    stop: (signal = 'SIGINT') => stopProcess(running.child, signal),
    async ended() {
      return (await once(running.child, 'exit'))[0] as number | null;
    },
    async restart(more = {}) {
      running = await launch(dataDir, { ...over, ...more });
    },
  };
  return service;
}

type Launched = { child: ChildProcess; url: string; output(): string };

async function launch(dataDir: string, env: Record<string, string>): Promise<Launched> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
    env: { ...nodeEnv, DATA_DIR: dataDir, PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'warn', DRAIN_GRACE_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout!.on('data', (chunk) => (output += chunk));
  child.stderr!.on('data', (chunk) => (output += chunk));
  const url = await new Promise<string>((resolve, reject) => {
    const giveUp = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the service was not ready in time:\n${output}`));
    }, readyWithinMs);
    child.stdout!.on('data', () => {
      const found = /serves on (http:\S+)/.exec(output);
      if (found === null) return;
      clearTimeout(giveUp);
      resolve(found[1]!);
    });
    child.once('exit', (code) => {
      clearTimeout(giveUp);
      reject(new Error(`the service ended with ${code}:\n${output}`));
    });
  });
  return { child, url, output: () => output };
}

/** @returns its exit code, null where a signal ended it */
async function stopProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  return (await exited)[0] as number | null;
}

/** A killed service leaves its PostgreSQL; the test must not. */
async function stopLeftPostgres(dataDir: string): Promise<void> {
  const pidFile = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => null);
  if (pidFile === null) return;
  try {
    process.kill(Number(pidFile.split('\n')[0]), 'SIGQUIT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

class NotOk extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A caller with an account of its own. */
export class Caller {
  readonly token: string;
  private readonly service: Entrance;

  private constructor(service: Entrance, token: string) {
    this.service = service;
    this.token = token;
  }

  static async register(service: Entrance, name = `u${Math.random().toString(36).slice(2)}`): Promise<Caller> {
    const anonymous = new Caller(service, '');
    const account = { email: `${name}@example.com`, password: 'a long enough password' };
    // Registering takes no Idempotency-Key: what may have happened shows when signing in.
    const { access_token } = await anonymous.json('POST', '/v1/auth/register', account).catch((error) => {
      if (!(service.mayLoseLinks && error instanceof NotOk && error.status === 409)) throw error;
      return anonymous.json('POST', '/v1/auth/login', account);
    });
    return new Caller(service, access_token);
  }

  /** Who calls with this token or key. */
  static withToken(service: Entrance, token: string): Caller {
    return new Caller(service, token);
  }

  /** The same caller at another node. */
  at(service: Entrance): Caller {
    return new Caller(service, this.token);
  }

  /** A program with an API key of the caller's. */
  async program(mode: 'live' | 'test', scopes = ['commerce.read', 'commerce.write', 'tasks.read', 'tasks.write']): Promise<Caller> {
    const { key } = await this.json('POST', '/v1/api-keys', { name: mode, mode, scopes });
    return new Caller(this.service, key);
  }

  async fetch(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const isForm = body instanceof FormData;
    return fetch(this.service.url + path, {
      method,
      headers: {
        ...(this.token === '' ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : isForm ? body : JSON.stringify(body),
      signal,
    });
  }

  /**
   * The JSON answer of a request that must succeed; in the end, where links may be lost: asked again, with one Idempotency-Key, while the
   * outcome is unknown.
   */
  async json(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> {
    if (!this.service.mayLoseLinks) return this.ask(method, path, body, headers);
    return this.insist(method, path, body, headers);
  }

  private async insist(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Json> {
    const keyed = method === 'GET' || this.token === '' ? headers : { 'idempotency-key': randomUUID(), ...headers };
    const until = Date.now() + insistForMs;
    for (let tries = 0; ; tries++) {
      try {
        return await this.ask(method, path, body, keyed);
      } catch (error) {
        if (!(error instanceof NotOk) || Date.now() > until) throw error;
        // 409 to a repeat with a key: the first may still run.
        const isOpen = [503, 504].includes(error.status) || (tries > 0 && error.status === 409 && this.token !== '');
        if (!isOpen) throw error;
      }
      await pause(backoffMs(tries, 50, 1_000));
    }
  }

  private async ask(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Json> {
    const response = await this.fetch(method, path, body, headers);
    const text = await response.text();
    if (!response.ok) throw new NotOk(response.status, `${method} ${path}: ${response.status} ${text}`);
    const made = text === '' ? null : JSON.parse(text);
    const { api } = this.service;
    const answer = { status: response.status, headers: Object.fromEntries(response.headers), text, json: made };
    api?.check(api.find(method, path), answer, `${method} ${path}`);
    return made;
  }

  async upload(workspaceId: string, name: string, content: string | Uint8Array): Promise<Json> {
    const form = new FormData();
    form.set('file', new Blob([content as never]), name);
    return this.insist('POST', `/v1/workspaces/${workspaceId}/files`, form, {});
  }

  /** Polls until the task has one of the statuses; with pauses of a tenth of its time so far, up to a second, if it then stays there. */
  async untilTask(id: string, statuses: string[], withinMs = 120_000): Promise<Json> {
    const beganMs = performance.now();
    const stays = statuses.every((status) => endStatuses.includes(status));
    for (;;) {
      const task = await this.json('GET', `/v1/tasks/${id}`);
      if (statuses.includes(task.status)) return task;
      const tookMs = performance.now() - beganMs;
      if (tookMs > withinMs) throw new Error(`task ${id} is still ${task.status}: ${JSON.stringify(task)}`);
      await pause(stays ? Math.min(Math.max(taskPollMs, tookMs / 10), maxTaskPollMs) : taskPollMs);
    }
  }

  /** All events of the account from `after` on, over the stream: connects, replays, leaves. */
  async events(after = 0): Promise<EventBody[]> {
    const socket = new WebSocket(`${this.service.url.replace('http', 'ws')}/v1/ws`);
    const events: Json[] = [];
    return new Promise((resolve, reject) => {
      socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token: this.token, resume_from: after }));
      socket.onerror = () => reject(new Error('the stream could not be opened'));
      socket.onclose = (end) => reject(new Error(`the stream ended with ${end.code} ${end.reason}`));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.type === 'event') events.push(message.event);
        if (message.type !== 'replayed') return;
        socket.onclose = null;
        socket.close();
        resolve(events);
      };
    });
  }
}
