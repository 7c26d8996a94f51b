/** The PostgreSQL cluster that the tests copy (`copyPreparedPostgres`): with the service's tables, and fast logins. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { noLog } from '../src/log.ts';
import { Database } from '../src/storage/database.ts';
import { startEmbeddedPostgres } from '../src/storage/embedded-postgres.ts';
import { sharedPostgresSettings } from '../test/support/postgres-settings.ts';
import { productSchema } from '../test/support/product-schema.ts';

/** Creates the cluster in this DATA_DIR; it does not run afterwards. */
export async function preparePostgres(dataDir: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: noLog, settings: sharedPostgresSettings });
  try {
    const database = new Database(postgres.url, { schema: productSchema });
    await database.migrate();
    await database.close();
    await makeLoginsCheap(postgres.url);
  } finally {
    await postgres.stop();
  }
  await sendPasswords(join(dataDir, 'postgres', 'pg_hba.conf'));
}

/** Hashing the password 4,096 times for each login takes more processor time, on both sides, than the rest of a new connection. */
async function makeLoginsCheap(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set scram_iterations = 1');
  await client.query(`alter role current_user password ${client.escapeLiteral(new URL(url).password)}`);
  await client.end();
}

/** The password itself is sent and compared: the messages and hashes of SCRAM take half of a client's processor time for a connection. */
async function sendPasswords(accessFile: string): Promise<void> {
  await writeFile(accessFile, (await readFile(accessFile, 'utf8')).replaceAll('scram-sha-256', 'password'));
}
