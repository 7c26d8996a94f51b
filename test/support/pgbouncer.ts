/** A real PgBouncer before the PostgreSQL of a test (Debian's package `pgbouncer`), which refuses to run as root. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, 'pgbouncer')).find(isProgram);

/** The reason to skip a test that needs it; false where it is there. Where `CI` is set nothing is skipped: the test fails instead. */
export const withoutPgbouncer: string | false = program !== undefined || process.env.CI ? false : 'there is no pgbouncer';
if (withoutPgbouncer) console.error(`SKIPPED: tests behind PgBouncer, because ${withoutPgbouncer} (Debian: pgbouncer)`);

export type Pgbouncer = {
  /** The same database by way of the pooler. */
  through(url: string): string;
  /** Its process now. */
  readonly process: ChildProcess;
  /** Resolves when the process is gone; one that waits for its sessions is ended after a second. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** At the same port. */
  startAgain(): Promise<void>;
  /** On its console, by the first of the users. */
  command(text: string): Promise<void>;
  /** Kills its process and starts another. A call while one is in progress waits for that one. */
  replace(): Promise<void>;
  /** Replaces its process if that does not answer on its console for 15 s; resolves with whether it did not. */
  replaceIfStuck(): Promise<boolean>;
};

const orderlyEndMs = 1_000;
const commandTimeoutMs = 15_000;

/** @param urls of the users that come: it knows their passwords. Ends with the test. */
export async function startPgbouncer(
  t: Scope,
  urls: readonly string[],
  settings: { pool_mode: 'session' | 'transaction' | 'statement' } & Record<string, string>,
): Promise<Pgbouncer> {
  if (program === undefined) throw new Error('There is no pgbouncer, and tests behind one need it');
  const folder = await temporaryFolder('troupe-pgbouncer-');
  t.after(() => folder.remove());
  const users = urls.map((url) => new URL(url));
  const quoted = (text: string) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
  const usersFile = join(folder.path, 'users');
  await writeFile(usersFile, users.map(({ username, password }) => `${quoted(username)} ${quoted(password)}\n`).join(''));
  for (let attempt = 1; attempt <= 20; attempt++) {
    const port = await freePort();
    const file = join(folder.path, 'pgbouncer.ini');
    const lines = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: usersFile,
      admin_users: decodeURIComponent(users[0]!.username),
      default_pool_size: 60,
      max_client_conn: 200,
      ...settings,
    };
    const { hostname, port: serverPort } = users[0]!;
    await writeFile(
      file,
      `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${Object.entries(lines)
        .map(([name, value]) => `${name} = ${value}\n`)
        .join('')}`,
    );
    const child = await launch(program, file);
    if (child !== null) return running(t, { child, launch: () => launch(program, file), port, adminUrl: urls[0]! });
  }
  throw new Error('No free port was found for the PgBouncer of a test');
}

function running(
  t: Scope,
  { child, launch, port, adminUrl }: { child: ChildProcess; launch: () => Promise<ChildProcess | null>; port: number; adminUrl: string },
): Pgbouncer {
  let current = child;
  const through = (url: string) => {
    const way = new URL(url);
    way.host = `127.0.0.1:${port}`;
    return way.href;
  };
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (current.exitCode !== null || current.signalCode !== null) return;
    const exited = once(current, 'exit');
    current.kill(signal);
    const patience = setTimeout(() => current.kill('SIGKILL'), orderlyEndMs);
    await exited;
    clearTimeout(patience);
  };
  t.after(() => end('SIGKILL'));
  const startAgain = async () => {
    const next = await launch();
    if (next === null) throw new Error(`The port ${port} of a PgBouncer was taken while it was away`);
    current = next;
  };
  const command = async (text: string) => {
    const console = new URL(through(adminUrl));
    console.pathname = '/pgbouncer';
    const client = new pg.Client({
      connectionString: console.href,
      connectionTimeoutMillis: commandTimeoutMs,
      query_timeout: commandTimeoutMs,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(text);
    } finally {
      // Not awaited: a pooler that does not answer does not close the connection either.
      client.end().catch(() => {});
    }
  };
  let replacing: Promise<void> | null = null;
  const replace = () => {
    replacing ??= end('SIGKILL')
      .then(startAgain)
      .finally(() => {
        replacing = null;
      });
    return replacing;
  };
  const replaceIfStuck = async () => {
    const asked = current;
    const isTimeout = await command('show version').then(
      () => false,
      (error: Error) => /timeout/.test(error.message),
    );
    if (!isTimeout || asked !== current || asked.exitCode !== null || asked.signalCode !== null) return false;
    await replace();
    return true;
  };
  return {
    through,
    get process() {
      return current;
    },
    end,
    startAgain,
    command,
    replace,
    replaceIfStuck,
  };
}

/** Resolves when it takes connections; with null when the port is taken. */
async function launch(path: string, file: string): Promise<ChildProcess | null> {
  const nobody = 65_534;
  const child = spawn(path, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }) });
  const leftOver = () => void child.kill('SIGKILL');
  process.once('exit', leftOver);
  child.once('exit', () => process.off('exit', leftOver));
  let output = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (output.length < 10_000) output += chunk;
      if (/process up/.test(output)) resolve(child);
    });
    child.once('error', reject);
    child.once('close', () => {
      if (/address already in use/i.test(output)) resolve(null);
      else reject(new Error(`The PgBouncer of a test did not start:\n${output.trim()}`));
    });
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
