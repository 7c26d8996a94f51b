/** Where a command finds the Redis of the cluster: by REDIS_URL, or by what a local cluster (`npm run cluster`) keeps in DATA_DIR while it runs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';

/** Null where there is none: a service of one node. A database elsewhere (DATABASE_URL) has nothing to do with this DATA_DIR. */
export async function findRedisUrl({
  redisUrl,
  databaseUrl,
  dataDir,
}: Pick<Config, 'redisUrl' | 'databaseUrl' | 'dataDir'>): Promise<string | null> {
  if (redisUrl !== null || databaseUrl !== null) return redisUrl;
  return (await readFile(localRedisFile(dataDir), 'utf8').catch(() => null))?.trim() ?? null;
}

/** Holds the address of a local cluster's Redis. */
export function localRedisFile(dataDir: string): string {
  return join(dataDir, 'redis', 'url');
}
