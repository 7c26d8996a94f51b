/**
 * The PostgreSQL that is included in the service: one cluster in DATA_DIR/postgres, run from the programs of an npm package.
 *
 * PostgreSQL runs detached, in its own session, so that Ctrl-C reaches only the service, which still has commits to finish. So it survives
 * a kill -9 of the service; the next start adopts it, or replaces it if its start options have changed.
 * The caller holds the lock on DATA_DIR; this file only detects what a dead service may have left.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, copyFile, mkdir, open, readdir, readFile, realpath, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import type { Log } from '../log.ts';
import { processIdentity } from './live-process.ts';
import { findPostgresLauncher, type PostgresLauncher } from './postgres-launcher.ts';
import { endLeftovers, isPostmasterOf, type Postmaster, readPostmaster, stopPostmaster, waitUntilReady } from './postmaster.ts';
import { storedSecret } from './stored-secret.ts';

export type EmbeddedPostgres = {
  /** Contains the password: never logged. */
  url: string;
  /** Ends PostgreSQL within 40 seconds, with committed data on disk; open connections are cut. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  dataDir: string;
  log: Log;
  /** Called once when PostgreSQL ends unexpectedly. Committed data is safe; no further commit is possible until the next start. */
  onLost?(): void;
  /** Server settings that override the defaults below. */
  settings?: Readonly<Record<string, string>>;
};

const userName = 'troupe';
const portAttempts = 5;
const logLimitBytes = 4 * 1024 * 1024;
const logCheckMs = 60_000;
const lifeCheckMs = 1_000;

/** For a small node with short statements. Durability is not reduced: a commit is on disk before it is answered. */
const defaultSettings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  // Tables grow by pages of zeros. The kernel may delay writing as many of them as fit in here, and then write all at once while commits
  // wait. Other pages are in the kernel's cache.
  shared_buffers: '32MB',
  max_wal_size: '1GB',
  // Written out continuously. Otherwise the kernel keeps pages for half a minute, then writes them while commits wait for the same disk.
  backend_flush_after: '256kB',
  // Checkpoints far apart: after each one, the first change of a page writes the full page to the log.
  checkpoint_timeout: '15min',
  wal_buffers: '16MB',
  // A new log segment is filled with zeros, which delays one commit by 60 ms every 16 MB until segments are recycled. Otherwise a commit also waits
  // for metadata of the file system, and ext4 reports success for the sync during which its journal fails, although the commit is lost.
  wal_init_zero: 'on',
  // After a checkpoint the first change of a page writes the full page to the log. Compressing these pages (this build has only pglz) took 60 ms a commit.
  wal_compression: 'off',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  // A refused statement is reported to its client; the log is for errors of the server.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
} as const;

type Cluster = { folder: string; logPath: string; launcher: PostgresLauncher; settings: Record<string, string>; log: Log };

/**
 * Creates the cluster on first use and starts it, or adopts the one that a killed service left running. Resolves when it accepts connections.
 * Rejects with the problem and what to do; when PostgreSQL itself refused to start, with the last lines of its log.
 */
export async function startEmbeddedPostgres({ dataDir, log, onLost, settings = {} }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(dataDir, { recursive: true });
  const root = await realpath(dataDir);
  const folder = join(root, 'postgres');
  const exists = await isThere(folder);
  const launcher = await findPostgresLauncher(root, exists ? folder : null);
  const password = await passwordOf(root, exists);
  if (exists) await checkCluster(folder, launcher);
  else await createCluster(root, folder, launcher, password);

  const fingerprint = createHash('sha256')
    .update(JSON.stringify([launcher.build, settings, defaultSettings]))
    .digest('hex');
  const cluster: Cluster = {
    folder,
    logPath: join(root, 'postgres.log'),
    launcher,
    settings: { ...defaultSettings, ...settings, 'troupe.fingerprint': fingerprint },
    log,
  };
  const urlAt = (port: number) => `postgres://${userName}:${password}@127.0.0.1:${port}/postgres`;
  const postmaster = (await adoptRunningServer(cluster, fingerprint, urlAt)) ?? (await launch(cluster));

  const trimming = setInterval(() => void trimLog(cluster), logCheckMs).unref();
  const identity = await processIdentity(postmaster.pid);
  // Polled: an adopted PostgreSQL is not a child of this process, so there is no exit event.
  const watching = setInterval(async () => {
    if ((await processIdentity(postmaster.pid)) === identity || stopped !== null) return;
    clearInterval(watching);
    log.error({ pid: postmaster.pid }, 'the embedded PostgreSQL has ended without a stop of the service');
    onLost?.();
  }, lifeCheckMs).unref();
  let stopped: Promise<void> | null = null;
  const stop = () => {
    clearInterval(trimming);
    clearInterval(watching);
    stopped ??= stopPostmaster(postmaster.pid);
    return stopped;
  };
  return { url: urlAt(postmaster.port), stop };
}

/** The URL of the PostgreSQL that runs on this DATA_DIR, whichever process started it; null if none runs. For commands outside the service. */
export async function runningEmbeddedPostgres(dataDir: string): Promise<string | null> {
  const root = await realpath(dataDir).catch(() => null);
  if (root === null) return null;
  const folder = join(root, 'postgres');
  const postmaster = await readPostmaster(folder);
  if (!postmaster?.ready || !(await isPostmasterOf(postmaster.pid, folder))) return null;
  return `postgres://${userName}:${await storedSecret(join(root, 'postgres-password'))}@127.0.0.1:${postmaster.port}/postgres`;
}

async function passwordOf(root: string, clusterExists: boolean): Promise<string> {
  const path = join(root, 'postgres-password');
  if (clusterExists && !(await isThere(path)))
    throw new Error(`${path} is missing, and with it the way into ${join(root, 'postgres')}: restore it from a backup`);
  return storedSecret(path);
}

