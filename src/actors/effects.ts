/**
 * Effects: calls of actors to the outside world, between their turns. An effect is a row from the commit that recorded it until the commit
 * of the turn that took its outcome. Owns which effects are in flight; concurrency limits are `effect-lanes.ts`, one run is
 * `effect-run.ts`, and the delivery of outcomes (E4) `effect-outcomes.ts`.
 *
 * E1 A finished effect is never run again: while its row exists and the process that started it lives, it is in flight there.
 * E2 An effect that must not be repeated blindly commits "started by this incarnation" before it starts. If the process that started it has
 *    ended, it is not run: its actor gets `unknown`.
 * E3 An effect that runs while its shard is handed over continues here: "started by this incarnation" is committed before the release, so
 *    the new owner does not run it while this process lives, and no model turn is paid twice because a node was added. An effect that has
 *    not started is released with its shard, whether handed over or lost: another node may have run it before the shard returns.
 * E5 An effect whose process died while it may have run is a suspect: it is started again only after the start is counted durably. After
 *    `maxStarts` it is not started again: it becomes a dead letter, and its actor gets `failed`. The first restart runs together with all
 *    other effects; later ones run one suspect at a time, after a pause: so an effect that kills processes affects no others, and one that
 *    only ran at the same time does not become a dead letter.
 * E6 Accounts are served round-robin in each lane, and no account can use all slots of a lane or all of `maxInFlight`.
 */
import type { Clock } from '../clock.ts';
import { ownedShards, type Placement } from '../cluster/placement.ts';
import { CountBy } from '../counts.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type CommitOutcome, CommitUnit, type EffectDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import type { Tracer } from '../tracing.ts';
import { abandonedMessage, isolatedMs, maxStarts, suspectPauseMs } from './abandoned-effect.ts';
import { AccountShares } from './account-shares.ts';
import type { ActorSystem } from './actor-system.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { holderOf, suspectedOf } from './effect-holders.ts';
import { EffectLanes, type LaneLimits, type LaneSizes } from './effect-lanes.ts';
import { EffectOutcomes, type InFlightEffect } from './effect-outcomes.ts';
import { effectLogFields, isRepeatable, runEffect } from './effect-run.ts';
import type { LeftWork } from './left-work.ts';
import { parsedName } from './recorded-name.ts';

export type EffectsParts = {
  system: ActorSystem;
  commit: GroupCommit;
  database: Database;
  placement: Placement;
  clock: Clock;
  log: Log;
  left: LeftWork;
  /** null: effects are not traced. */
  tracer?: Tracer | null;
};
export type EffectsOptions = {
  /** Limits of every lane, instead of its own. */
  laneLimits?: LaneLimits;
  /** Pause before a suspect that was restarted before starts again (`suspectPauseMs`). */
  suspectPauseMs?: number;
  /** Most effects in memory, running or waiting; the others stay in the database until some have ended. */
  maxInFlight?: number;
};

const pageSize = 500;

export class Effects {
  /** For metrics: runs that have ended. */
  readonly ran = new CountBy(['kind', 'effect', 'outcome']);
  /** For metrics: E5. */
  abandoned = 0;
  private readonly inFlight = new Map<string, InFlightEffect>();
  private readonly lanes: EffectLanes<InFlightEffect>;
  private running = 0;
  private stopped = false;
  /** Some effects of this node's shards are only in the database. */
  private hasUnloaded = false;
  /** Effects of an account beyond its share stay in the database. */
  private readonly shares: AccountShares;
  /** Shards that this node has taken from dead owners, while it has them. */
  private readonly orphaned = new Set<number>();
  private reading = false;
  private onDrained: (() => void) | null = null;
  /** Effects that ended while a page was read; the page may still contain them. */
  private readonly ended = new Set<string>();
  private readonly outcomes: EffectOutcomes;
  /** Shards that were lost while a page was read; their rows are out of date. */
  private readonly lostInPage = new Set<number>();
  private readonly parts: EffectsParts;
  private readonly maxInFlight: number;
  private readonly pauseMs: number;

  constructor(parts: EffectsParts, options: EffectsOptions = {}) {
    this.parts = parts;
    this.outcomes = new EffectOutcomes({
      ...parts,
      isOver: (held) => this.isOver(held),
      release: (id) => this.release(id),
    });
    this.lanes = new EffectLanes(options.laneLimits);
    this.maxInFlight = options.maxInFlight ?? 10_000;
    this.pauseMs = options.suspectPauseMs ?? suspectPauseMs;
    this.shares = new AccountShares(Math.ceil(this.maxInFlight / 4));
  }

