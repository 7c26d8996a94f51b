/**
 * Group commit: the changes of many actors in one PostgreSQL transaction. Owns one open batch that grows while the previous one is being
 * committed. Independent of actors and turns. One batch is sent by `commit-lane.ts`; units that wait for a lock are in `blocked-units.ts`.
 *
 * C1 A unit is settled exactly once, and only when its outcome is certain.
 * C2 Batches of the main lane are sent one after another, so what is committed first is settled first. Units that were not committed are
 *    settled before the next batch is sent: turns that were built on them can still be withdrawn from it.
 * C3 After an unknown outcome this owner's epochs are raised before anything is read (`commit-lane.ts`).
 * C4 One unit's bad contents fail that unit alone: a batch that the database refuses is sent again in halves.
 * C5 A lock that a unit waits for delays only that unit and later units of its actors: the unit leaves the main lane. Where the
 *    lock is on a counter or a shard, all units that need it leave too.
 */
import { type Clock, monotonicMs, systemClock } from '../clock.ts';
import { CountBy, Distribution, latencyBoundsS } from '../counts.ts';
import type { Log } from '../log.ts';
import type { Span, Tracer } from '../tracing.ts';
import { BlockedUnits } from './blocked-units.ts';
import { CommitLane, type FenceControl, OutcomeRecovery } from './commit-lane.ts';
import { afterTry, type Job, newJob } from './commit-try.ts';
import type { CommitOutcome, CommitUnit } from './commit-unit.ts';
import type { Database } from './database.ts';
import { CommandRecord, DeadLetter, Effect, Message, Timer } from './entities/runtime.ts';
import { touchedOf } from './locked-rows.ts';

export type GroupCommitOptions = {
  database: Database;
  fence: FenceControl;
  log: Log;
  /** The open batch was sent, or held units can be sent: further turns are accepted. */
  onCapacity(): void;
  clock?: Clock;
  /** Most turns in one batch; further ones wait in mailboxes. */
  maxBatchTurns?: number;
  /** How long turns of one tick fill the open batch before it is sent, if the database is idle. Default 2 ms. */
  earlyAfterMs?: number;
  /** How long one statement may take before its outcome counts as unknown. */
  statementTimeoutMs?: number;
  /** How long a batch may wait for one lock before the units that need it leave the main lane. Default 200 ms. */
  lockTimeoutMs?: number;
  /** null: commits are not traced. */
  tracer?: Tracer | null;
};

/** Most trace links of one commit. */
const maxLinks = 32;

/** A batch costs the database half a millisecond beside its units: with smaller batches this would outweigh the time gained. */
const defaultEarlyAfterMs = 2;

/** Lanes for units that wait for locks; each has a connection, made when it is needed. */
const lockWaitLanes = 2;

type Settled = { units: CommitUnit[]; outcomes: CommitOutcome[] };