async function checkCluster(folder: string, { major, owner }: PostgresLauncher): Promise<void> {
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => 'nothing')).trim();
  if (version !== major) {
    throw new Error(
      `${folder} was made by PostgreSQL ${version}, and this one is ${major}: dump it with the old version and load it here, or set another DATA_DIR`,
    );
  }
  // A copy that root restored from a backup belongs to root.
  if ((await stat(folder)).uid !== owner.uid) await changeOwner(folder, owner);
}

/** Creates the cluster in a temporary folder first, so that an existing `postgres` is complete, even after interrupted first starts. */
async function createCluster(root: string, folder: string, launcher: PostgresLauncher, password: string): Promise<void> {
  const leftovers = (await readdir(root)).filter((name) => name.startsWith('postgres-new-'));
  await Promise.all(leftovers.map((name) => rm(join(root, name), { recursive: true, force: true, maxRetries: 5 })));
  const temporaryFolder = join(root, `postgres-new-${randomUUID()}`);
  const passwordFile = join(temporaryFolder, 'password');
  await mkdir(temporaryFolder, { mode: 0o700 });
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    for (const path of [temporaryFolder, passwordFile]) await chown(path, launcher.owner.uid, launcher.owner.gid);
    const access = [`--username=${userName}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    const format = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--data-checksums'];
    await runToEnd(launcher, ['--pgdata', join(temporaryFolder, 'cluster'), ...access, ...format, '--no-instructions']);
    await rename(join(temporaryFolder, 'cluster'), folder);
    await syncFolder(root);
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runToEnd(launcher: PostgresLauncher, args: string[]): Promise<void> {
  const child = launcher.spawn('initdb', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk).slice(-4_000);
  };
  child.stdout!.on('data', keep);
  child.stderr!.on('data', keep);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The embedded PostgreSQL cannot make its cluster:\n${output.trim().split('\n').slice(-8).join('\n')}`);
}

/**
 * The running PostgreSQL of an earlier service, if it answers and has the same start options. Any other remaining PostgreSQL is ended
 * first, because a new one would refuse to start beside it. It would also refuse to start with a `postmaster.pid` whose pid another process
 * has now.
 */
async function adoptRunningServer(cluster: Cluster, fingerprint: string, urlAt: (port: number) => string): Promise<Postmaster | null> {
  const named = await readPostmaster(cluster.folder);
  if (named === null) return null;
  if (await isPostmasterOf(named.pid, cluster.folder)) {
    const ready = await waitUntilReady(cluster.folder, named.pid).catch(() => null);
    if (ready !== null && (await fingerprintAt(urlAt(ready.port))) === fingerprint) {
      cluster.log.info({ pid: ready.pid }, 'took over the embedded PostgreSQL that a killed service left running');
      return ready;
    }
    await stopPostmaster(named.pid);
  }
  await endLeftovers(cluster.folder);
  // On other systems the processes that use a folder are not visible: PostgreSQL checks this itself.
  if (process.platform === 'linux') await rm(join(cluster.folder, 'postmaster.pid'), { force: true });
  return null;
}

async function fingerprintAt(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ fingerprint: string | null }>(
      `select current_setting('troupe.fingerprint', true) as fingerprint`,
    );
    return rows[0]?.fingerprint ?? null;
  } catch {
    // For any error it is not usable; the caller replaces it.
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}

async function launch(cluster: Cluster): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    await trimLog(cluster);
    const logStart = await sizeOf(cluster.logPath);
    try {
      return await launchAt(cluster, await freePort());
    } catch (error) {
      const tail = (await readFile(cluster.logPath, 'utf8')).slice(logStart).trim().split('\n').slice(-12).join('\n');
      // Another process may take the free port before PostgreSQL does.
      if (attempt < portAttempts && tail.includes('could not bind')) continue;
      if (tail.includes('No space left on device'))
        throw new Error(`The embedded PostgreSQL did not start: the disk of ${cluster.folder} is full. Make room there, and start again`, {
          cause: error,
        });
      throw new Error(`The embedded PostgreSQL did not start (${(error as Error).message}). The end of ${cluster.logPath}:\n${tail}`, {
        cause: error,
      });
    }
  }
}

async function launchAt(cluster: Cluster, port: number): Promise<Postmaster> {
  const settings = Object.entries({ ...cluster.settings, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logFile = await open(cluster.logPath, 'a', 0o600);
  try {
    const stdio = ['ignore', logFile.fd, logFile.fd] as const;
    const child = cluster.launcher.spawn('postgres', ['-D', cluster.folder, ...settings], { detached: true, stdio: [...stdio] });
    child.unref();
    child.once('exit', (code, signal) => cluster.log.debug({ pid: child.pid, code, signal }, 'the embedded PostgreSQL ended'));
    await once(child, 'spawn');
    return await waitUntilReady(cluster.folder, child.pid!);
  } finally {
    await logFile.close();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

/** Keeps the last few megabytes: the file and one older copy. The server appends, so emptying the file under it is safe. */
async function trimLog({ logPath, log }: Cluster): Promise<void> {
  try {
    if ((await sizeOf(logPath)) < logLimitBytes) return;
    await copyFile(logPath, `${logPath}.old`);
    await truncate(logPath);
  } catch (error) {
    log.warn({ error: (error as Error).message }, 'the log of the embedded PostgreSQL cannot be trimmed');
  }
}

async function changeOwner(folder: string, { uid, gid }: PostgresLauncher['owner']): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) await chown(join(folder, name), uid, gid);
  await chown(folder, uid, gid);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
