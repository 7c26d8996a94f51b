/**
 * The group commit: many actors' changes in one PostgreSQL transaction. It owns one connection, one open batch that grows while the last
 * one is on its way, and the answer to "is it in?" when a connection breaks in the middle.
 *
 * C1 A unit is settled exactly once: `committed`, `refused` or `failed`. Until that is certain it is not settled at all.
 * C2 Batches are sent one after another, so what is committed first is settled first.
 * C3 After an unknown outcome the own epochs are raised before anything is read: whatever of the old connection is still on its way can
 *    no longer land. Then the marker says whether the batch is in.
 * C4 One unit's bad contents fail that unit alone: a batch that the database refuses is sent again in halves.
 */
import pg from 'pg';
import type { Log } from '../log.ts';
import { commitStatement, type Fence, type RuntimeTables, repeatedSqlState } from './commit-statement.ts';
import { type CommitOutcome, CommitUnit } from './commit-unit.ts';
import { type Database, isSqlError } from './database.ts';
import { CommandRecord, DeadLetter, Effect, Message, Timer } from './entities/runtime.ts';

export type FenceControl = Fence & {
  /** Raises the epochs of all shards this owner holds and drops those it has lost. Called after an unknown outcome. */
  renew(client: pg.Client): Promise<void>;
};

export type GroupCommitOptions = {
  database: Database;
  fence: FenceControl;
  log: Log;
  /** Turns in one batch; what comes beyond waits in mailboxes. */
  maxBatchTurns?: number;
  /** How long one statement may take before its outcome counts as unknown. */
  statementTimeoutMs?: number;
};

export class GroupCommit {
  /** Called whenever the open batch has been sent and there is room again. */
  onRoom: () => void = () => {};
  readonly maxBatchTurns: number;
  private open: CommitUnit[] = [];
  private openTurns = 0;
  private sending: CommitUnit[] | null = null;
  private scheduled = false;
  private batch = 0;
  private client: pg.Client | null = null;
  private closed = false;
  private idle: (() => void) | null = null;
  private readonly tables: RuntimeTables;
  private readonly options: GroupCommitOptions;
  /** For metrics and health: milliseconds since 1970 of the last batch that went in. */
  lastCommitAtMs = 0;
  committedTurns = 0;

  constructor(options: GroupCommitOptions) {
    this.options = options;
    this.maxBatchTurns = options.maxBatchTurns ?? 2_000;
    const { database } = options;
    this.tables = {
      message: database.table(Message),
      timer: database.table(Timer),
      effect: database.table(Effect),
      commandRecord: database.table(CommandRecord),
      deadLetter: database.table(DeadLetter),
    };
  }

  /** Room for one more turn in the open batch. */
  get hasRoom(): boolean {
    return this.openTurns < this.maxBatchTurns;
  }

  /** Adds a unit to the open batch. Until the batch is sent its owner may add further turns; each is told with `addTurn`. */
  add(unit: CommitUnit): void {
    this.open.push(unit);
    if (!this.scheduled && this.sending === null) {
      this.scheduled = true;
      // After the I/O of this tick: everything that arrived together is committed together.
      setImmediate(() => this.flush());
    }
  }

  addTurn(unit: CommitUnit): void {
    unit.turns++;
    this.openTurns++;
  }

  /** Takes a unit out of the open batch again: its turns were built on something that failed. */
  withdraw(unit: CommitUnit): void {
    const at = this.open.indexOf(unit);
    if (at < 0) return;
    this.open.splice(at, 1);
    this.openTurns -= unit.turns;
  }

  /** Resolves when nothing is open or on its way. */
  async drained(): Promise<void> {
    while (this.open.length > 0 || this.sending !== null) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.client?.end().catch(() => {});
  }

  private flush(): void {
    this.scheduled = false;
    if (this.sending !== null || this.open.length === 0) return;
    const units = this.open;
    const turns = this.openTurns;
    this.sending = units;
    this.open = [];
    this.openTurns = 0;
    for (const unit of units) unit.onSent();
    this.send(units).then(
      (outcomes) => {
        this.lastCommitAtMs = Date.now();
        this.committedTurns += turns;
        this.settle(units, outcomes);
      },
      (defect) => {
        // Only a defect of this file ends here; the units' owners must hear of it all the same.
        this.options.log.error({ err: defect }, 'group commit failed unexpectedly');
        this.settle(
          units,
          units.map((): CommitOutcome => ({ kind: 'failed', error: defect as Error, repeat: false })),
        );
      },
    );
  }

  private settle(units: CommitUnit[], outcomes: CommitOutcome[]): void {
    this.sending = null;
    // The next batch goes out before the answers of this one do: the database works while this process answers.
    this.flush();
    for (let i = 0; i < units.length; i++) units[i]!.settle(outcomes[i]!);
    this.onRoom();
    if (this.sending === null && this.open.length === 0) {
      this.idle?.();
      this.idle = null;
    }
  }

