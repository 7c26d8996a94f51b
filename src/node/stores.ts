/** Where a node keeps things: the database, embedded unless one is given, and the files. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { adoptLocalFiles } from '../storage/adopt-local-files.ts';
import { lockDataDir } from '../storage/data-dir-lock.ts';
import { Database, poolsInCluster } from '../storage/database.ts';
import { startEmbeddedPostgres } from '../storage/embedded-postgres.ts';
import type { FileStore } from '../storage/files.ts';
import { openLocalFiles } from '../storage/local-files.ts';
import { holdsContents, openPostgresFiles } from '../storage/postgres-files.ts';
import { openS3Files, parseS3Url } from '../storage/s3-files.ts';
import { resolveSecretKey } from '../storage/secret-key.ts';
import type { Stops } from './stops.ts';

export type Stores = {
  /** Root of what is signed and encrypted here. */
  secretKey: string;
  /** Roots of what may have been signed and encrypted beside it. */
  acceptedKeys: readonly string[];
  databaseUrl: string;
  database: Database;
  files: FileStore;
};

/** Opens them with the newest tables. */
export async function openStores(config: Config, log: Log, stops: Stops): Promise<Stores> {
  if (config.redisUrl === null) {
    // Nodes of a cluster keep nothing of their own there, so they may share it.
    const lock = await lockDataDir(config.dataDir);
    stops.push(() => lock.release());
  }
  const secretKey = await resolveSecretKey(config);
  const databaseUrl = config.databaseUrl ?? (await startPostgres(config, log, stops));
  const database = new Database(databaseUrl, config.redisUrl === null ? {} : poolsInCluster);
  stops.push(() => database.close());
  await database.migrate();
  const files = await openFiles(config, database, log);
  return { secretKey, acceptedKeys: config.acceptedKeys, databaseUrl, database, files };
}

/** What every node of a cluster must see is kept where all of them look, and stays there when one node is left. */
async function openFiles(config: Config, database: Database, log: Log): Promise<FileStore> {
  if (config.s3Url !== null) return openS3Files(parseS3Url(config.s3Url));
  const directory = join(config.dataDir, 'files');
  if (config.redisUrl === null && !(await holdsContents(database))) return openLocalFiles(directory);
  const files = openPostgresFiles(database);
  await adoptLocalFiles(directory, files, log);
  return files;
}

async function startPostgres(config: Config, log: Log, stops: Stops): Promise<string> {
  const starting = startEmbeddedPostgres({ dataDir: config.dataDir, log, onLost: endAtOnce });
  // Known to the stop before it runs: Ctrl-C may come in the middle of a start.
  stops.push(() =>
    starting.then(
      (postgres) => postgres.stop(),
      () => {},
    ),
  );
  return (await starting).url;
}

/** As after a crash, which a start survives without a hand: an orderly stop would wait for commits that can no longer come. */
function endAtOnce(): never {
  process.stderr.write('The embedded PostgreSQL has ended, so this service ends too: start it again, nothing that was answered is lost\n');
  process.exit(1);
}
