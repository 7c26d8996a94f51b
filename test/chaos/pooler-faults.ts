/** PgBouncer between nodes and PostgreSQL: gone, stopped, or rid of its sessions. */
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
    // Whatever came of the first command, nobody is to wait for ever: a new process keeps nobody waiting.
    await pooler.command(`resume ${database}`).catch(async () => {
      await pooler.end('SIGKILL');
      await pooler.startAgain();
    });
  }
  return `all sessions ended, no new ones for ${forMs} ms`;
}
