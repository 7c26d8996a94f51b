/**
 * One lane of the group commit: a connection that sends one batch after another, and determines whether a batch was committed when the
 * connection breaks. Independent of actors and of the choice of the next batch.
 *
 * C3 After an unknown outcome, this owner's epochs of the batch's shards are raised before anything is read: a statement of the old
 *    connection can no longer commit. Then the lane's marker shows whether the batch was committed. Meanwhile no other lane sends
 *    (`OutcomeRecovery`): a statement of another lane either holds the shard rows, and recovery waits for it, or is refused under the old
 *    epoch and retried.
 */
import type pg from 'pg';
import type { Log } from '../log.ts';
import { CommitConnection } from './commit-connection.ts';
import { commitStatement, type Fence, type RuntimeTables, type Statement } from './commit-statement.ts';
import { commitBackoffMs, type Try } from './commit-try.ts';
import type { CommitOutcome, CommitUnit } from './commit-unit.ts';
import { databaseFault, queryCanceled } from './database-errors.ts';
import { lockedRows } from './locked-rows.ts';
import { newestSeqs } from './newest-events.ts';

export type FenceControl = Fence & {
  /** Checks a new connection before its first use: it may lead to a database that has lost commits. */
  connected?(client: pg.Client): Promise<void>;
  /**
   * Raises the epochs of these shards if this owner still holds them, and drops the shards that it has lost. Called after an unknown
   * outcome, on the lane's new connection; `pid` is the server process of the old one.
   */
  renew(client: pg.Client, shards: readonly number[], pid: number | null): Promise<void>;
  /** The database does not list these shards under the given epochs: they are lost now. */
  refused(shards: number[]): void;
};

export type CommitLaneOptions = {
  /** 0: the main lane. */
  number: number;
  url: string;
  fence: FenceControl;
  tables: RuntimeTables;
  log: Log;
  recovery: OutcomeRecovery;
  statementTimeoutMs: number;
  lockTimeoutMs: number;
};

/** Longer than statements of other lanes run. */
const findingLockTimeoutMs = 5_000;

export class CommitLane {
  private batch = 0;
  private closed = false;
  private readonly marker: string;
  private readonly connection: CommitConnection;
  private readonly options: CommitLaneOptions;

  constructor(options: CommitLaneOptions) {
    this.options = options;
    const { number, url, fence, statementTimeoutMs } = options;
    this.marker = number === 0 ? fence.owner : `${fence.owner} lane ${number}`;
    this.connection = new CommitConnection({
      url,
      owner: fence.owner,
      statementTimeoutMs,
      connected: async (client) => fence.connected?.(client),
    });
  }

  /** Sends the units as one statement. Resolves when the outcome is certain. */
  async try(units: CommitUnit[], lockTimeoutMs = this.options.lockTimeoutMs): Promise<Try> {
    const { fence, recovery } = this.options;
    if (recovery.isRunning) await recovery.finished();
    if (this.hasLost(units)) return { kind: 'lost' };
    const batch = ++this.batch;
    const epochs = units.map(({ shard }) => fence.epochOf(shard));
    let statement: Statement;
    try {
      statement = commitStatement(units, fence, { marker: this.marker, batch }, this.options.tables);
    } catch (error) {
      return { kind: 'bad', error: error as Error };
    }
    let client: pg.Client;
    try {
      client = this.connection.ready(lockTimeoutMs) ?? (await this.connection.get(lockTimeoutMs));
    } catch (error) {
      if (this.closed) throw error;
      return { kind: 'unreachable', error: error as Error };
    }
    // While the connection was made, shards may have been lost and regained under a new epoch.
    if (this.hasLost(units)) return { kind: 'lost' };
    try {
      const { name, text, values } = statement;
      const { rows } = await client.query({ ...(name === '' ? {} : { name }), text, values, rowMode: 'array' });
      const [ok, held, seqs] = rows[0] as unknown as [boolean, number[] | null, number[] | null];
      if (ok) return { kind: 'committed', outcomes: committed(units, statement, seqs ?? []) };
      await this.denied(units, epochs, new Set(held ?? []));
      return { kind: 'lost' };
    } catch (error) {
      const fault = databaseFault(error);
      if (fault === 'contents') return { kind: 'bad', error: error as Error };
      if (fault === 'blocked')
        return { kind: (error as { code?: string }).code === queryCanceled ? 'slow' : 'locked', error: error as Error };
      if (fault === 'database') {
        // The error may concern only this connection: a missing prepared statement or a broken session state.
        if (/^(0A|26|XX)/.test((error as { code: string }).code)) this.connection.drop();
        return { kind: 'again', error: error as Error };
      }
      const outcomes = await this.resolveOutcome(batch, units, error as Error);
      return outcomes === null ? { kind: 'again', error: error as Error } : { kind: 'committed', outcomes };
    }
  }

