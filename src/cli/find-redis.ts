/**
 * Finds the Redis of the cluster for a command: by REDIS_URL, or by the file that a local cluster (`npm run cluster`) keeps in DATA_DIR
 * while it runs.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';

/** Null if there is none: a service of one node. A database elsewhere (DATABASE_URL) is unrelated to this DATA_DIR. */
export async function findRedisUrl({
  redisUrl,
  databaseUrl,
  dataDir,
}: Pick<Config, 'redisUrl' | 'databaseUrl' | 'dataDir'>): Promise<string | null> {
  if (redisUrl !== null || databaseUrl !== null) return redisUrl;
  return (await readFile(localRedisFile(dataDir), 'utf8').catch(() => null))?.trim() ?? null;
}

/** Contains the address of a local cluster's Redis. */
export function localRedisFile(dataDir: string): string {
  return join(dataDir, 'redis', 'url');
}
