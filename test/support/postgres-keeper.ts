/** Run by `database.ts`: one PostgreSQL in a temporary folder, for as long as the process that started this lives. */
import { noLog } from '../../src/log.ts';
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { sharedPostgresSettings } from './postgres-settings.ts';
import { temporaryFolder } from './temporary-folder.ts';

const parentExited = new Promise<void>((resolve) => process.once('disconnect', resolve));
const folder = await temporaryFolder('troupe-tests-');
try {
  const postgres = await startEmbeddedPostgres({ dataDir: folder.path, log: noLog, settings: sharedPostgresSettings });
  if (process.connected) process.send!({ url: postgres.url });
  await parentExited;
  await postgres.stop();
} finally {
  await folder.remove();
}