  /** Rows that these units change and another session has locked now, named as in `locked-rows.ts`. Empty if none was found. */
  async locked(units: readonly CommitUnit[]): Promise<Set<string>> {
    try {
      return await lockedRows(await this.connection.get(this.options.lockTimeoutMs), units);
    } catch (error) {
      if (this.closed) throw error;
      this.connection.drop();
      return new Set();
    }
  }

  /** Closes the connection of an idle lane. */
  closeConnection(): void {
    this.connection.drop();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.connection.close();
  }

  /** Marks units whose shards are lost. */
  private hasLost(units: readonly CommitUnit[]): boolean {
    let some = false;
    for (const unit of units) {
      if (this.options.fence.epochOf(unit.shard) === null) unit.lost = true;
      some ||= unit.lost;
    }
    return some;
  }

  /** The database has refused shards: those whose epochs were not raised here meanwhile are lost. */
  private async denied(units: readonly CommitUnit[], epochs: readonly (number | null)[], kept: ReadonlySet<number>): Promise<void> {
    const { fence, recovery } = this.options;
    await recovery.finished();
    const shards = new Set<number>();
    for (let i = 0; i < units.length; i++) {
      const unit = units[i]!;
      if (kept.has(unit.shard) || fence.epochOf(unit.shard) !== epochs[i]) continue;
      unit.lost = true;
      shards.add(unit.shard);
    }
    if (shards.size > 0) fence.refused([...shards]);
  }

  /** C3. Returns the outcomes if the batch was committed, null if it certainly was not. Waits as long as the database is unavailable. */
  private resolveOutcome(batch: number, units: CommitUnit[], cause: Error): Promise<CommitOutcome[] | null> {
    const { log, recovery } = this.options;
    log.warn({ err: cause, batch }, 'the connection broke during a commit; checking whether it was committed');
    const { pid } = this.connection;
    this.connection.drop();
    return recovery.run(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.readOutcome(batch, units, pid);
        } catch (error) {
          if (this.closed) throw error;
          this.connection.drop();
          await new Promise((resolve) => setTimeout(resolve, commitBackoffMs(attempt)));
        }
      }
    });
  }

  private async readOutcome(batch: number, units: CommitUnit[], pid: number | null): Promise<CommitOutcome[] | null> {
    const client = await this.connection.get(findingLockTimeoutMs);
    await this.options.fence.renew(client, [...new Set(units.map(({ shard }) => shard))], pid);
    const marker = await client.query('select batch from commit_marker where owner = $1', [this.marker]);
    if (Number(marker.rows[0]?.batch ?? 0) < batch) return null;
    const events = units.flatMap((unit) => unit.events);
    if (events.length === 0) return units.map(() => ({ kind: 'committed', seqs: [] }));
    const seqById = await newestSeqs(client, events);
    return units.map((unit) => ({ kind: 'committed', seqs: unit.events.map((event) => seqById.get(event.id)!) }));
  }
}

/** While one lane determines the outcome of its batch, the other lanes send nothing. */
export class OutcomeRecovery {
  private last: Promise<unknown> = Promise.resolve();
  private count = 0;

  get isRunning(): boolean {
    return this.count > 0;
  }

  /** Resolves when no recovery is running. */
  async finished(): Promise<void> {
    while (this.count > 0) await this.last.catch(() => {});
  }

  /** Recoveries run one after another. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.count++;
    const done = this.last.then(work, work).finally(() => this.count--);
    this.last = done;
    return done;
  }
}

function committed(units: CommitUnit[], { eventAccounts }: Statement, lastSeqs: number[]): CommitOutcome[] {
  // In reverse order: the last event has the last number.
  const left = [...lastSeqs];
  const outcomes: CommitOutcome[] = new Array(units.length);
  let next = eventAccounts.length;
  for (let u = units.length - 1; u >= 0; u--) {
    const count = units[u]!.events.length;
    if (count === 0) {
      outcomes[u] = withoutEvents;
      continue;
    }
    const seqs: number[] = new Array(count);
    for (let i = count - 1; i >= 0; i--) seqs[i] = left[eventAccounts[--next]!]!--;
    outcomes[u] = { kind: 'committed', seqs };
  }
  return outcomes;
}

const withoutEvents: CommitOutcome = { kind: 'committed', seqs: [] };
