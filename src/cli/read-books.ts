/** Reads books for a check, of all accounts or of one, on a connection of its own, whether the service runs or not. */
import type pg from 'pg';
import type { Config } from '../config.ts';
import { accountByEmail } from '../storage/account-overrides.ts';
import { connect } from '../storage/connect.ts';
import { Database } from '../storage/database.ts';
import { Failure } from './failure.ts';
import { findDatabase, outOfReach } from './find-database.ts';
import { oneLine } from './plain-text.ts';

/** Millions of entries take seconds; the caller may wait. */
const statementTimeoutMs = 600_000;

/** Throws `Failure`: `refused` if the address is not registered, `unreachable` where the database cannot be used. */
export async function readBooks<T>(
  config: Config,
  email: string | undefined,
  check: (client: pg.Client, accountId: string | null) => Promise<T>,
): Promise<T> {
  const found = await findDatabase(config);
  try {
    const accountId = email === undefined ? null : await accountIdOf(found.url, email);
    const client = await connect({ url: found.url, name: 'troupe command', statementTimeoutMs });
    try {
      return await check(client, accountId);
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    throw outOfReach(error as Error, found.url);
  } finally {
    await found.close();
  }
}

async function accountIdOf(url: string, email: string): Promise<string> {
  const database = new Database(url, { poolSize: 1, applicationName: 'troupe command' });
  try {
    const held = await accountByEmail(database, email);
    if (held === null) throw new Failure('refused', `No account of this service has the e-mail address ${oneLine(email, 300)}`);
    return held.accountId;
  } finally {
    await database.close();
  }
}
