/**
 * Effects: what actors await of the outside world, between their turns. An effect is a row from the commit that recorded it until the
 * commit of the turn that took its outcome. Owns which effects are in hand; the acting itself is `effect-run.ts`.
 *
 * E1 A finished effect is never run again: while its row stands and the process that began it lives, it is in hand there.
 * E2 An effect that must not be repeated blindly commits "started by this incarnation" before it begins. Found started by a process that
 *    has ended, it is not run: its actor is told `unknown`.
 * E3 An effect that runs while its shard is handed over goes on here: "started by this incarnation" is committed before the release, so
 *    the new owner leaves it alone as long as this process lives. No model turn is paid twice because a node was added.
 * E4 The outcome is delivered until the actor, wherever it lives by then, has committed it.
 */
import type { Clock } from '../../clock.ts';
import { ownedShards, type Placement } from '../../cluster/placement.ts';
import { CountBy } from '../../counts.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { type CommitOutcome, CommitUnit, type EffectDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import type { GroupCommit } from '../../storage/group-commit.ts';
import { traceFields } from '../../trace-fields.ts';
import type { Tracer } from '../../tracing.ts';
import type { ActorSystem } from './actor-system.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { runEffect } from './effect-run.ts';
import { askElsewhere } from './elsewhere.ts';
import { newEnvelope } from './envelope.ts';

export type EffectsParts = {
  system: ActorSystem;
  commit: GroupCommit;
  database: Database;
  placement: Placement;
  clock: Clock;
  log: Log;
  /** null: nothing is traced. */
  tracer?: Tracer | null;
};
export type EffectsOptions = {
  /** Effects running at once; the others wait, in order. */
  maxRunning?: number;
  /** Effects in memory at most, running or waiting; the others stay in the database until there is room. */
  maxInHand?: number;
};

const pageSize = 500;
const redeliverMs = 250;
/** How long one try to bring an outcome to another node may take. */
const forwardTimeoutMs = 10_000;

type Held = { effect: EffectDraft; controller: AbortController; tookMs: number };

export class Effects {
  /** For metrics: runs that have ended. */
  readonly ran = new CountBy(['kind', 'effect', 'outcome']);
  private readonly inHand = new Map<string, Held>();
  /** Those in hand that have not begun, oldest first. */
  private readonly queue = new Set<Held>();
  private running = 0;
  private stopped = false;
  /** Some stand in the database alone. */
  private leftBehind = false;
  private reading = false;
  private empty: (() => void) | null = null;
  /** What ended while a page was read, which may still show it. */
  private readonly ended = new Set<string>();
  private readonly parts: EffectsParts;
  private readonly maxRunning: number;
  private readonly maxInHand: number;

  constructor(parts: EffectsParts, options: EffectsOptions = {}) {
    this.parts = parts;
    this.maxRunning = options.maxRunning ?? 256;
    this.maxInHand = options.maxInHand ?? 10_000;
  }

