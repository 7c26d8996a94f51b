/**
 * The lock that says who may use a database: one node without a cluster has it for itself, the nodes of a cluster share it. It fences
 * nothing; epochs do. It only keeps a service that knows nothing of a cluster from being started beside one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { connect } from '../storage/connect.ts';
import { connectionName } from '../storage/connection-name.ts';
import { tryAdvisoryLock } from '../storage/server-functions.ts';

const nodeLock = 7_081_736;
const retryMs = 500;

export type NodeLockOptions = {
  databaseUrl: string;
  owner: string;
  /** `exclusive`: the only node. `shared`: one of a cluster. */
  mode: 'exclusive' | 'shared';
  log: Log;
  /** How long taking it waits for a process that was just killed, whose connection takes a moment to break. Default 5 s. */
  waitMs?: number;
};

const taken = {
  exclusive: 'Another node runs on this database: stop it, or give both the same REDIS_URL to form a cluster',
  shared: 'A node without REDIS_URL runs on this database: stop it, or give it the same REDIS_URL to form a cluster',
};

export class NodeLock {
  private holder: pg.Client | null = null;
  private taking: Promise<void> | null = null;
  private released = false;
  private readonly options: NodeLockOptions;

  constructor(options: NodeLockOptions) {
    this.options = options;
  }

  /** The connection that holds it; null while it is not held. */
  get connection(): pg.Client | null {
    return this.holder;
  }

  /** False while the connection that holds it is broken: it is being taken again. */
  get held(): boolean {
    return this.holder !== null;
  }

  /** Throws `conflict` when the other mode holds it, and whatever the database answers when it cannot be asked. */
  take(): Promise<void> {
    if (this.holder !== null) return Promise.resolve();
    this.taking ??= this.tryUntilTaken().finally(() => (this.taking = null));
    return this.taking;
  }

  async release(): Promise<void> {
    this.released = true;
    const { holder } = this;
    this.holder = null;
    await holder?.end().catch(() => {});
  }

  private async tryUntilTaken(): Promise<void> {
    const { databaseUrl, owner, mode, waitMs = 5_000 } = this.options;
    const deadlineMs = Date.now() + waitMs;
    for (;;) {
      const client = await connect({ url: databaseUrl, name: connectionName('node', owner), queryTimeoutMs: 60_000 }, (error, broken) =>
        this.broke(broken, error),
      );
      try {
        if ((await tryAdvisoryLock(client, nodeLock, mode)) && !this.released) {
          this.holder = client;
          return;
        }
      } catch (error) {
        client.end().catch(() => {});
        throw error;
      }
      await client.end();
      if (this.released) throw new AppError('draining', 'The node stops');
      if (Date.now() >= deadlineMs) throw new AppError('conflict', taken[mode]);
      await pause(100);
    }
  }

  /** The database was restarted or cut off. Commits are fenced by epochs; the lock is taken again as soon as there is an answer. */
  private broke(client: pg.Client, error: Error): void {
    if (this.holder !== client || this.released) return;
    this.options.log.warn({ err: error }, 'the connection that holds the lock on this database broke; taking it again');
    this.holder = null;
    void this.retake();
  }

  private async retake(): Promise<void> {
    while (!this.released && this.holder === null) {
      try {
        await this.take();
      } catch (error) {
        const lost = error instanceof AppError && error.code === 'conflict';
        this.options.log[lost ? 'error' : 'warn']({ err: error }, lost ? 'another node has taken over this database' : 'no answer yet');
        await pause(retryMs);
      }
    }
  }
}
