/** The Redis to run: the one on the PATH, otherwise Debian's package unpacked into a folder, without root and without installing anything. */
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export type RedisProgram = { path: string; env: Record<string, string> };

const downloadTimeoutMs = 120_000;

/** `folder` is where the package is unpacked, once. Rejects with one line that says what to install. */
export async function findRedisProgram(folder: string, print: (line: string) => void): Promise<RedisProgram> {
  const installed: RedisProgram = { path: 'redis-server', env: {} };
  if (await runs(installed)) return installed;
  const unpacked = await unpackedIn(folder);
  if (await runs(unpacked)) return unpacked;
  print('No redis-server on the PATH: unpacking the Debian package, nothing is installed');
  try {
    await unpackPackages(folder);
  } catch (error) {
    throw new Error(`${instead} (trying the Debian package: ${lastLine(error as Error & { stderr?: string })})`, { cause: error });
  }
  const fresh = await unpackedIn(folder);
  if (!(await runs(fresh))) throw new Error(`${instead} (the unpacked Debian package does not run)`);
  return fresh;
}

const instead =
  'There is no Redis: set REDIS_URL, or install one (apt-get install redis-server, dnf install redis, brew install redis) so that redis-server is on the PATH';

async function runs({ path, env }: RedisProgram): Promise<boolean> {
  return execute(path, ['--version'], { env: { ...process.env, ...env }, timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** Its libraries are at Debian's paths below the folder. */
async function unpackedIn(folder: string): Promise<RedisProgram> {
  const lib = join(folder, 'usr', 'lib');
  const folders = (await readdir(lib).catch(() => [])).map((name) => join(lib, name));
  return { path: join(folder, 'usr', 'bin', 'redis-server'), env: { LD_LIBRARY_PATH: [lib, ...folders].join(':') } };
}

/** Downloads the missing packages and unpacks them into a temporary folder first, so that an existing folder is complete. */
async function unpackPackages(folder: string): Promise<void> {
  const workshop = `${folder}-new`;
  await rm(workshop, { recursive: true, force: true });
  await mkdir(join(workshop, 'packages'), { recursive: true });
  try {
    const cwd = join(workshop, 'packages');
    await execute('apt-get', ['download', ...(await missingPackages())], { cwd, timeout: downloadTimeoutMs });
    for (const name of await readdir(cwd)) await execute('dpkg', ['-x', join(cwd, name), workshop], { timeout: downloadTimeoutMs });
    await rm(cwd, { recursive: true });
    await access(join(workshop, 'usr', 'bin', 'redis-server'));
    await rm(folder, { recursive: true, force: true });
    await rename(workshop, folder);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/** The two packages with the programs, and their missing dependencies. */
async function missingPackages(): Promise<string[]> {
  const { stdout } = await execute('apt-get', ['install', '--simulate', '--no-install-recommends', 'redis-server'], {
    env: { ...process.env, LC_ALL: 'C' },
    timeout: downloadTimeoutMs,
  });
  const needed = Array.from(stdout.matchAll(/^Inst (\S+)/gm), ([, name]) => name!);
  return [...new Set(['redis-server', 'redis-tools', ...needed])];
}

function lastLine({ stderr, message }: Error & { stderr?: string }): string {
  return (stderr?.trim() || message).split('\n').at(-1)!.replace(/^E: /, '');
}
