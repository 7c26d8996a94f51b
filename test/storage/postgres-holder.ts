/** Run by embedded-postgres.test.ts: starts PostgreSQL in the folder it is given, tells its address or the error, and stays until it is killed. */
import { silentLog } from '../../src/log.ts';
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';

try {
  process.send!(await startEmbeddedPostgres({ dataDir: process.argv[2]!, log: silentLog }));
} catch (error) {
  process.send!({ error: (error as Error).message });
}
process.on('message', () => {});
