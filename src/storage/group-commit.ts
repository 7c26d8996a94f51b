/**
 * The group commit: many actors' changes in one PostgreSQL transaction. It owns one open batch that grows while the last one is on its
 * way, and the answer to "is it in?" when a connection breaks in the middle. It knows neither actors nor turns.
 *
 * C1 A unit is settled exactly once, when its outcome is certain. Until then it is not settled at all.
 * C2 Batches are sent one after another, so what is committed first is settled first. Units that were not committed are settled before
 *    the next batch leaves: whatever was built on them can still be withdrawn from it.
 * C3 After an unknown outcome the own epochs are raised before anything is read: whatever of the old connection is still on its way can
 *    no longer land. Then the marker says whether the batch is in.
 * C4 One unit's bad contents, or a lock in its way, fail that unit alone: a batch that the database refuses is sent again in halves.
 */
import type pg from 'pg';
import { type Clock, systemClock } from '../clock.ts';
import { CountBy, Distribution, latencyBoundsS } from '../counts.ts';
import type { Log } from '../log.ts';
import type { Span, Tracer } from '../tracing.ts';
import { CommitConnection } from './commit-connection.ts';
import { commitStatement, type Fence, isRepeat, type RuntimeTables, type Statement } from './commit-statement.ts';
import type { CommitOutcome, CommitUnit } from './commit-unit.ts';
import type { Database } from './database.ts';
import { databaseFault } from './database-errors.ts';
import { CommandRecord, DeadLetter, Effect, Message, Timer } from './entities/runtime.ts';

export type FenceControl = Fence & {
  /** Raises the epochs of all shards this owner holds and drops those it has lost. Called after an unknown outcome. */
  renew(client: pg.Client): Promise<void>;
  /** The database says that these shards are not held under the epochs given: they count as lost from here on. */
  refused(shards: number[]): void;
};

export type GroupCommitOptions = {
  database: Database;
  fence: FenceControl;
  log: Log;
  clock?: Clock;
  /** Turns in one batch; what comes beyond waits in mailboxes. */
  maxBatchTurns?: number;
  /** How long one statement may take before its outcome counts as unknown. */
  statementTimeoutMs?: number;
  /** How long it may wait for one lock, e.g. of a claim, before the batch is tried in halves. */
  lockTimeoutMs?: number;
  /** null: nothing is traced. */
  tracer?: Tracer | null;
};

/** One commit names this many of the traced turns in it, at most. */
const maxLinks = 32;

/** How often the same units are tried when the connection is cut under them, or the database is busy, before they are tried in halves. */
const triesTogether = 3;
/** How often one unit is tried by itself. */
const triesAlone = 5;

/** What became of one try: certain, or surely not in. */
type Try =
  | { kind: 'committed'; outcomes: CommitOutcome[] }
  | { kind: 'lost'; shards: Set<number> }
  /** The contents are at fault. */
  | { kind: 'bad'; error: Error }
  /** Another session's lock or a time-out is. */
  | { kind: 'blocked'; error: Error }
  | { kind: 'again'; error: Error }
  | { kind: 'unreachable'; error: Error };

export class GroupCommit {
  /** Called whenever the open batch has been sent and there is room again. */
  onRoom: () => void = () => {};
  readonly maxBatchTurns: number;
  private open: CommitUnit[] = [];
  private openTurns = 0;
  private sending: CommitUnit[] | null = null;
  /** Shards lost since the batch on its way was sent. */
  private readonly lost = new Set<number>();
  private scheduled = false;
  private batch = 0;
  private closed = false;
  /** Resolves with the next batch whose outcome is told; null while nobody waits for it. */
  private nextSettled: PromiseWithResolvers<void> | null = null;
  private readonly connection: CommitConnection;
  private readonly tables: RuntimeTables;
  private readonly options: GroupCommitOptions;
  private readonly clock: Clock;
  /** For metrics and health. Milliseconds since 1970 when the last batch was committed; 0 before the first. */
  lastCommitAtMs = 0;
  /** Since when the batch on its way has been there; null while none is. Long ago: the database is away. */
  sendingSinceMs: number | null = null;
  committedTurns = 0;
  deadLetters = 0;
  readonly batchTurns = new Distribution([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]);
  /** From sending a batch until every outcome in it is certain, in seconds. */
  readonly durationS = new Distribution(latencyBoundsS);
  /** Units that were not committed, by outcome. */
  readonly notCommitted = new CountBy(['outcome']);

  constructor(options: GroupCommitOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.maxBatchTurns = options.maxBatchTurns ?? 2_000;
    const { database, fence } = options;
    this.connection = new CommitConnection({
      url: database.url,
      owner: fence.owner,
      statementTimeoutMs: options.statementTimeoutMs ?? 15_000,
      lockTimeoutMs: options.lockTimeoutMs ?? 2_000,
    });
    this.tables = {
      message: database.table(Message),
      timer: database.table(Timer),
      effect: database.table(Effect),
      commandRecord: database.table(CommandRecord),
      deadLetter: database.table(DeadLetter),
    };
  }

