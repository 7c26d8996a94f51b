/** Faults of PgBouncer between nodes and PostgreSQL: killed, stopped, or with all sessions dropped. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Pgbouncer } from '../support/pgbouncer.ts';
import type { Random } from '../support/random.ts';

export async function poolerAway(pooler: Pgbouncer, signal: 'SIGTERM' | 'SIGKILL', random: Random): Promise<string> {
  const awayMs = random.between(0, 4_000);
  await pooler.end(signal);
  await pause(awayMs);
  await pooler.startAgain();
  return `${signal}, away for ${awayMs} ms`;
}

export async function freezePooler(pooler: Pgbouncer, random: Random): Promise<string> {
  const forMs = random.between(500, 6_000);
  pooler.process.kill('SIGSTOP');
  await pause(forMs);
  pooler.process.kill('SIGCONT');
  return `frozen for ${forMs} ms`;
}

/** Every session ends, of nodes and of the server; new ones have to wait until it is resumed. */
export async function dropSessions(pooler: Pgbouncer, database: string, random: Random): Promise<string> {
  const forMs = random.between(0, 4_000);
  try {
    await pooler.command(`kill ${database}`);
    await pause(forMs);
  } finally {
    // Whatever the outcome of the first command, sessions must not wait for ever: a new process accepts them.
    await pooler.command(`resume ${database}`).catch(() => pooler.replace());
  }
  return `all sessions ended, no new ones for ${forMs} ms`;
}

/**
 * Until it is stopped, replaces a PgBouncer that stopped answering. Version 1.18 (Debian 12) may loop for ever at full processor time after
 * its sessions were ended; no client can mend that, and it is not what a run is to judge. No fault keeps it from answering for 15 s.
 * Resolves when it has stopped.
 */
export async function replaceStuckPooler(pooler: Pgbouncer, isStopped: () => boolean, onReplaced: () => void): Promise<void> {
  while (!isStopped()) {
    await pause(1_000);
    if (await pooler.replaceIfStuck()) onReplaced();
  }
}
