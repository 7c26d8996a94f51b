/**
 * Applies missing migrations without stopping the work of running nodes. While a statement waits for a table's lock, all later statements
 * on the table wait behind it. So each wait is short; after a pause the migration starts again from its beginning.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { backoffMs } from '../backoff.ts';
import { databaseFault } from './database-errors.ts';

/** Shorter than any caller's deadline: commits only wait. */
const lockTimeoutMs = 250;
const firstPauseMs = 100;
const maxPauseMs = 2_000;
/** Much longer than the longest list query (30 s). */
const defaultLockWaitMs = 120_000;

/** Each migration is one transaction. Rejects with one line for the operator when a table stays locked for longer than `lockWaitMs`. */
export async function applyMigrations(orm: MikroORM, lockWaitMs = defaultLockWaitMs): Promise<void> {
  for (const { name } of await orm.migrator.getPending()) {
    const deadlineMs = performance.now() + lockWaitMs;
    for (let tries = 1; !(await tryMigration(orm, name, deadlineMs, tries)); tries++)
      await pause(backoffMs(tries - 1, firstPauseMs, maxPauseMs));
  }
}

/** False: a table was locked, and nothing has changed. */
async function tryMigration(orm: MikroORM, name: string, deadlineMs: number, tries: number): Promise<boolean> {
  const connection = orm.em.getConnection();
  try {
    await connection.transactional(async (transaction) => {
      // After it has the lock, a migration of a large table may take long.
      await connection.execute(`set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = 0`, [], 'run', transaction);
      await orm.migrator.up({ migrations: [name], transaction });
    });
    return true;
  } catch (error) {
    if (databaseFault(error) !== 'blocked') throw error;
    if (performance.now() < deadlineMs) return false;
    throw new Error(
      `The migration ${name} found a table locked by another session ${tries} times: end that session (select pid, query, xact_start from pg_stat_activity order by xact_start) and start again`,
      { cause: error },
    );
  }
}