export class GroupCommit {
  readonly maxBatchTurns: number;
  private open: CommitUnit[] = [];
  private openTurns = 0;
  /** On `performance.now`, when the open batch got its first unit. */
  private openSinceMs = 0;
  private sending: CommitUnit[] | null = null;
  /** Not sent, because they need a row that blocked units wait for (C5); in the order in which they were added. */
  private held: CommitUnit[] = [];
  private readonly blocked: BlockedUnits;
  private scheduled = false;
  private closed = false;
  /** Failed units are being settled: turns that were built on them may still be in the open batch. */
  private isNotifying = false;
  /** Resolves when the next batch is settled; null while there are no waiters. */
  private nextSettled: PromiseWithResolvers<void> | null = null;
  private readonly lane: CommitLane;
  private readonly earlyAfterMs: number;
  private readonly options: GroupCommitOptions;
  private readonly clock: Clock;
  /** For metrics and health: time of the last committed batch in milliseconds since 1970; 0 before the first. */
  lastCommitAtMs = 0;
  /** On `monotonicMs`, when the current batch was sent; null if none is in flight. A long time means that the database does not answer. */
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
    this.earlyAfterMs = options.earlyAfterMs ?? defaultEarlyAfterMs;
    const { database, fence, log, statementTimeoutMs = 15_000, lockTimeoutMs = 200 } = options;
    const tables = {
      message: database.table(Message),
      timer: database.table(Timer),
      effect: database.table(Effect),
      commandRecord: database.table(CommandRecord),
      deadLetter: database.table(DeadLetter),
    };
    const recovery = new OutcomeRecovery();
    const lane = (number: number) =>
      new CommitLane({ number, url: database.url, fence, tables, log, recovery, statementTimeoutMs, lockTimeoutMs });
    this.lane = lane(0);
    this.blocked = new BlockedUnits({
      lanes: Array.from({ length: lockWaitLanes }, (_, i) => lane(i + 1)),
      log,
      lockTimeoutMs,
      settle: (units, outcomes) => {
        this.notifyFailed(units, outcomes);
        this.notifyCommitted(units, outcomes);
      },
      onRemoved: () => this.releaseHeld(),
    });
  }

  /** How many more turns the open batch accepts. */
  get remainingTurns(): number {
    return this.maxBatchTurns - this.openTurns;
  }

  /** Room for one more turn in the open batch. */
  get hasCapacity(): boolean {
    return this.openTurns < this.maxBatchTurns;
  }

  /** Adds a unit to the open batch. Until the batch is sent its owner may add further turns, and reports each with `addTurn`. */
  add(unit: CommitUnit): void {
    if (this.open.length === 0) this.openSinceMs = performance.now();
    this.open.push(unit);
    this.schedule();
  }

  /** Called between turns. Sends the open batch if turns of this tick have filled it for a while and the database is idle: both then work at once. */
  sendEarly(): void {
    if (this.sending !== null || this.open.length === 0 || this.isNotifying) return;
    if (performance.now() - this.openSinceMs >= this.earlyAfterMs) this.flush();
  }

  addTurn(unit: CommitUnit): void {
    unit.turns++;
    this.openTurns++;
  }

  /** For metrics: units that wait for a lock of another session, and units that wait for those. */
  get blockedUnits(): number {
    return this.blocked.size + this.held.length;
  }

  /** Removes a unit that was not sent again: its turns were built on a failed unit. */
  withdraw(unit: CommitUnit): void {
    const at = this.open.indexOf(unit);
    if (at < 0) {
      this.held = this.held.filter((other) => other !== unit);
      return;
    }
    this.open.splice(at, 1);
    this.openTurns -= unit.turns;
  }

  /**
   * These shards are lost. Their open units are refused now; units that were sent are not retried, even if the shards come back under
   * a new epoch: another owner may have written meanwhile.
   */
  dropShards(shards: ReadonlySet<number>): void {
    for (const unit of this.sending ?? []) unit.lost ||= shards.has(unit.shard);
    this.refuse(this.open, shards);
    this.dropBlocked(shards);
  }

  /** Resolves when no unit is open or being committed, or the commit is closed. */
  async drained(): Promise<void> {
    while (!this.closed && (this.open.length > 0 || this.sending !== null || this.blockedUnits > 0)) await this.settled();
  }

  /**
   * Resolves when no unit of these shards is open or being committed, or the commit is closed. Units that wait for a lock are refused: the
   * next owner waits for the lock instead.
   */
  async whenClear(shards: ReadonlySet<number>): Promise<void> {
    const isAffected = (unit: CommitUnit) => shards.has(unit.shard);
    const isPending = () =>
      this.open.some(isAffected) ||
      this.held.some(isAffected) ||
      this.sending?.some(isAffected) === true ||
      [...this.blocked.units].some(isAffected);
    while (!this.closed && isPending()) {
      this.dropBlocked(shards);
      if (isPending()) await this.settled();
    }
  }

  /** Closes the connections. Units whose outcome is not yet certain are never settled. */
  async close(): Promise<void> {
    this.closed = true;
    this.wakeSettledWaiters();
    await Promise.all([this.lane.close(), this.blocked.close()]);
  }

  private settled(): Promise<void> {
    return (this.nextSettled ??= Promise.withResolvers<void>()).promise;
  }

  private wakeSettledWaiters(): void {
    this.nextSettled?.resolve();
    this.nextSettled = null;
  }

  private refuse(units: readonly CommitUnit[], shards: ReadonlySet<number>): void {
    const refused = units.filter((unit) => shards.has(unit.shard));
    for (const unit of refused) this.withdraw(unit);
    for (const unit of refused) this.notify(unit, { kind: 'refused' });
    // Only in this case: otherwise several waiters in `whenClear` would wake each other endlessly and starve I/O.
    if (refused.length > 0) this.wakeSettledWaiters();
  }

  private dropBlocked(shards: ReadonlySet<number>): void {
    this.refuse(this.held, shards);
    this.blocked.drop(shards);
  }

  private schedule(): void {
    if (this.scheduled || this.sending !== null) return;
    this.scheduled = true;
    // After the I/O of this tick, so that all units of the tick are committed together.
    setImmediate(() => this.flush());
  }

  /** C5. Removes units from the open batch that must not be sent now. */
  private withholdBlocked(): void {
    const open = this.open;
    this.open = [];
    const withhold = (unit: CommitUnit) => {
      unit.lockWaitSinceMs ??= performance.now();
      this.openTurns -= unit.turns;
    };
    for (const unit of open) {
      const suspected = this.blocked.holds(unit) ? null : this.blocked.suspected(unit);
      if (suspected === null) {
        withhold(unit);
        this.held.push(unit);
      } else if (suspected.length > 0) {
        withhold(unit);
        unit.onSent();
        this.blocked.add([unit], new Set(suspected));
      } else this.open.push(unit);
    }
  }

  /** A lock was released or its waiters have failed: held units continue, in order. */
  private releaseHeld(): void {
    for (const unit of this.held) this.openTurns += unit.turns;
    this.open.unshift(...this.held.splice(0));
    for (const unit of this.open) if (!this.blocked.holds(unit)) unit.lockWaitSinceMs = null;
    if (this.open.length > 0) this.schedule();
    this.options.onCapacity();
    this.wakeSettledWaiters();
  }

  private flush(): void {
    this.scheduled = false;
    if (this.closed || this.sending !== null) return;
    if (!this.blocked.isIdle) this.withholdBlocked();
    if (this.open.length === 0) return;
    const units = this.open;
    const sentAt = performance.now();
    this.batchTurns.record(this.openTurns);
    this.sending = units;
    this.sendingSinceMs = monotonicMs();
    this.open = [];
    this.openTurns = 0;
    for (const unit of units) unit.onSent();
    const span = this.startSpan(units);
    this.send(units).then(
      (settled) => {
        this.durationS.record((performance.now() - sentAt) / 1_000);
        span?.end();
        this.settle(settled);
      },
      (defect) => {
        if (this.closed) return;
        // Only a defect in this file leads here; the units must still be settled.
        this.options.log.error({ err: defect }, 'group commit failed unexpectedly');
        const outcome: CommitOutcome = { kind: 'unavailable', error: defect as Error };
        const blocked = new Set(this.blocked.units);
        const remaining = units.filter((unit) => !blocked.has(unit));
        this.settle({ units: remaining, outcomes: remaining.map(() => outcome) });
      },
    );
  }

  /** Part of the first traced turn's trace, with links to the others. */
  private startSpan(units: readonly CommitUnit[]): Span | null {
    const { tracer = null } = this.options;
    if (tracer === null) return null;
    const [first, ...others] = units.flatMap(({ traces }) => traces ?? []).slice(0, maxLinks);
    if (first === undefined) return null;
    return tracer.startSpan('commit', first, { 'troupe.actors': units.length }, { kind: 'client', links: others });
  }

  private settle({ units, outcomes }: Settled): void {
    this.sending = null;
    this.sendingSinceMs = null;
    this.notifyFailed(units, outcomes);
    // The next batch is sent before this one is settled: the database works while this process answers callers.
    this.flush();
    this.notifyCommitted(units, outcomes);
    this.options.onCapacity();
    this.wakeSettledWaiters();
  }

  private notifyFailed(units: readonly CommitUnit[], outcomes: readonly CommitOutcome[]): void {
    this.isNotifying = true;
    for (let i = 0; i < units.length; i++) {
      if (outcomes[i]!.kind === 'committed') continue;
      this.notCommitted.add([outcomes[i]!.kind]);
      this.notify(units[i]!, outcomes[i]!);
    }
    this.isNotifying = false;
  }

  private notifyCommitted(units: readonly CommitUnit[], outcomes: readonly CommitOutcome[]): void {
    if (outcomes.some(({ kind }) => kind === 'committed')) this.lastCommitAtMs = this.clock.nowMs();
    for (let i = 0; i < units.length; i++) {
      if (outcomes[i]!.kind !== 'committed') continue;
      this.committedTurns += units[i]!.turns;
      this.deadLetters += units[i]!.deadLetters.length;
      this.notify(units[i]!, outcomes[i]!);
    }
  }

  private notify(unit: CommitUnit, outcome: CommitOutcome): void {
    try {
      unit.settle(outcome);
    } catch (error) {
      // An exception in one callback must not prevent the others.
      const actors = unit.parts.map(({ kind, id }) => `${kind}/${id}`);
      this.options.log.error({ actors, err: error }, 'the callback for a commit outcome threw');
    }
  }

  /** Sends units until each one's outcome is certain, or it was moved to `blocked`, which settles it. */
  private async send(units: CommitUnit[]): Promise<Settled> {
    const { log } = this.options;
    const settled: Settled = { units: [], outcomes: [] };
    const jobs: Job[] = [newJob(units)];
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const tried = await this.lane.try(job.units);
      if (tried.kind === 'committed') {
        if (jobs.length === 0 && settled.units.length === 0) return { units: job.units, outcomes: tried.outcomes };
        settled.units.push(...job.units);
        settled.outcomes.push(...tried.outcomes);
      } else if (tried.kind === 'locked') jobs.unshift(...(await this.withoutBlocked(job)));
      else {
        if (tried.kind === 'unreachable' && job.outages === 0)
          log.warn({ err: tried.error }, 'the database cannot be reached; commits wait');
        const next = afterTry(job, tried);
        for (const { unit, outcome } of next.settled) {
          settled.units.push(unit);
          settled.outcomes.push(outcome);
        }
        jobs.unshift(...next.jobs);
        if (next.pauseMs === 0) continue;
        if (tried.kind === 'again') log.warn({ err: tried.error, units: job.units.length }, 'commit failed, retrying batch');
        await new Promise((resolve) => setTimeout(resolve, next.pauseMs));
      }
    }
    return settled;
  }

  /** C5. Units with locked rows leave the main lane; if no locked row is found, all are tried once more and then leave. */
  private async withoutBlocked(job: Job): Promise<Job[]> {
    const { units, tries } = job;
    const names = await this.lane.locked(units);
    const leaving = units.filter((unit) => touchedOf(unit, names).length > 0);
    if (leaving.length === 0 && tries === 0) return [{ ...job, tries: 1 }];
    this.blocked.add(leaving.length === 0 ? units : leaving, names);
    if (leaving.length === 0 || leaving.length === units.length) return [];
    const removed = new Set(leaving);
    return [{ ...job, units: units.filter((unit) => !removed.has(unit)), tries: 0 }];
  }
}
