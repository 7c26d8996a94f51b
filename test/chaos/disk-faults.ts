/** Faults of PostgreSQL's disks, of its tables and of its log: full, or broken so that nothing can be written until the repair. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Disks, OwnPostgres } from '../support/own-postgres.ts';
import type { Random } from '../support/random.ts';

/** A failed start is repeated, as an init system repeats it. */
const startAttempts = 5;
const startAgainMs = 1_000;
const manyRows = 200_000;

/** Of tables: what needs a new page is refused (53100). Of the log: the server ends itself (PANIC) at the next commit, again and again. */
export async function fillDisk(postgres: OwnPostgres, which: keyof Disks, random: Random): Promise<string> {
  const disk = postgres.disks![which];
  const forMs = random.between(500, 8_000);
  let met: string;
  try {
    await disk.fill();
    met = await whatWritesMeet(postgres.directUrl, forMs);
  } finally {
    await disk.free();
  }
  return `full for ${forMs} ms, a write met ${met}, ${await waitUntilUp(postgres)}`;
}

/** Without an end by itself: what was not on the disk is lost with it, so the server starts from its log when the disk is mended. */
export async function breakDisk(postgres: OwnPostgres, which: keyof Disks, random: Random): Promise<string> {
  const disk = postgres.disks![which];
  const forMs = random.between(500, 5_000);
  let met: string;
  try {
    await disk.breakDown();
    met = await whatWritesMeet(postgres.directUrl, forMs);
  } finally {
    await postgres.end();
    await disk.repair();
  }
  return `broken for ${forMs} ms, a write met ${met}, ${await waitUntilUp(postgres)}`;
}

/** Takes as long as is said. The load writes too; this is a write that surely needs room. */
async function whatWritesMeet(url: string, forMs: number): Promise<string> {
  const over = pause(forMs);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: forMs, query_timeout: forMs });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('begin');
    await client.query(`create table room_is_wanted as select n, repeat('x', 100) from generate_series(1, ${manyRows}) n`);
    await client.query('rollback');
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code ?? (error as Error).message;
  } finally {
    client.end().catch(() => {});
    await over;
  }
}

async function waitUntilUp(postgres: OwnPostgres): Promise<string> {
  const state = (await postgres.isRunning()) ? 'the server still ran' : 'the server had ended';
  for (let attempt = 1; ; attempt++) {
    try {
      await postgres.startAgain();
      return state;
    } catch (error) {
      if (attempt === startAttempts) throw error;
      await pause(startAgainMs);
    }
  }
}
