/** The root of all keys of an installation: given as SECRET_KEY, or generated once and kept in DATA_DIR. */
import { join } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import { storedSecret } from './stored-secret.ts';

/**
 * The given key, or the one in DATA_DIR/secret-key (0600), generated on first use. If the file is lost, everything encrypted or signed with
 * the key is lost. Rejects with `ConfigError` for a cluster without a given key, because its nodes would have different keys.
 */
export async function resolveSecretKey(config: Pick<Config, 'secretKey' | 'dataDir' | 'redisUrl'>): Promise<string> {
  if (config.secretKey !== null) return config.secretKey;
  if (config.redisUrl !== null) {
    throw new ConfigError('SECRET_KEY is not set, but REDIS_URL is: give all nodes of a cluster the same key of 32 characters or more');
  }
  return storedSecret(join(config.dataDir, 'secret-key'));
}
