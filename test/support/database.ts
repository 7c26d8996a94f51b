/** A real PostgreSQL for tests: a database for each that asks, on the server of `npm test`, or on one of its own when run by hand. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Database } from '../../src/storage/database.ts';

export type TestDatabase = { url: string; close(): Promise<void> };

let ownServer: Promise<string> | null = null;

/** Copied for each test: migrating takes several times as long. */
const template = 'migrated_template';

/**
 * Makes a database with a random name and the service's tables; `close` drops it, cutting connections that are still open.
 *
 * @param options.empty without any table
 */
export async function testDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const server = process.env.TEST_DATABASE_URL ?? (await sharedOwnServer());
  const name = `test_${randomBytes(6).toString('hex')}`;
  if (!empty) await makeTemplate(server);
  // Copying files costs a third of writing each page to the log, which nothing reads here.
  await query(server, `create database ${name}${empty ? '' : ` template ${template} strategy file_copy`}`);
  return { url: urlOf(server, name), close: () => query(server, `drop database if exists ${name} with (force)`) };
}

let templateMade: Promise<void> | null = null;

/** Once on a server, whichever process is first; it has its name only when it is whole. */
function makeTemplate(server: string): Promise<void> {
  templateMade ??= connected(server, async (client) => {
    await client.query(`select pg_advisory_lock(hashtext('${template}'))`);
    const { rowCount } = await client.query(`select from pg_database where datname = '${template}'`);
    if (rowCount === 1) return;
    const unfinished = `${template}_unfinished`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    const { productSchema } = await import('./product-schema.ts');
    const database = new Database(urlOf(server, unfinished), { schema: productSchema });
    await database.migrate();
    await database.close();
    await client.query(`alter database ${unfinished} rename to ${template}`);
  });
  return templateMade;
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** The types of pg lack these. */
type UnreferencedClient = pg.Client & { ref(): void; unref(): void };

/** Of this process, for all its databases: opening a connection for each statement costs as much as copying a database. */
let administrator: Promise<UnreferencedClient> | null = null;
let running = 0;

async function query(server: string, statement: string): Promise<void> {
  administrator ??= openAdministrator(server);
  const client = await administrator;
  // The connection keeps the process alive only while a statement runs.
  if (running++ === 0) client.ref();
  try {
    await client.query(statement);
  } finally {
    if (--running === 0) client.unref();
  }
}

async function openAdministrator(server: string): Promise<UnreferencedClient> {
  const client = new pg.Client({ connectionString: server }) as UnreferencedClient;
  const forget = () => {
    administrator = null;
  };
  // Without a listener a broken connection would end the process.
  client.on('error', forget);
  await client.connect().catch((error) => {
    forget();
    throw error;
  });
  client.unref();
  return client;
}

async function connected(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function sharedOwnServer(): Promise<string> {
  ownServer ??= startOwnServer();
  return ownServer;
}

/** In a process of its own, since stopping takes longer than this one has when it exits; it stops when this one is gone. */
async function startOwnServer(): Promise<string> {
  const keeper = fork(fileURLToPath(new URL('./postgres-keeper.ts', import.meta.url)), {
    detached: true,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = (await Promise.race([
    once(keeper, 'message'),
    once(keeper, 'exit').then(() => Promise.reject(new Error('the PostgreSQL for tests did not start'))),
  ])) as [{ url: string }];
  keeper.unref();
  keeper.channel?.unref();
  return message.url;
}
