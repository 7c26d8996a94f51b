/** Run by embedded-postgres.test.ts: starts PostgreSQL in a folder, prints its address or the error, and waits to be killed. */
import { noLog } from '../../src/log.ts';
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';

try {
  process.send!(await startEmbeddedPostgres({ dataDir: process.argv[2]!, log: noLog }));
} catch (error) {
  process.send!({ error: (error as Error).message });
}
process.on('message', () => {});
