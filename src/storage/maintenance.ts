/**
 * Housekeeping: deletes expired data in small pieces with pauses between them, so that no commit waits for it.
 *
 * Every node of a cluster starts a round periodically. An advisory lock admits one of them; it ends with the connection, so a dead node
 * blocks no other. The database stores when each job last began, so that many nodes do not run it more often than one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../log.ts';
import { within } from '../within.ts';
import { breakConnection, connect } from './connect.ts';
import { tryAdvisoryLock } from './server-functions.ts';

export type HousekeepingJob = {
  /** In logs and in the database, e.g. `events`. */
  name: string;
  /** Shortest time between two starts, on any node. Default: the interval of the rounds. */
  everyMs?: number;
  /** Most rows in one piece, if less than usual. */
  pieceRows?: number;
  /** Processes at most `limit` items; fewer means that nothing is left for now. `client` holds the lock and may be used for the work. */
  runBatch(limit: number, client: pg.Client): Promise<{ seen: number; removed: number }>;
  /** Releases resources that the job holds between its pieces. */
  close?(): Promise<void>;
};

export type MaintenanceOptions = {
  databaseUrl: string;
  jobs: readonly HousekeepingJob[];
  log: Log;
  /** From the end of a round of this node to its next round. */
  everyMs?: number;
  pieceRows?: number;
  pauseMs?: number;
  /** Most pieces of one job in one round; the rest waits for the next round. */
  maxPieces?: number;
  /** How long a stop waits for the current piece. Default 1 s. */
  stopWithinMs?: number;
};

const maintenanceLock = 7_081_737;

export class Maintenance {
  private readonly options: Required<MaintenanceOptions>;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private round: Promise<unknown> | null = null;
  private client: pg.Client | null = null;

  constructor(options: MaintenanceOptions) {
    this.options = { everyMs: 300_000, pieceRows: 5_000, pauseMs: 50, maxPieces: 1_000, stopWithinMs: 1_000, ...options };
  }

  /** The first round begins after one interval, so that it does not slow down the start. */
  start(): void {
    this.timer = setTimeout(() => {
      this.round = this.runOnce().finally(() => {
        this.round = null;
        if (!this.stopping.signal.aborted) this.start();
      });
    }, this.options.everyMs);
    this.timer.unref();
  }

  /** Resolves when the current piece is done, or is broken off since it takes longer than `stopWithinMs`. */
  async stop(): Promise<void> {
    const { stopWithinMs } = this.options;
    this.stopping.abort();
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.round !== null) await within(this.round, stopWithinMs);
    if (this.client !== null) breakConnection(this.client);
    for (const job of this.options.jobs) await job.close?.();
  }

  /**
   * One round: the number of removed rows of each due job; null if another node runs a round or the database does not answer. Failures are
   * logged, never thrown.
   */
  async runOnce(): Promise<Record<string, number> | null> {
    const { databaseUrl, jobs, log } = this.options;
    let client: pg.Client | null = null;
    try {
      client = this.client = await connect({ url: databaseUrl, name: 'troupe maintenance', statementTimeoutMs: 60_000 });
      if (!(await tryAdvisoryLock(client, maintenanceLock))) return null;
      const removed: Record<string, number> = {};
      for (const job of jobs) if (await this.begin(job, client)) removed[job.name] = await this.work(job, client);
      if (Object.values(removed).some((count) => count > 0)) log.info({ removed }, 'housekeeping removed expired rows');
      return removed;
    } catch (error) {
      log.warn({ err: error }, 'housekeeping could not reach the database; retrying in the next round');
      return null;
    } finally {
      await client?.end().catch(() => {});
      this.client = null;
    }
  }

  /** False if a node has started it within `everyMs`. */
  private async begin({ name, everyMs = this.options.everyMs }: HousekeepingJob, client: pg.Client): Promise<boolean> {
    const { rowCount } = await client.query(
      `insert into chore as c (name, begun_at) values ($1, now())
       on conflict (name) do update set begun_at = now() where c.begun_at <= now() - $2 * interval '1 millisecond'`,
      [name, everyMs],
    );
    return rowCount === 1;
  }

  private async work(job: HousekeepingJob, client: pg.Client): Promise<number> {
    const { pauseMs, maxPieces, log } = this.options;
    const pieceRows = Math.min(job.pieceRows ?? Number.POSITIVE_INFINITY, this.options.pieceRows);
    let total = 0;
    try {
      for (let piece = 0; ; piece++) {
        if (piece === maxPieces || this.stopping.signal.aborted) {
          // The rest is due in the next round, on any node.
          await client.query(`update chore set begun_at = '-infinity' where name = $1`, [job.name]);
          break;
        }
        const { seen, removed } = await job.runBatch(pieceRows, client);
        total += removed;
        if (seen < pieceRows) break;
        await pause(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => {});
      }
    } catch (error) {
      log.warn({ job: job.name, err: error }, 'a housekeeping job failed; retrying in the next round');
    }
    return total;
  }
}