  /** How many more turns the open batch takes. */
  get room(): number {
    return this.maxBatchTurns - this.openTurns;
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

  /**
   * These shards are lost. What is open for them is refused now; what is on its way is not sent again, even if the shards come back under
   * a new epoch: in between, others may have written.
   */
  lose(shards: ReadonlySet<number>): void {
    if (this.sending !== null) for (const shard of shards) this.lost.add(shard);
    const refused = this.open.filter((unit) => shards.has(unit.shard));
    for (const unit of refused) this.withdraw(unit);
    for (const unit of refused) this.tell(unit, { kind: 'refused' });
    this.nextSettled?.resolve();
    this.nextSettled = null;
  }

  /** Resolves when nothing is open or on its way, or never will be again. */
  async drained(): Promise<void> {
    while (!this.closed && (this.open.length > 0 || this.sending !== null)) await this.settled();
  }

  /** Resolves when nothing of these shards is open or on its way, or never will be again. */
  async whenClear(shards: ReadonlySet<number>): Promise<void> {
    const isOfThem = (unit: CommitUnit) => shards.has(unit.shard);
    while (!this.closed && (this.open.some(isOfThem) || this.sending?.some(isOfThem) === true)) await this.settled();
  }

  /** Lets go of the connection. Units whose outcome is not certain by now are never settled. */
  async close(): Promise<void> {
    this.closed = true;
    this.nextSettled?.resolve();
    await this.connection.close();
  }

  private settled(): Promise<void> {
    return (this.nextSettled ??= Promise.withResolvers<void>()).promise;
  }

  private flush(): void {
    this.scheduled = false;
    if (this.closed || this.sending !== null || this.open.length === 0) return;
    const units = this.open;
    const sentAt = performance.now();
    this.batchTurns.note(this.openTurns);
    this.sending = units;
    this.lost.clear();
    this.sendingSinceMs = this.clock.nowMs();
    this.open = [];
    this.openTurns = 0;
    for (const unit of units) unit.onSent();
    const span = this.startSpan(units);
    this.send(units).then(
      (outcomes) => {
        this.durationS.note((performance.now() - sentAt) / 1_000);
        span?.end();
        this.settle(units, outcomes);
      },
      (defect) => {
        if (this.closed) return;
        // Only a defect of this file ends here; the units' owners must hear of it all the same.
        this.options.log.error({ err: defect }, 'group commit failed unexpectedly');
        const outcome: CommitOutcome = { kind: 'unavailable', error: defect as Error };
        this.settle(
          units,
          units.map(() => outcome),
        );
      },
    );
  }

  /** Part of the first traced turn's trace, linked with the others'. */
  private startSpan(units: readonly CommitUnit[]): Span | null {
    const { tracer = null } = this.options;
    if (tracer === null) return null;
    const [first, ...others] = units.flatMap(({ traces }) => traces ?? []).slice(0, maxLinks);
    if (first === undefined) return null;
    return tracer.startSpan('commit', first, { 'troupe.actors': units.length }, { kind: 'client', links: others });
  }

  private settle(units: CommitUnit[], outcomes: CommitOutcome[]): void {
    this.sending = null;
    this.sendingSinceMs = null;
    for (let i = 0; i < units.length; i++) {
      if (outcomes[i]!.kind === 'committed') continue;
      this.notCommitted.add([outcomes[i]!.kind]);
      this.tell(units[i]!, outcomes[i]!);
    }
    // The next batch goes out before the answers of this one do: the database works while this process answers.
    this.flush();
    for (let i = 0; i < units.length; i++) {
      if (outcomes[i]!.kind !== 'committed') continue;
      this.committedTurns += units[i]!.turns;
      this.deadLetters += units[i]!.deadLetters.length;
      this.tell(units[i]!, outcomes[i]!);
    }
    this.onRoom();
    this.nextSettled?.resolve();
    this.nextSettled = null;
  }

  private tell(unit: CommitUnit, outcome: CommitOutcome): void {
    try {
      unit.settle(outcome);
    } catch (error) {
      // A defect of one owner must not keep the others from their answers.
      const actors = unit.parts.map(({ kind, id }) => `${kind}/${id}`);
      this.options.log.error({ actors, err: error }, 'the owner of a commit could not take its outcome');
    }
  }

  /** Sends units until each one's outcome is certain. */
  private async send(units: CommitUnit[]): Promise<CommitOutcome[]> {
    const { fence, log } = this.options;
    for (let attempt = 1, outages = 0; ; attempt++) {
      const lost = new Set(units.map((unit) => unit.shard).filter((shard) => this.lost.has(shard) || fence.epochOf(shard) === null));
      if (lost.size > 0) return this.without(units, lost);
      const tried = await this.try(units);
      if (tried.kind === 'committed') return tried.outcomes;
      if (tried.kind === 'lost') {
        for (const shard of tried.shards) this.lost.add(shard);
        fence.refused([...tried.shards]);
        continue;
      }
      const { kind, error } = tried;
      if (kind === 'unreachable') {
        // Nobody's fault and nothing lost: wait for as long as it takes. Callers are answered by their deadlines.
        if (outages === 0) log.warn({ err: error }, 'the database cannot be reached; commits wait');
        attempt--;
        await backOff(++outages);
        continue;
      }
      if (units.length > 1 && (kind === 'bad' || kind === 'blocked' || attempt >= triesTogether)) {
        const middle = units.length >> 1;
        return [...(await this.send(units.slice(0, middle))), ...(await this.send(units.slice(middle)))];
      }
      if (kind === 'bad') return [{ kind: isRepeat(error) ? 'repeated' : 'failed', error }];
      if (units.length === 1 && attempt >= triesAlone) return [{ kind: 'unavailable', error }];
      log.warn({ err: error, attempt, units: units.length }, 'a batch is not in and is sent again');
      await backOff(attempt);
    }
  }

  private async try(units: CommitUnit[]): Promise<Try> {
    const batch = ++this.batch;
    let statement: Statement;
    try {
      statement = commitStatement(units, this.options.fence, batch, this.tables);
    } catch (error) {
      return { kind: 'bad', error: error as Error };
    }
    let client: pg.Client;
    try {
      client = await this.connection.get();
    } catch (error) {
      if (this.closed) throw error;
      return { kind: 'unreachable', error: error as Error };
    }
    try {
      const { name, text, values } = statement;
      const { rows } = await client.query({ ...(name === '' ? {} : { name }), text, values, rowMode: 'array' });
      const [ok, kept, seqs] = rows[0] as unknown as [boolean, number[] | null, number[] | null];
      if (ok) {
        this.lastCommitAtMs = this.clock.nowMs();
        return { kind: 'committed', outcomes: committed(units, statement, seqs ?? []) };
      }
      const owned = new Set(kept ?? []);
      return { kind: 'lost', shards: new Set(units.map((unit) => unit.shard).filter((shard) => !owned.has(shard))) };
    } catch (error) {
      const fault = databaseFault(error);
      if (fault !== null) return { kind: kindOfTry[fault], error: error as Error };
      const outcomes = await this.findOut(batch, units, error as Error);
      return outcomes === null ? { kind: 'again', error: error as Error } : { kind: 'committed', outcomes };
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
  private async findOut(batch: number, units: CommitUnit[], cause: Error): Promise<CommitOutcome[] | null> {
    const { fence, log } = this.options;
    log.warn({ err: cause, batch }, 'a commit was cut off; finding out whether it is in');
    this.connection.drop();
    for (let attempt = 1; ; attempt++) {
      try {
        const client = await this.connection.get();
        await fence.renew(client);
        const marker = await client.query('select batch from commit_marker where owner = $1', [fence.owner]);
        if (Number(marker.rows[0]?.batch ?? 0) < batch) return null;
        const events = units.flatMap((unit) => unit.events);
        if (events.length === 0) return units.map(() => ({ kind: 'committed', seqs: [] }));
        const { rows } = await client.query('select id, seq from event where account_id = any($1) and id = any($2)', [
          [...new Set(events.map((event) => event.accountId))],
          events.map((event) => event.id),
        ]);
        const seqById = new Map(rows.map((row): [string, number] => [row.id, row.seq]));
        return units.map((unit) => ({ kind: 'committed', seqs: unit.events.map((event) => seqById.get(event.id)!) }));
      } catch (error) {
        if (this.closed) throw error;
        this.connection.drop();
        await backOff(attempt);
      }
    }
  }
}

function committed(
  units: CommitUnit[],
  statement: Pick<Statement, 'eventOwners' | 'countedAccounts'>,
  lastSeqs: number[],
): CommitOutcome[] {
  const seqs: number[][] = units.map(() => []);
  const counts: number[] = statement.countedAccounts.map(() => 0);
  for (const { account } of statement.eventOwners) counts[account]!++;
  for (const { unit, account, rank } of statement.eventOwners) seqs[unit]!.push(lastSeqs[account]! - counts[account]! + rank);
  return seqs.map((list) => ({ kind: 'committed', seqs: list }));
}

const kindOfTry = { contents: 'bad', blocked: 'blocked', database: 'again' } as const;

async function backOff(attempt: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.min(2_000, 25 * 2 ** attempt)));
}
