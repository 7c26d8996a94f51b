/**
 * Applies the migrations that are missing without keeping running nodes from their work. While a statement waits for a table's lock, everything
 * that comes later for that table waits behind it. So each wait is short, and the migration is begun again after a pause, from its start.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { backoffMs } from '../backoff.ts';
import { databaseFault } from './database-errors.ts';

/** Shorter than any caller's deadline: commits wait for it, and none is refused. */
const lockTimeoutMs = 250;
const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** Longer than the longest list (30 s) by far. */
const defaultPatienceMs = 120_000;

/** Rejects with one line for the operator when a table stays locked for longer than `patienceMs`. Each migration is one transaction. */
export async function applyMigrations(orm: MikroORM, patienceMs = defaultPatienceMs): Promise<void> {
  for (const { name } of await orm.migrator.getPending()) {
    const giveUpAtMs = performance.now() + patienceMs;
    for (let tries = 1; !(await tryMigration(orm, name, giveUpAtMs, tries)); tries++)
      await pause(backoffMs(tries - 1, firstPauseMs, longestPauseMs));
  }
}

/** False: a lock was in the way, and nothing has changed. */
async function tryMigration(orm: MikroORM, name: string, giveUpAtMs: number, tries: number): Promise<boolean> {
  const connection = orm.em.getConnection();
  try {
    await connection.transactional(async (transaction) => {
      // A large table may take its time once its lock is had.
      await connection.execute(`set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = 0`, [], 'run', transaction);
      await orm.migrator.up({ migrations: [name], transaction });
    });
    return true;
  } catch (error) {
    if (databaseFault(error) !== 'blocked') throw error;
    if (performance.now() < giveUpAtMs) return false;
    throw new Error(
      `The migration ${name} found a table locked by another session ${tries} times: end that session (select pid, query, xact_start from pg_stat_activity order by xact_start) and start again`,
      { cause: error },
    );
  }
}