  get size(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.queue.size };
  }

  /** Takes effects that were just committed. */
  start(effects: EffectDraft[]): void {
    for (const effect of effects) if (!this.take(effect)) this.leftBehind = true;
    this.next();
  }

  cancel(effectIds: string[]): void {
    for (const id of effectIds) {
      this.inHand.get(id)?.controller.abort(new AppError('conflict', 'Cancelled'));
      this.letGo(id);
    }
  }

  /** Lets go of what has not begun, and commits of the rest that it goes on here. Resolves when that is committed, or refused. */
  async seal(shards: ReadonlySet<number>): Promise<void> {
    const ofThem = [...this.inHand.values()].filter(({ effect }) => shards.has(effect.shard));
    const marks = ofThem.map(async (held) => {
      if (this.queue.has(held)) this.letGo(held.effect.id);
      else if (held.effect.startedBy === null) await this.markStarted(held.effect);
    });
    await Promise.all(marks);
  }

  /** Looks again for what had to stay in the database, if anything had. */
  async sweep(): Promise<void> {
    if (!this.leftBehind || this.stopped) return;
    await this.recover().catch((error) => this.parts.log.warn({ err: error }, 'waiting effects could not be read; trying again'));
  }

  /** Goes on with what stands in the database, oldest first, as far as there is room. */
  async recover(): Promise<void> {
    this.leftBehind = true;
    if (this.reading) return;
    this.reading = true;
    try {
      while (this.leftBehind && !this.stopped && this.inHand.size < this.maxInHand) {
        this.leftBehind = false;
        await this.readAll();
      }
    } catch (error) {
      this.leftBehind = true;
      throw error;
    } finally {
      this.reading = false;
      this.ended.clear();
    }
  }

  /** Resolves when nothing is in hand. Call where nothing more comes: all shards are handed over. */
  drained(): Promise<void> {
    if (this.inHand.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.empty = resolve));
  }

  /** Ends what runs; it goes on where its shard goes. */
  stop(): void {
    this.stopped = true;
    this.queue.clear();
    for (const held of this.inHand.values()) held.controller.abort(new AppError('draining', 'The node stops'));
    this.inHand.clear();
  }

  private async readAll(): Promise<void> {
    const { database, placement } = this.parts;
    const shards = ownedShards(placement);
    for (let after = ''; ; ) {
      const { rows } = await database.read({
        name: 'effect_page',
        text: `select id, shard, kind, actor_id as "actorId", name, input, started_by as "startedBy", created_at as "createdAt" from effect where shard = any($1) and id > $2 order by id limit ${pageSize}`,
        values: [shards, after],
      });
      for (const row of rows as EffectDraft[]) {
        if (this.ended.has(row.id) || this.runsElsewhere(row)) continue;
        if (!this.take(row)) this.leftBehind = true;
      }
      this.ended.clear();
      this.next();
      if (rows.length < pageSize || this.inHand.size >= this.maxInHand) {
        this.leftBehind ||= rows.length === pageSize;
        return;
      }
      after = rows[rows.length - 1].id;
    }
  }

  /** The process that began it brings the outcome; should it end first, its end is told. */
  private runsElsewhere({ startedBy }: EffectDraft): boolean {
    const { placement } = this.parts;
    return startedBy !== null && startedBy !== placement.owner && placement.isAlive(startedBy);
  }

  /** True when it is in hand or another node's; false when there is no room for it. */
  private take(effect: EffectDraft): boolean {
    if (this.stopped || this.inHand.has(effect.id) || this.parts.placement.epochOf(effect.shard) === null) return true;
    if (this.inHand.size >= this.maxInHand) return false;
    const held: Held = { effect, controller: new AbortController(), tookMs: 0 };
    this.inHand.set(effect.id, held);
    if (this.definitionOf(effect)?.isBrief) this.begin(held);
    else this.queue.add(held);
    return true;
  }

  /** It is over, and its row is gone or another's. */
  private letGo(id: string): void {
    const held = this.inHand.get(id);
    if (held !== undefined) this.queue.delete(held);
    this.inHand.delete(id);
    if (this.inHand.size === 0) this.empty?.();
    if (this.reading) this.ended.add(id);
    if (!this.reading && this.inHand.size <= this.maxInHand / 2) void this.sweep();
  }

  private next(): void {
    for (const held of this.queue) {
      if (this.running >= this.maxRunning) return;
      this.queue.delete(held);
      this.begin(held);
    }
  }

  private begin(held: Held): void {
    this.running++;
    void this.run(held)
      .catch((error) => this.parts.log.error({ ...about(held), err: error }, 'an effect could not be run'))
      .finally(() => {
        this.running--;
        this.next();
      });
  }

  private definitionOf({ kind, name }: EffectDraft): EffectDefinition | undefined {
    return this.parts.system.kinds.get(kind)?.definition.effects?.[name];
  }

  private async run(held: Held): Promise<void> {
    const { effect, controller } = held;
    const { log } = this.parts;
    const definition = this.definitionOf(effect);
    if (definition === undefined) {
      // A version that knows it will find it; nothing is lost meanwhile.
      log.error(
        { effect: effect.name, kind: effect.kind, id: effect.actorId },
        'an effect that this version does not know stays where it is',
      );
      return;
    }
    const repeatable = isRepeatable(definition, effect.input, log);
    if (effect.startedBy !== null && !repeatable) return this.deliver(held, definition, { kind: 'unknown' });
    // One that was another's is marked anew, so that whoever comes next asks after the right process.
    if ((effect.startedBy !== null || !repeatable) && !(await this.markStarted(effect))) {
      // It has not begun. Whoever owns the shard finds it in the database.
      this.leftBehind = true;
      return this.letGo(effect.id);
    }
    if (controller.signal.aborted) return;
    this.deliver(held, definition, await this.perform(held, definition));
  }

  /** Runs it as part of the trace of the turn that recorded it; the turn that takes the outcome goes on there. */
  private async perform(held: Held, definition: EffectDefinition): Promise<EffectOutcome> {
    const { effect, controller } = held;
    const { tracer = null, log } = this.parts;
    const attributes = { 'troupe.actor.kind': effect.kind, 'troupe.actor.id': effect.actorId, 'troupe.effect.id': effect.id };
    const span = tracer?.startSpan(`effect ${effect.kind} ${effect.name}`, effect.trace ?? null, attributes) ?? null;
    if (span !== null) effect.trace = span.traceparent;
    const run = () => runEffect(effect, definition, controller, log);
    const beganAtMs = performance.now();
    const outcome = await (tracer === null || span === null ? run() : tracer.within(span.traceparent, run));
    held.tookMs = Math.round(performance.now() - beganAtMs);
    span?.end(outcome.kind === 'done' ? null : outcome.kind);
    this.ran.add([effect.kind, effect.name, outcome.kind]);
    return outcome;
  }

  /** E2, E3. Resolves with whether it is committed. */
  private async markStarted(effect: EffectDraft): Promise<boolean> {
    const outcome = await new Promise<CommitOutcome>((resolve) => {
      const unit = new CommitUnit(effect.shard, resolve);
      unit.startedEffects.push(effect.id);
      this.parts.commit.add(unit);
      this.parts.commit.addTurn(unit);
    });
    if (outcome.kind === 'committed') effect.startedBy = this.parts.placement.owner;
    return outcome.kind === 'committed';
  }

  private deliver(held: Held, definition: EffectDefinition, outcome: EffectOutcome): void {
    const { effect } = held;
    const { system, placement } = this.parts;
    if (this.isOver(held)) return;
    if (placement.epochOf(effect.shard) === null) return void this.forward(held, definition, outcome);
    const input = { effectId: effect.id, outcome, tookMs: held.tookMs };
    const envelope = newEnvelope(definition.outcome, input, Infinity, null, { kind: 'effect', id: effect.id }, effect.trace ?? null);
    envelope.resolve = () => this.letGo(effect.id);
    envelope.reject = () => void setTimeout(() => this.deliver(held, definition, outcome), redeliverMs).unref();
    if (!system.deliver(effect.kind, effect.actorId, envelope)) envelope.reject(busy);
  }

  /** Brings the outcome to the node where the actor lives now; back here, should that be this one again. */
  private async forward(held: Held, definition: EffectDefinition, outcome: EffectOutcome): Promise<void> {
    const { shard, kind, actorId, id } = held.effect;
    const { placement, clock, log } = this.parts;
    const deadlineMs = clock.nowMs() + forwardTimeoutMs;
    const input = { effectId: id, outcome, tookMs: held.tookMs };
    const ask = {
      kind,
      id: actorId,
      name: definition.outcome,
      input,
      query: false,
      deadlineMs,
      commandId: null,
      effectId: id,
      trace: held.effect.trace ?? null,
    };
    const gaveUp = () => this.isOver(held) || clock.nowMs() >= deadlineMs;
    try {
      const answer = await askElsewhere(placement, shard, ask, gaveUp, () => {});
      if (answer !== 'here' && answer !== 'given up') return this.letGo(id);
    } catch (error) {
      log.debug({ ...about(held), err: error }, 'an outcome could not be brought to its actor yet; trying again');
    }
    setTimeout(() => this.deliver(held, definition, outcome), redeliverMs).unref();
  }

  /** It was cancelled, or this node stops. */
  private isOver(held: Held): boolean {
    return this.stopped || this.inHand.get(held.effect.id) !== held;
  }
}

function about({ effect }: Held): object {
  return { effect: effect.name, kind: effect.kind, id: effect.actorId, ...traceFields(effect.trace) };
}

const busy = new AppError('overloaded', 'No room for the outcome now');

/** What cannot be told is not repeated. */
function isRepeatable(definition: EffectDefinition, input: unknown, log: Log): boolean {
  try {
    return definition.repeatable(input);
  } catch (error) {
    log.error({ err: error }, 'whether an effect may be repeated could not be told');
    return false;
  }
}
