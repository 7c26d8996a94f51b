/**
 * Finds the service's data for a command: the database named by DATABASE_URL, or the embedded PostgreSQL of DATA_DIR, whether or not the
 * service runs.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { noLog } from '../log.ts';
import { type DataDirLock, lockDataDir } from '../storage/data-dir-lock.ts';
import { Database } from '../storage/database.ts';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../storage/embedded-postgres.ts';
import { Failure } from './failure.ts';
import { oneLine } from './plain-text.ts';

export type FoundDatabase = {
  /** Contains the password: never shown. */
  url: string;
  /** Stops what was started for this command; processes that ran before continue. */
  close(): Promise<void>;
};

/** A service locks the folder shortly before its PostgreSQL answers, and until shortly after it has ended. */
const changeWithinMs = 10_000;
const pollMs = 100;
/** A table or column that is missing in an older version. */
const undefinedInSchema = ['42P01', '42703'];

/**
 * Uses a running PostgreSQL without affecting it. A stopped one is started, and the folder locked, until `close`. Throws `Failure`: `usage`
 * if the folder has no service's data, `unreachable` if PostgreSQL neither runs nor can be started. A given DATABASE_URL is not checked
 * here.
 */
export async function findDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<FoundDatabase> {
  if (databaseUrl !== null) return { url: databaseUrl, close: async () => {} };
  if ((await realpath(join(dataDir, 'postgres')).catch(() => null)) === null)
    throw new Failure('usage', `${dataDir} contains no database of a service: set DATA_DIR to the service's folder, or set DATABASE_URL`);
  for (const giveUpAtMs = performance.now() + changeWithinMs; ; await delay(pollMs)) {
    const url = await runningEmbeddedPostgres(dataDir).catch(unreachable);
    if (url !== null) return { url, close: async () => {} };
    const lock = await lockDataDir(dataDir).catch((error: Error) => error);
    if (!(lock instanceof Error)) return startOwn(dataDir, lock);
    if (performance.now() >= giveUpAtMs) unreachable(lock);
  }
}

async function startOwn(dataDir: string, lock: DataDirLock): Promise<FoundDatabase> {
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, log: noLog });
    return { url: postgres.url, close: () => postgres.stop().finally(() => lock.release()) };
  } catch (error) {
    await lock.release();
    return unreachable(error as Error);
  }
}

/** Runs a command's work on the database. Throws `Failure`. */
export async function withDatabase<T>(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const found = await findDatabase(config);
  try {
    const database = new Database(found.url, { poolSize: 1, applicationName: 'troupe command' });
    try {
      return await work(database);
    } catch (error) {
      throw outOfReach(error as Error, found.url);
    } finally {
      await database.close();
    }
  } finally {
    await found.close();
  }
}

/** The error of the database at `url` as one line, without its password. */
export function outOfReach(error: Error, url: string): Failure {
  if (error instanceof Failure) return error;
  const cause: Error & { code?: string } = error.cause instanceof Error ? error.cause : error;
  if (cause.code !== undefined && undefinedInSchema.includes(cause.code))
    return new Failure('refused', 'The tables of this version are missing in the database: start the service once, then try again', {
      cause,
    });
  const { host, pathname } = new URL(url);
  const why = oneLine(cause.message || String(cause.code));
  return new Failure('unreachable', `The database ${pathname.slice(1)} at ${host} cannot be used (${why}): check DATABASE_URL`, { cause });
}

function unreachable(cause: Error): never {
  throw new Failure('unreachable', cause.message, { cause });
}
