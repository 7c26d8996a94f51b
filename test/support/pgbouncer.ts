/** A real PgBouncer before the PostgreSQL of a test (Debian's package `pgbouncer`), which refuses to run as root. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './temporary-folder.ts';

const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, 'pgbouncer')).find(isProgram);

/** The reason to skip a test that needs it; false where it is there. Where `CI` is set nothing is skipped: the test fails instead. */
export const withoutPgbouncer: string | false = program !== undefined || process.env.CI ? false : 'there is no pgbouncer';
if (withoutPgbouncer) console.error(`SKIPPED: tests behind PgBouncer, because ${withoutPgbouncer} (Debian: pgbouncer)`);

export type Pgbouncer = { /** The same database by way of the pooler. */ through(url: string): string };

/** @param urls of the users that come: it knows their passwords. Ends with the test. */
export async function startPgbouncer(
  t: Pick<TestContext, 'after'>,
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
    const port = randomInt(15_000, 32_000);
    const file = join(folder.path, 'pgbouncer.ini');
    const lines = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: usersFile,
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
    if (!(await launch(t, program, file))) continue;
    return {
      through: (url) => {
        const way = new URL(url);
        way.host = `127.0.0.1:${port}`;
        return way.href;
      },
    };
  }
  throw new Error('No free port was found for the PgBouncer of a test');
}

/** Resolves when it takes connections; with false when the port is taken. */
async function launch(t: Pick<TestContext, 'after'>, path: string, file: string): Promise<boolean> {
  const nobody = 65_534;
  const child = spawn(path, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }) });
  const leftOver = () => void child.kill('SIGKILL');
  process.once('exit', leftOver);
  t.after(async () => {
    process.off('exit', leftOver);
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  let output = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (output.length < 10_000) output += chunk;
      if (/process up/.test(output)) resolve(true);
    });
    child.once('error', reject);
    child.once('close', () => {
      if (/address already in use/i.test(output)) resolve(false);
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
