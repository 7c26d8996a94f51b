/**
 * The lock on a database: a single node has it exclusively, the nodes of a cluster share it. It does not fence writes; epochs do. It only
 * keeps a node without a cluster from being started beside others.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { backoffMs } from '../backoff.ts';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { breakConnection, connect } from '../storage/connect.ts';
import { connectionName } from '../storage/connection-name.ts';
import { endConnections, holdsAdvisoryLock, tryAdvisoryLock } from '../storage/server-functions.ts';
import { whenRunningFor } from '../within.ts';

const nodeLock = 7_081_736;
const retryMs = 500;
/**
 * For a lock that was held: meanwhile this node may not know whether it is still the only one. Each further try waits twice as long: a
 * machine or a database under heavy load may need longer to connect, and would never get there if every try began anew after the same time.
 */
const firstReconnectMs = 2_000;
const longestReconnectMs = 16_000;

export type NodeLockOptions = {
  databaseUrl: string;
  owner: string;
  /** `exclusive`: the only node. `shared`: one of a cluster. */
  mode: 'exclusive' | 'shared';
  log: Log;
  /** How long it waits for the lock of a process that was just killed, whose connection takes a moment to break. Default 5 s. */
  waitMs?: number;
  /** How long the first try to connect again waits for the database. Default 2 s. */
  reconnectMs?: number | undefined;
  /** Called once, when the lock was lost and another process has it: this object never takes it again. */
  onTakenOver?: (error: AppError) => void;
};

const conflictMessages = {
  exclusive: 'Another node runs on this database: stop it, or give both the same REDIS_URL to form a cluster',
  shared: 'A node without REDIS_URL runs on this database: stop it, or give it the same REDIS_URL to form a cluster',
};

const takeoverMessages = {
  exclusive:
    'Another node has taken over this database: only one can use it. Stop the one that is not wanted, or give both the same REDIS_URL to form a cluster',
  shared:
    'A node without REDIS_URL has taken over the database of this cluster: stop it and start this node again, or give it the same REDIS_URL',
};

export class NodeLock {
  private holder: pg.Client | null = null;
  private taking: Promise<void> | null = null;
  private released = false;
  private inUse: Promise<unknown> = Promise.resolve();
  /** The error that ended the last connection with the lock. */
  private connectionError: Error | undefined;
  /** Once true, a failure to take the lock means that another node has taken over. */
  private wasAcquired = false;
  private takeoverError: AppError | null = null;
  /** Tries to take the lost lock again that have failed. */
  private failedTries = 0;
  private readonly options: NodeLockOptions;

  constructor(options: NodeLockOptions) {
    this.options = options;
  }

  /** False while the connection that holds it is broken: the lock is being taken again. */
  get held(): boolean {
    return this.holder !== null;
  }

  /** Throws `conflict` when the other mode holds it, and the database's error when it does not answer. */
  take(): Promise<void> {
    if (this.takeoverError !== null) return Promise.reject(this.takeoverError);
    if (this.holder !== null) return Promise.resolve();
    this.taking ??= this.acquire().finally(() => (this.taking = null));
    return this.taking;
  }

  /**
   * Runs work on the connection that holds the lock, one at a time: an answer also proves that the lock was held. If the work takes longer
   * than `timeoutMs` while this process runs, the connection counts as broken.
   */
  use<T>(work: (client: pg.Client) => Promise<T>, timeoutMs = 2_000): Promise<T> {
    const used = this.inUse.then(async () => {
      const client = this.holder;
      if (client === null) throw new AppError('unavailable', 'The lock on the database is not held now', { cause: this.connectionError });
      const cancel = whenRunningFor(timeoutMs, () => this.connectionBroke(client, new Error('no answer')));
      return work(client).finally(cancel);
    });
    this.inUse = used.catch(() => {});
    return used;
  }

  /** Whether the database accepts writes. */
  takesWrites(): Promise<boolean> {
    const text = `select current_setting('transaction_read_only') = 'off' as writes`;
    return this.use(async (client) => (await client.query<{ writes: boolean }>(text)).rows[0]!.writes);
  }

  async release(): Promise<void> {
    this.released = true;
    const { holder } = this;
    this.holder = null;
    await holder?.end().catch(() => {});
  }

  private async acquire(): Promise<void> {
    const { databaseUrl, owner, mode, waitMs = 5_000, reconnectMs = firstReconnectMs } = this.options;
    const deadlineMs = monotonicMs() + waitMs;
    for (;;) {
      const client = await connect(
        {
          url: databaseUrl,
          name: connectionName('node', owner),
          ...(this.wasAcquired && { connectTimeoutMs: backoffMs(this.failedTries, reconnectMs, longestReconnectMs) }),
          queryTimeoutMs: 60_000,
        },
        (error, broken) => this.connectionBroke(broken, error),
      );
      try {
        // A connection of this owner that the server considers alive still holds it.
        if (this.wasAcquired) await endConnections(client, [connectionName('node', owner)]);
        if ((await tryAdvisoryLock(client, nodeLock, mode)) && !this.released) {
          this.holder = client;
          this.wasAcquired = true;
          this.failedTries = 0;
          return;
        }
        if (!this.released && this.wasAcquired && !(await holdsAdvisoryLock(client, nodeLock, connectionName('node', owner))))
          this.reportTakeover();
      } catch (error) {
        client.end().catch(() => {});
        throw error;
      }
      await client.end();
      if (this.released) throw new AppError('draining', 'The node stops');
      if (this.takeoverError !== null) throw this.takeoverError;
      if (monotonicMs() >= deadlineMs) throw new AppError('conflict', conflictMessages[mode]);
      await pause(100);
    }
  }

  /** The database was restarted or disconnected. Epochs fence commits; the lock is taken again as soon as the database answers. */
  private connectionBroke(client: pg.Client, error: Error): void {
    if (this.holder !== client || this.released) return;
    this.options.log.warn({ err: error }, 'the connection that holds the lock on this database broke; taking the lock again');
    this.holder = null;
    this.connectionError = error;
    breakConnection(client);
    void this.retake();
  }

  private reportTakeover(): void {
    this.takeoverError = new AppError('conflict', takeoverMessages[this.options.mode]);
    this.options.onTakenOver?.(this.takeoverError);
  }

  private async retake(): Promise<void> {
    while (!this.released && this.holder === null && this.takeoverError === null) {
      try {
        await this.take();
      } catch (error) {
        this.failedTries++;
        if (this.takeoverError === null && !this.released)
          this.options.log.warn({ err: error }, 'the lock on this database is not available yet');
        await pause(retryMs);
      }
    }
  }
}
