/**
 * A PostgreSQL cluster that `npm test` creates once, with the service's tables, and that is copied for each test that needs its own
 * server: creating one takes half a second of processor time. First starts are tested with an empty folder (`startService`, `fresh`).
 */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Of a cluster in a DATA_DIR. */
const parts = ['postgres', 'postgres-password'];

/** Puts the cluster in `from` into this DATA_DIR. Outside of `npm test` there is none: the DATA_DIR gets its own at the first start. */
export async function copyPreparedPostgres(dataDir: string, from = process.env.TEST_PREPARED_POSTGRES): Promise<void> {
  if (from === undefined) return;
  await mkdir(dataDir, { recursive: true });
  // With their owner: PostgreSQL does not run as root.
  await promisify(execFile)('cp', ['-a', ...parts.map((part) => join(from, part)), dataDir]);
}
