/**
 * Checks whether connections to an address keep their session. Behind a pooler in transaction mode each transaction may run in another
 * session: time-outs, locks and prepared statements are lost or apply to other clients. The service needs sessions, so it refuses to start
 * there.
 */
import type pg from 'pg';
import { connect } from './connect.ts';

/** In so many rounds, a pooler in transaction mode would have to give both clients the same sessions by chance. */
const rounds = 5;
const timeoutMs = 5_000;
/** PgBouncer's answer to a transaction in statement mode. */
const protocolViolation = '08P01';

/**
 * Resolves if sessions are kept, otherwise rejects with one line for people. `client` is connected to the same address.
 *
 * A session's process number stays the same, and no other client has it at the same time.
 */
export async function requireSessions(client: pg.Client, url: string): Promise<void> {
  const first = await processOf(client);
  // A pooler gives its clients process numbers of its own.
  if (first === (client as unknown as { processID: number | null }).processID) return;
  const other = await connectToCheck(url);
  try {
    for (let round = 0; round < rounds; round++) {
      // The pooler keeps a session for the length of a transaction, preferably the session that was used last.
      await other.query('begin');
      if ((await processOf(other)) === first || (await processOf(client)) !== first) refuse(url);
      await other.query('commit');
    }
  } catch (error) {
    // PgBouncer says the same where the session's server process has ended.
    if ((error as { code?: unknown }).code === protocolViolation && !(await takesTransactions(url))) refuse(url);
    throw error;
  } finally {
    await other.end().catch(() => {});
  }
}

async function takesTransactions(url: string): Promise<boolean> {
  const client = await connectToCheck(url);
  try {
    await client.query('begin');
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === protocolViolation) return false;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

function connectToCheck(url: string): Promise<pg.Client> {
  return connect({ url, name: 'troupe session check', statementTimeoutMs: timeoutMs, queryTimeoutMs: timeoutMs });
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]!.pid;
}

function refuse(url: string): never {
  const { host } = new URL(url);
  throw new SessionsLost(
    `The database at ${host} is behind a pooler in transaction mode, where sessions are not kept: set DATABASE_URL to PostgreSQL itself (often the address without "pooler"), or to a pool in session mode`,
  );
}

export class SessionsLost extends Error {}