  /** `running` includes brief effects, which need no slot. */
  get size(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.laneSizes.reduce((sum, { waiting }) => sum + waiting, 0) };
  }

  get laneSizes(): LaneSizes {
    return this.lanes.sizes;
  }

  /** Call before `recover`. */
  acquired(shards: readonly number[], orphaned: readonly number[]): void {
    for (const shard of shards) this.orphaned.delete(shard);
    for (const shard of orphaned) this.orphaned.add(shard);
  }

  /** Takes effects that were just committed. */
  start(effects: EffectDraft[]): void {
    for (const effect of effects) if (!this.take(effect)) this.hasUnloaded = true;
    this.startWaiting();
  }

  cancel(effectIds: string[]): void {
    for (const id of effectIds) {
      this.inFlight.get(id)?.controller.abort(new AppError('conflict', 'Cancelled'));
      this.release(id);
    }
  }

  /** Releases effects that have not started, and commits for the others that they continue here. Resolves when that is committed, or refused. */
  async seal(shards: ReadonlySet<number>): Promise<void> {
    const ofThem = [...this.inFlight.values()].filter(({ effect }) => shards.has(effect.shard));
    const marks = ofThem.map(async (held) => {
      if (!held.hasBegun) this.release(held.effect.id);
      else if (held.mark !== null || held.effect.startedBy === null) await this.markStarted(held);
    });
    await Promise.all(marks);
  }

  /**
   * Another node owns these shards: effects that have not started are released. Running ones continue, and their outcome is delivered to
   * the new owner.
   */
  lost(shards: ReadonlySet<number>): void {
    if (this.reading) for (const shard of shards) this.lostInPage.add(shard);
    for (const { effect, hasBegun } of [...this.inFlight.values()]) if (!hasBegun && shards.has(effect.shard)) this.release(effect.id);
  }

  /** Reads effects that had to stay in the database, if there are any. */
  async sweep(): Promise<void> {
    if (!this.hasUnloaded || this.stopped) return;
    await this.recover().catch((error) => this.parts.log.warn({ err: error }, 'waiting effects could not be read; retrying'));
  }

  /** Starts the effects in the database, oldest first, up to the limit. */
  async recover(): Promise<void> {
    this.hasUnloaded = true;
    if (this.reading) return;
    this.reading = true;
    try {
      while (this.hasUnloaded && !this.stopped && this.inFlight.size < this.maxInFlight) {
        this.hasUnloaded = false;
        await this.readAll();
      }
    } catch (error) {
      this.hasUnloaded = true;
      throw error;
    } finally {
      this.reading = false;
      this.ended.clear();
    }
  }

  /** Resolves when no effect is in flight. Call when all shards are handed over. */
  drained(): Promise<void> {
    if (this.inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.onDrained = resolve));
  }

  /** While paused, no model turn and no tool call starts, so that agents write nothing new; mails and payments continue. */
  pause(paused: boolean): void {
    this.lanes.isPaused = paused;
    this.startWaiting();
  }

  /** Aborts running effects; the next owner of the shard runs them again. */
  stop(): void {
    this.stopped = true;
    this.lanes.clear();
    for (const held of this.inFlight.values()) held.controller.abort(new AppError('draining', 'The node stops'));
    this.inFlight.clear();
  }

  private async readAll(): Promise<void> {
    const { database, placement } = this.parts;
    const shards = ownedShards(placement);
    for (let after = ''; ; ) {
      this.lostInPage.clear();
      const { rows } = await database.read({
        name: 'effect_page',
        text: `select id, shard, kind, actor_id as "actorId", name, input, started_by as "startedBy", recorded_by as "recordedBy",
          account_id as "accountId", starts, created_at as "createdAt" from effect
          where shard = any($1) and id > $2 and coalesce(account_id, '') <> all($3) and kind || '/' || name <> all($4)
          order by id limit ${pageSize}`,
        values: [shards, after, this.shares.full, this.parts.left.namesIn('effect')],
      });
      const found = (rows as EffectDraft[]).filter((row) => !this.runsElsewhere(row));
      const suspected = await suspectedOf(found, this.parts, this.orphaned);
      for (const row of found) {
        if (this.ended.has(row.id)) continue;
        if (this.lostInPage.has(row.shard) || !this.take(row, suspected.has(row.id))) this.hasUnloaded = true;
      }
      this.ended.clear();
      this.startWaiting();
      if (rows.length < pageSize || this.inFlight.size >= this.maxInFlight) {
        this.hasUnloaded ||= rows.length === pageSize;
        return;
      }
      after = rows[rows.length - 1].id;
    }
  }

  /** The process that started it delivers the outcome; if it dies first, `onGone` is called. */
  private runsElsewhere({ startedBy }: EffectDraft): boolean {
    const { placement } = this.parts;
    return startedBy !== null && startedBy !== placement.owner && placement.isAlive(startedBy);
  }

  /** True if it is in flight, another node's, left, or beyond its account's share; false if the limit is reached. */
  private take(effect: EffectDraft, isSuspect = false): boolean {
    if (this.stopped || this.inFlight.has(effect.id) || this.parts.placement.epochOf(effect.shard) === null) return true;
    if (!this.parts.left.isSupported('effect', effect.kind, effect.name)) return true;
    if (this.inFlight.size >= this.maxInFlight) return false;
    const account = effect.accountId ?? '';
    if (!this.shares.add(account)) return true;
    const definition = this.definitionOf(effect)!;
    // An effect that must not be repeated is not started again (E2), so it is no suspect.
    const isSuspected = isSuspect && this.isRepeatable(effect);
    const held: InFlightEffect = {
      effect,
      controller: new AbortController(),
      tookMs: 0,
      isSuspect: isSuspected,
      isAlone: isSuspected && effect.starts > 0,
      hasBegun: false,
      mark: null,
    };
    this.inFlight.set(effect.id, held);
    if (isSuspected && effect.starts >= maxStarts - 1) this.abandon(held, definition);
    else if (held.isAlone) this.isolate(held, account);
    else if (definition.isBrief) this.startRun(held);
    else this.lanes.add(held, account, definition.lane ?? 'tool');
    return true;
  }

  /** Restarts it alone; from the second restart on after a pause. */
  private isolate(held: InFlightEffect, account: string): void {
    if (held.effect.starts === 1) return this.lanes.add(held, account, 'suspect');
    setTimeout(() => {
      if (this.isOver(held)) return;
      this.lanes.add(held, account, 'suspect');
      this.startWaiting();
    }, this.pauseMs).unref();
  }

  /** The effect has ended here, and its row is deleted or another node's. */
  private release(id: string): void {
    const held = this.inFlight.get(id);
    if (held !== undefined) {
      this.inFlight.delete(id);
      if (!held.hasBegun) this.lanes.remove(held);
    }
    const hasCapacity = held !== undefined && this.shares.remove(held.effect.accountId ?? '');
    this.hasUnloaded ||= hasCapacity;
    if (this.inFlight.size === 0) this.onDrained?.();
    if (this.reading) this.ended.add(id);
    else if (hasCapacity || this.inFlight.size <= this.maxInFlight / 2) void this.sweep();
  }

  private startWaiting(): void {
    for (let held = this.lanes.take(); held !== null; held = this.lanes.take()) this.startRun(held);
  }

  private startRun(held: InFlightEffect): void {
    this.running++;
    held.hasBegun = true;
    const isolated = held.isAlone ? setTimeout(() => this.freeSlot(held), isolatedMs) : undefined;
    isolated?.unref();
    void this.run(held)
      .catch((error) => this.parts.log.error({ ...effectLogFields(held.effect), err: error }, 'an effect could not be run'))
      .finally(() => {
        this.running--;
        clearTimeout(isolated);
        this.freeSlot(held);
      });
  }

  private freeSlot(held: InFlightEffect): void {
    this.lanes.remove(held);
    this.startWaiting();
  }

  private definitionOf({ kind, name }: EffectDraft): EffectDefinition | undefined {
    return this.parts.system.kinds.get(kind)?.definition.effects?.[parsedName(name).name];
  }

  private async run(held: InFlightEffect): Promise<void> {
    const { effect, controller } = held;
    const definition = this.definitionOf(effect)!;
    const repeatable = this.isRepeatable(effect);
    if (effect.startedBy !== null && !repeatable) return this.outcomes.deliver(held, definition, { kind: 'unknown' });
    // `startedBy` of another process is replaced, so that the next owner checks the right one.
    const isFromOtherProcess = holderOf(effect) !== null && holderOf(effect) !== this.parts.placement.owner;
    // Taken before the mark below, which replaces `startedBy`.
    const isRepeat = isFromOtherProcess || effect.startedBy !== null;
    if ((isRepeat || !repeatable) && !(await this.markStarted(held, held.isSuspect))) {
      // It has not started. The shard's owner reads it from the database.
      this.hasUnloaded = true;
      return this.release(effect.id);
    }
    if (controller.signal.aborted) return;
    // What an earlier run asked under the effect's id may still arrive: this run must not be refused before it, and that one taken after it.
    const ended = isRepeat ? this.parts.system.repeated.begin([effect.id]) : null;
    const outcome = await this.perform(held, definition, isRepeat).finally(() => ended?.());
    // Stopped with this node: it stays in flight until the process has ended, and the next owner runs it.
    if (outcome !== null) this.outcomes.deliver(held, definition, outcome);
  }

  /** Runs it in the trace of the turn that recorded it; the turn that takes the outcome continues the trace. */
  private async perform(held: InFlightEffect, definition: EffectDefinition, isRepeat: boolean): Promise<EffectOutcome | null> {
    const { effect, controller } = held;
    const { tracer = null, log } = this.parts;
    const attributes = { 'troupe.actor.kind': effect.kind, 'troupe.actor.id': effect.actorId, 'troupe.effect.id': effect.id };
    const span = tracer?.startSpan(`effect ${effect.kind} ${effect.name}`, effect.trace ?? null, attributes) ?? null;
    if (span !== null) effect.trace = span.traceparent;
    // E5: another suspect must not run beside it.
    const releaseSlot = () => held.isAlone || this.freeSlot(held);
    const run = () => runEffect(effect, definition, controller, { log, repeatable: this.isRepeatable(effect), isRepeat, releaseSlot });
    const beganAtMs = performance.now();
    const outcome = await (tracer === null || span === null ? run() : tracer.within(span.traceparent, run));
    held.tookMs = Math.round(performance.now() - beganAtMs);
    const end = outcome?.kind ?? 'stopped';
    span?.end(end === 'done' ? null : end);
    this.ran.add([effect.kind, effect.name, end]);
    return outcome;
  }

  /**
   * E2, E3, and with `countsStart` E5. Resolves with whether the start is committed. A run and a seal at the same time share one mark: of two,
   * the second could be committed after the first was refused and the run was given up, and the effect would run nowhere.
   */
  private markStarted(held: InFlightEffect, countsStart = false): Promise<boolean> {
    held.mark ??= this.commitMark(held.effect, countsStart).then((isCommitted) => {
      if (!isCommitted) held.mark = null;
      return isCommitted;
    });
    return held.mark;
  }

  private async commitMark(effect: EffectDraft, countsStart: boolean): Promise<boolean> {
    const outcome = await new Promise<CommitOutcome>((resolve) => {
      const unit = new CommitUnit(effect.shard, resolve);
      (countsStart ? unit.restartedEffects : unit.startedEffects).push(effect.id);
      this.parts.commit.add(unit);
      this.parts.commit.addTurn(unit);
    });
    if (outcome.kind !== 'committed') return false;
    effect.startedBy = this.parts.placement.owner;
    if (countsStart) effect.starts++;
    return true;
  }

  /** E5. */
  private abandon(held: InFlightEffect, definition: EffectDefinition): void {
    const { kind, name } = held.effect;
    this.parts.log.error(
      { ...effectLogFields(held.effect), starts: maxStarts },
      'the process that ran this effect died too often; the effect is not started again',
    );
    this.ran.add([kind, name, 'abandoned']);
    this.abandoned++;
    this.outcomes.deliver(held, definition, { kind: 'failed', message: abandonedMessage, abandoned: true });
  }

  private isRepeatable(effect: EffectDraft): boolean {
    const definition = this.definitionOf(effect);
    return definition !== undefined && isRepeatable(definition, effect.input, this.parts.log);
  }

  /** It was cancelled, or this node stops. */
  private isOver(held: InFlightEffect): boolean {
    return this.stopped || this.inFlight.get(held.effect.id) !== held;
  }
}
