/**
 * Units that wait for a lock of another session, outside the main lane. They are retried in short tries on a few separate lanes, until the
 * lock is released or their time is up. So a lock delays only the actors that need it.
 *
 * B1 While a unit is here, no other unit of its actors is sent; while a counter or a shard is locked, no other unit that needs it is sent.
 * B2 Rows whose lock was not released in time are recorded: later units for them are tried here first, not in the main lane.
 * B3 A try holds its locks only during its short wait; between tries no lock is held.
 */

import { performance } from 'node:perf_hooks';
import { backoffMs } from '../backoff.ts';
import type { Log } from '../log.ts';
import type { CommitLane } from './commit-lane.ts';
import { afterTry, halves, type Job, newJob, type Try } from './commit-try.ts';
import type { CommitOutcome, CommitUnit } from './commit-unit.ts';
import { isShared, touchedOf } from './locked-rows.ts';

export type BlockedUnitsOptions = {
  lanes: readonly CommitLane[];
  log: Log;
  /** Lock time-out of the main lane; a first try here waits half as long, later ones up to `longestWait` times as long. */
  lockTimeoutMs: number;
  settle(units: CommitUnit[], outcomes: CommitOutcome[]): void;
  /** Units were settled: units that waited for them may be sent. */
  onRemoved(): void;
};

/** In multiples of the lock time-out. */
const maxWaitFactor = 5;
/** In multiples of the lock time-out: 8 s by default, shorter than a caller's deadline of 10 s, so the caller is informed that nothing was done. */
const timeLimitFactor = 40;
const maxPauseMs = 500;
const firstPauseMs = 25;
const suspectedForMs = 30_000;
const maxSuspects = 10_000;
/** An idle connection is closed after this time. */
const idleConnectionMs = 30_000;

type Waiting = Job & {
  /** The shared rows that all units of the job wait for; empty: each waits for rows of its own, or for unknown ones. */
  shared: readonly string[];
  dueMs: number;
};

export class BlockedUnits {
  private readonly jobs: Waiting[] = [];
  private readonly inFlight = new Set<Waiting>();
  /** B1: names of rows that the units here need, with the number of units. */
  private readonly needed = new Map<string, number>();
  private readonly namesOf = new Map<CommitUnit, readonly string[]>();
  /** B2: names of rows, each with its expiry. */
  private readonly suspects = new Map<string, number>();
  private readonly free: CommitLane[];
  private timer: NodeJS.Timeout | null = null;
  private idleTimer: NodeJS.Timeout | null = null;
  private closed = false;
  private readonly options: BlockedUnitsOptions;

  constructor(options: BlockedUnitsOptions) {
    this.options = options;
    this.free = [...options.lanes];
  }

  /** Number of waiting units. */
  get size(): number {
    return this.namesOf.size;
  }

  get units(): Iterable<CommitUnit> {
    return this.namesOf.keys();
  }

  /** No row is blocked or suspected: a batch can be sent without checks. */
  get isIdle(): boolean {
    return this.namesOf.size === 0 && this.suspects.size === 0;
  }

  /** B1. Whether a unit has to wait for units here. */
  holds(unit: CommitUnit): boolean {
    if (this.namesOf.size === 0) return false;
    return actorsOf(unit).some((name) => this.needed.has(name)) || touchedOf(unit, this.needed).length > 0;
  }

  /** B2. The rows of a unit whose lock was recently not released in time. */
  suspected(unit: CommitUnit): string[] {
    if (this.suspects.size === 0) return [];
    const nowMs = performance.now();
    const names = [...actorsOf(unit).filter((name) => this.suspects.has(name)), ...touchedOf(unit, this.suspects)];
    return names.filter((name) => this.suspects.get(name)! > nowMs || !this.suspects.delete(name));
  }

  /** @param locked names of the rows that the units wait for, as far as known */
  add(units: readonly CommitUnit[], locked: ReadonlySet<string>): void {
    const nowMs = performance.now();
    const groups = new Map<string, CommitUnit[]>();
    const unknown: CommitUnit[] = [];
    for (const unit of units) {
      unit.lockWaitSinceMs ??= nowMs;
      const touched = touchedOf(unit, locked);
      const shared = touched.filter(isShared);
      const names = [...actorsOf(unit), ...shared];
      this.namesOf.set(unit, names);
      for (const name of names) this.needed.set(name, (this.needed.get(name) ?? 0) + 1);
      const [first] = shared;
      if (first !== undefined) groups.set(first, [...(groups.get(first) ?? []), unit]);
      else if (touched.length > 0 || actorsOf(unit).some(has(locked))) this.addJob([unit], []);
      else unknown.push(unit);
    }
    for (const [name, group] of groups) this.addJob(group, [name]);
    if (unknown.length > 0) this.addJob(unknown, []);
    this.begin();
  }

