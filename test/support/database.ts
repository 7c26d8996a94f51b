/** A real PostgreSQL for tests: an empty database for each that asks, on the server of `npm test`, or on one of its own when run by hand. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

export type TestDatabase = { url: string; close(): Promise<void> };

let ownServer: Promise<string> | null = null;

/** Makes an empty database with a random name; `close` drops it, cutting connections that are still open. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = process.env.TEST_DATABASE_URL ?? (await sharedOwnServer());
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => query(server, `drop database if exists ${name} with (force)`) };
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
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
