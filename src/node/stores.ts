/** The stores of a node: the database, embedded unless one is configured, and the files. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { trustsAnyServer } from '../database-url.ts';
import type { Log } from '../log.ts';
import { adoptLocalFiles } from '../storage/adopt-local-files.ts';
import { lockDataDir } from '../storage/data-dir-lock.ts';
import { Database, poolsInCluster } from '../storage/database.ts';
import { DatabaseClock } from '../storage/database-clock.ts';
import { DiskSpace, isDiskFull } from '../storage/disk-space.ts';
import { startEmbeddedPostgres } from '../storage/embedded-postgres.ts';
import type { FileStore } from '../storage/files.ts';
import { openLocalFiles } from '../storage/local-files.ts';
import { holdsContents, openPostgresFiles } from '../storage/postgres-files.ts';
import { openS3Files, parseS3Url } from '../storage/s3-files.ts';
import type { Schema } from '../storage/schema.ts';
import { resolveSecretKey } from '../storage/secret-key.ts';
import { refusedFunctions } from '../storage/server-functions.ts';
import type { Disposers } from './disposers.ts';

export type Stores = {
  /** The root secret for signing and encryption. */
  secretKey: string;
  /** Other root secrets that are accepted for reading. */
  acceptedKeys: readonly string[];
  databaseUrl: string;
  database: Database;
  databaseClock: DatabaseClock;
  files: FileStore;
  diskSpace: DiskSpace;
};

/** How often a node adjusts its spare PostgreSQL connections to the number of nodes. */
const fitEveryMs = 15_000;

/** Opens them with the newest tables. */
export async function openStores(config: Config, schema: Schema, log: Log, disposers: Disposers): Promise<Stores> {
  if (config.redisUrl === null) {
    // Nodes of a cluster store nothing of their own there, so they may share it.
    const lock = await lockDataDir(config.dataDir);
    disposers.push(() => lock.release());
  }
  const secretKey = await resolveSecretKey(config);
  const diskSpace = new DiskSpace({
    dataDir: config.dataDir,
    reserveBytes: reserveOf(config),
    log,
    freeSpace: () => freeSpace(config, database),
  });
  const databaseUrl = config.databaseUrl ?? (await startPostgres(config, log, disposers));
  const database: Database = new Database(databaseUrl, { schema, ...(config.redisUrl === null ? {} : poolsInCluster) });
  disposers.push(() => database.close());
  const databaseClock = new DatabaseClock({ database, log });
  disposers.push(() => databaseClock.stop());
  await database.migrate();
  await warnOfMissingRights(databaseUrl, database, log);
  // Before any timestamp is written.
  await databaseClock.start();
  const fit = () => database.useSpareConnections().catch((err) => log.debug({ err }, 'connections could not be counted'));
  await fit();
  const fitting = setInterval(fit, fitEveryMs).unref();
  disposers.push(() => clearInterval(fitting));
  const files = await openFiles(config, database, diskSpace, log);
  await diskSpace.start();
  disposers.push(() => diskSpace.stop());
  return { secretKey, acceptedKeys: config.acceptedKeys, databaseUrl, database, databaseClock, files, diskSpace };
}

/** Warns about optional rights and settings that are missing. */
async function warnOfMissingRights(databaseUrl: string, database: Database, log: Log): Promise<void> {
  const refused = await refusedFunctions(database.pool);
  if (refused.length > 0)
    log.warn({ refused }, 'the database role lacks functions that roles have by default: dead nodes are replaced more slowly');
  if (trustsAnyServer(databaseUrl))
    log.warn(
      { host: new URL(databaseUrl).host },
      'DATABASE_URL asks for TLS without certificate verification: use sslmode=verify-full, with sslrootcert where needed',
    );
}

/** Null: computed from the disk's size; 0 if no data is stored on this disk. */
function reserveOf({ databaseUrl, redisUrl, s3Url, diskReserveMb }: Config): number | null {
  const keepsNothing = databaseUrl !== null && (redisUrl !== null || s3Url !== null);
  if (keepsNothing) return 0;
  return diskReserveMb === null ? null : diskReserveMb * 2 ** 20;
}

/** After a checkpoint PostgreSQL frees log segments that it no longer needs. Only for the embedded one. */
async function freeSpace({ databaseUrl }: Config, database: Database): Promise<void> {
  if (databaseUrl === null) await database.write({ text: 'checkpoint' });
}

/** Content for all nodes of a cluster is in shared storage, and stays there when only one node remains. */
async function openFiles(config: Config, database: Database, diskSpace: DiskSpace, log: Log): Promise<FileStore> {
  if (config.s3Url !== null) return openS3Files(parseS3Url(config.s3Url));
  const directory = join(config.dataDir, 'files');
  if (config.redisUrl === null && !(await holdsContents(database))) return openLocalFiles(directory, diskSpace);
  const files = openPostgresFiles(database);
  await adoptLocalFiles(directory, files, log);
  return files;
}

async function startPostgres(config: Config, log: Log, disposers: Disposers): Promise<string> {
  const starting = startEmbeddedPostgres({ dataDir: config.dataDir, log, onLost: () => endAtOnce(config.dataDir) });
  // Registered as a disposer before it runs: Ctrl-C may be pressed during the start.
  disposers.push(() =>
    starting.then(
      (postgres) => postgres.stop(),
      () => {},
    ),
  );
  return (await starting).url;
}

/** Ends as after a crash, from which the next start recovers: an orderly stop would wait for commits that can no longer succeed. */
function endAtOnce(dataDir: string): never {
  const advice = isDiskFull(dataDir)
    ? `The disk of DATA_DIR (${dataDir}) is full: make room there, and start the service again`
    : `Look at ${join(dataDir, 'postgres.log')} and start the service again`;
  process.stderr.write(`The embedded PostgreSQL has ended, so this service ends too. ${advice}. Nothing that was answered is lost\n`);
  process.exit(1);
}