  /** Units of these shards are not retried: they are refused as soon as it is certain that they were not committed. */
  drop(shards: ReadonlySet<number>): void {
    for (const job of [...this.jobs, ...this.inFlight]) {
      for (const unit of job.units) unit.lost ||= shards.has(unit.shard);
      if (job.units.some(({ lost }) => lost)) job.dueMs = 0;
    }
    this.begin();
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const timer of [this.timer, this.idleTimer]) if (timer !== null) clearTimeout(timer);
    await Promise.all(this.options.lanes.map((lane) => lane.close()));
  }

  private addJob(units: CommitUnit[], shared: readonly string[]): void {
    this.jobs.push({ ...newJob(units), shared, dueMs: 0 });
  }

  /** Gives every free lane a due job, and sets a timer for the next one. */
  private begin(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.closed) return;
    const nowMs = performance.now();
    while (this.free.length > 0) {
      const at = this.jobs.findIndex(({ dueMs }) => dueMs <= nowMs);
      if (at < 0) break;
      const [job] = this.jobs.splice(at, 1);
      this.inFlight.add(job!);
      void this.run(this.free.pop()!, job!);
    }
    if (this.jobs.length > 0 && this.free.length > 0) {
      const dueMs = this.jobs.reduce((first, job) => Math.min(first, job.dueMs), Number.POSITIVE_INFINITY);
      this.timer = setTimeout(() => this.begin(), Math.max(1, dueMs - nowMs));
    }
    this.idleTimer ??= setTimeout(() => this.closeIdle(), idleConnectionMs).unref();
  }

  private closeIdle(): void {
    const nowMs = performance.now();
    for (const [name, untilMs] of this.suspects) if (untilMs <= nowMs) this.suspects.delete(name);
    const isWorking = this.jobs.length + this.inFlight.size > 0;
    if (!isWorking) for (const lane of this.free) lane.closeConnection();
    this.idleTimer = isWorking || this.suspects.size > 0 ? setTimeout(() => this.closeIdle(), idleConnectionMs).unref() : null;
  }

  private async run(lane: CommitLane, job: Waiting): Promise<void> {
    const { lockTimeoutMs, log } = this.options;
    try {
      const tried = await lane.try(job.units, Math.ceil(lockTimeoutMs * Math.min(maxWaitFactor, 2 ** (job.tries - 1))));
      await this.handleTry(lane, job, tried);
    } catch (error) {
      if (!this.closed) {
        log.error({ err: error }, 'a blocked commit failed unexpectedly');
        this.settle(job.units, { kind: 'unavailable', error: error as Error });
      }
    }
    this.inFlight.delete(job);
    this.free.push(lane);
    this.begin();
  }

  private async handleTry(lane: CommitLane, job: Waiting, tried: Try): Promise<void> {
    const { log } = this.options;
    if (tried.kind === 'committed') {
      for (const unit of job.units) for (const name of this.suspected(unit)) this.suspects.delete(name);
      this.remove(job.units, tried.outcomes);
    } else if (tried.kind === 'locked') await this.stillLocked(lane, job, tried.error);
    else {
      if (tried.kind !== 'lost') log.warn({ err: tried.error, units: job.units.length }, 'commit of blocked units failed, retrying');
      const { settled, jobs, pauseMs } = afterTry(job, tried);
      const dueMs = performance.now() + pauseMs;
      this.jobs.push(...jobs.map((next): Waiting => ({ ...next, shared: job.shared, dueMs })));
      for (const { unit, outcome } of settled) this.settle([unit], outcome);
    }
  }

  private async stillLocked(lane: CommitLane, job: Waiting, error: Error): Promise<void> {
    const { units, shared } = job;
    const isOneWait = units.length === 1 || (shared.length > 0 && shared.some(has(await lane.locked(units))));
    const nowMs = performance.now();
    if (!isOneWait) return void this.jobs.push(...halves(job, 0).map((half): Waiting => ({ ...half, shared: [], dueMs: nowMs })));
    const tries = job.tries + 1;
    const untilMs = nowMs - timeLimitFactor * this.options.lockTimeoutMs;
    const expired = units.filter(({ lockWaitSinceMs }) => lockWaitSinceMs! <= untilMs);
    const waiting = units.filter(({ lockWaitSinceMs }) => lockWaitSinceMs! > untilMs);
    if (waiting.length > 0) {
      const dueMs = nowMs + backoffMs(tries, firstPauseMs, maxPauseMs);
      this.jobs.push({ ...job, units: waiting, tries, dueMs });
    }
    if (expired.length === 0) return;
    this.options.log.warn({ err: error, units: expired.length }, 'a lock of another session was not released in time');
    for (const unit of expired) this.suspect(this.namesOf.get(unit)!);
    this.settle(expired, { kind: 'unavailable', error });
  }

  private suspect(names: readonly string[]): void {
    const untilMs = performance.now() + suspectedForMs;
    for (const name of names) {
      if (this.suspects.size >= maxSuspects) this.suspects.delete(this.suspects.keys().next().value!);
      this.suspects.set(name, untilMs);
    }
  }

  private settle(units: CommitUnit[], outcome: CommitOutcome): void {
    this.remove(
      units,
      units.map(() => outcome),
    );
  }

  /** Settles first: turns built on an uncommitted unit must be withdrawn before they can be sent. */
  private remove(units: CommitUnit[], outcomes: CommitOutcome[]): void {
    this.options.settle(units, outcomes);
    for (const unit of units) {
      for (const name of this.namesOf.get(unit) ?? []) {
        const remaining = this.needed.get(name)! - 1;
        if (remaining === 0) this.needed.delete(name);
        else this.needed.set(name, remaining);
      }
      this.namesOf.delete(unit);
    }
    this.options.onRemoved();
  }
}

function actorsOf({ parts }: CommitUnit): string[] {
  return parts.map(({ kind, id }) => `actor ${kind}/${id}`);
}

function has(names: ReadonlySet<string>): (name: string) => boolean {
  return (name) => names.has(name);
}