  /** Sends units until each one's outcome is certain. */
  private async send(units: CommitUnit[]): Promise<CommitOutcome[]> {
    const { fence, log } = this.options;
    for (let attempt = 0; ; attempt++) {
      const lost = units.filter((unit) => fence.epochOf(unit.shard) === null);
      if (lost.length > 0) return this.without(units, new Set(lost.map((unit) => unit.shard)));
      const batch = ++this.batch;
      const statement = commitStatement(units, fence, batch, this.tables);
      let client: pg.Client;
      try {
        client = await this.connect();
      } catch (error) {
        if (this.closed) throw error;
        if (attempt === 0) log.warn({ err: error }, 'the database cannot be reached; commits wait');
        await backOff(attempt);
        continue;
      }
      try {
        const { rows } = await client.query({
          ...(statement.name === '' ? {} : { name: statement.name }),
          text: statement.text,
          values: statement.values,
          rowMode: 'array',
        });
        const [ok, kept, seqs] = rows[0] as unknown as [boolean, number[] | null, number[] | null];
        if (!ok) {
          const owned = new Set(kept ?? []);
          return this.without(units, new Set(units.map((unit) => unit.shard).filter((shard) => !owned.has(shard))));
        }
        return committed(units, statement, seqs ?? []);
      } catch (error) {
        if (!isSqlError(error)) {
          const found = await this.resolve(batch, units, error as Error);
          if (found !== null) return found;
          continue;
        }
        if (isTransient(error.code)) {
          log.warn({ err: error }, 'a batch is sent again');
          await backOff(attempt);
          continue;
        }
        if (units.length === 1) return [{ kind: 'failed', error, repeat: error.code === repeatedSqlState }];
        const middle = units.length >> 1;
        return [...(await this.send(units.slice(0, middle))), ...(await this.send(units.slice(middle)))];
      }
    }
  }

  /** Sends the units whose shards are still held; the others are refused. */
  private async without(units: CommitUnit[], lost: Set<number>): Promise<CommitOutcome[]> {
    const kept = units.filter((unit) => !lost.has(unit.shard));
    const outcomes = kept.length === 0 ? [] : await this.send(kept);
    let next = 0;
    return units.map((unit): CommitOutcome => (lost.has(unit.shard) ? { kind: 'refused' } : outcomes[next++]!));
  }

  /** C3. Returns the outcomes when the batch is in, null when it surely is not. Waits as long as the database is away. */
  private async resolve(batch: number, units: CommitUnit[], cause: Error): Promise<CommitOutcome[] | null> {
    const { fence, log } = this.options;
    log.warn({ err: cause, batch }, 'a commit was cut off; finding out whether it is in');
    this.drop();
    for (let attempt = 0; ; attempt++) {
      try {
        const client = await this.connect();
        await fence.renew(client);
        const { rows } = await client.query({
          text: 'select batch from commit_marker where owner = $1',
          values: [fence.owner],
          rowMode: 'array',
        });
        if (Number((rows[0] as unknown as number[] | undefined)?.[0] ?? 0) < batch) return null;
        const ids = units.flatMap((unit) => unit.events.map((event) => event.id));
        const accounts = [...new Set(units.flatMap((unit) => unit.events.map((event) => event.accountId)))];
        const seqById = new Map<string, number>();
        if (ids.length > 0) {
          const found = await client.query({
            text: 'select id, seq from event where account_id = any($1) and id = any($2)',
            values: [accounts, ids],
            rowMode: 'array',
          });
          for (const [id, seq] of found.rows as unknown as [string, number][]) seqById.set(id, seq);
        }
        return units.map((unit) => ({ kind: 'committed', seqs: unit.events.map((event) => seqById.get(event.id)!) }));
      } catch (error) {
        if (this.closed) throw error;
        this.drop();
        await backOff(attempt);
      }
    }
  }

  private async connect(): Promise<pg.Client> {
    if (this.client !== null) return this.client;
    const timeoutMs = this.options.statementTimeoutMs ?? 15_000;
    const client = new pg.Client({
      connectionString: this.options.database.url,
      application_name: `troupe commit ${this.options.fence.owner}`,
      connectionTimeoutMillis: 5_000,
      statement_timeout: timeoutMs,
      lock_timeout: Math.ceil(timeoutMs / 2),
      // The client gives up later than the server, so that an answer, if there is one, is heard.
      query_timeout: timeoutMs + 5_000,
      keepAlive: true,
      types: answerTypes,
    });
    // A break is seen by the statement in flight; without a listener it would end the process.
    client.on('error', () => this.client === client && this.drop());
    await client.connect();
    // One plan for all sizes of a batch: made once, and without nested loops, which are quadratic where arrays are joined.
    await client.query('set plan_cache_mode = force_generic_plan; set enable_nestloop = off; set jit = off');
    this.client = client;
    return client;
  }

  private drop(): void {
    const client = this.client;
    this.client = null;
    client?.end().catch(() => {});
  }
}

function committed(
  units: CommitUnit[],
  statement: { eventOwners: { unit: number; account: number; rank: number }[]; countedAccounts: string[] },
  lastSeqs: number[],
): CommitOutcome[] {
  const seqs: number[][] = units.map(() => []);
  const counts: number[] = statement.countedAccounts.map(() => 0);
  for (const { account } of statement.eventOwners) counts[account]!++;
  for (const { unit, account, rank } of statement.eventOwners) seqs[unit]!.push(lastSeqs[account]! - counts[account]! + rank);
  return seqs.map((list) => ({ kind: 'committed', seqs: list }));
}

/** Serialisation, deadlock, lock and statement time-outs, resources, shutdown in progress: nothing was written, and it may work next time. */
function isTransient(sqlState: string): boolean {
  return /^(40|53|55P03|57014)/.test(sqlState) || sqlState === '25006';
}

async function backOff(attempt: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.min(2_000, 50 * 2 ** attempt)));
}

const int8Array = 1016;
const int4Array = 1007;
const bool = 16;
const answerTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8Array || oid === int4Array) return (text: string) => (text.length <= 2 ? [] : text.slice(1, -1).split(',').map(Number));
    if (oid === bool) return (text: string) => text === 't';
    if (oid === 20) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as never;

export { CommitUnit };
