/**
 * Effects: what actors await of the outside world, between their turns. An effect is a row from the commit that recorded it until the
 * commit of the turn that took its outcome. Owns which effects are in hand; the acting itself is `effect-run.ts`.
 *
 * E1 A finished effect is never run again: while its row stands and this process lives, it is in hand here.
 * E2 An effect that must not be repeated blindly commits "started by this incarnation" before it begins. Found started in the database, it
 *    is not run: its actor is told `unknown`.
 * E3 The outcome is delivered until the actor has committed it, or this node has lost the shard.
 */
import type { Placement } from '../../cluster/placement.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { type CommitOutcome, CommitUnit, type EffectDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import type { GroupCommit } from '../../storage/group-commit.ts';
import type { ActorSystem } from './actor-system.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { runEffect } from './effect-run.ts';
import { newEnvelope } from './envelope.ts';

export type EffectsParts = { system: ActorSystem; commit: GroupCommit; database: Database; placement: Placement; log: Log };
export type EffectsOptions = {
  /** Effects running at once; the others wait, in order. */
  maxRunning?: number;
  /** Effects in memory at most, running or waiting; the others stay in the database until there is room. */
  maxInHand?: number;
};

const pageSize = 500;
const redeliverMs = 250;

type Held = { effect: EffectDraft; controller: AbortController };

export class Effects {
  private readonly inHand = new Map<string, Held>();
  /** Those in hand that have not begun, oldest first. */
  private readonly queue = new Set<Held>();
  private running = 0;
  private stopped = false;
  /** Some stand in the database alone. */
  private leftBehind = false;
  private reading = false;
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

  /** Ends what runs; it goes on where its shard goes. */
  stop(): void {
    this.stopped = true;
    this.queue.clear();
    for (const held of this.inHand.values()) held.controller.abort(new AppError('draining', 'The node stops'));
    this.inHand.clear();
  }

  private async readAll(): Promise<void> {
    const { database, placement } = this.parts;
    for (let after = ''; ; ) {
      const { rows } = await database.read({
        name: 'effect_page',
        text: `select id, shard, kind, actor_id as "actorId", name, input, started_by as "startedBy", created_at as "createdAt" from effect where id > $1 order by id limit ${pageSize}`,
        values: [after],
      });
      for (const row of rows as EffectDraft[]) {
        if (placement.epochOf(row.shard) === null || this.ended.has(row.id)) continue;
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

  /** False when there is no room for it. */
  private take(effect: EffectDraft): boolean {
    if (this.stopped || this.inHand.has(effect.id)) return true;
    if (this.inHand.size >= this.maxInHand) return false;
    const held: Held = { effect, controller: new AbortController() };
    this.inHand.set(effect.id, held);
    this.queue.add(held);
    return true;
  }

  /** It is over, and its row is gone or another's. */
  private letGo(id: string): void {
    const held = this.inHand.get(id);
    if (held !== undefined) this.queue.delete(held);
    this.inHand.delete(id);
    if (this.reading) this.ended.add(id);
    if (!this.reading && this.inHand.size <= this.maxInHand / 2) void this.sweep();
  }

  private next(): void {
    for (const held of this.queue) {
      if (this.running >= this.maxRunning) return;
      this.queue.delete(held);
      this.running++;
      void this.run(held)
        .catch((error) => this.parts.log.error({ effect: held.effect.name, err: error }, 'an effect could not be run'))
        .finally(() => {
          this.running--;
          this.next();
        });
    }
  }

  private async run(held: Held): Promise<void> {
    const { effect, controller } = held;
    const { system, log } = this.parts;
    const definition = system.kinds.get(effect.kind)?.definition.effects?.[effect.name] as EffectDefinition | undefined;
    if (definition === undefined) {
      // A version that knows it will find it; nothing is lost meanwhile.
      log.error({ effect: effect.name, kind: effect.kind }, 'an effect that this version does not know stays where it is');
      return;
    }
    if (effect.startedBy !== null) return this.deliver(held, definition, { kind: 'unknown' });
    if (!isRepeatable(definition, effect.input, log)) {
      const marked = await this.markStarted(effect);
      if (marked.kind !== 'committed') {
        // It has not begun. Whoever owns the shard finds it in the database.
        this.leftBehind = true;
        return this.letGo(effect.id);
      }
      effect.startedBy = this.parts.placement.owner;
    }
    if (controller.signal.aborted) return;
    this.deliver(held, definition, await runEffect(effect, definition, controller, log));
  }

  /** E2. */
  private markStarted(effect: EffectDraft): Promise<CommitOutcome> {
    return new Promise((resolve) => {
      const unit = new CommitUnit(effect.shard, { kind: effect.kind, id: effect.actorId }, resolve);
      unit.startedEffects.push(effect.id);
      this.parts.commit.add(unit);
      this.parts.commit.addTurn(unit);
    });
  }

  private deliver(held: Held, definition: EffectDefinition, outcome: EffectOutcome): void {
    const { effect } = held;
    const { system, placement } = this.parts;
    if (this.stopped || this.inHand.get(effect.id) !== held) return;
    const envelope = newEnvelope(definition.outcome, { effectId: effect.id, outcome }, Infinity, null, { kind: 'effect', id: effect.id });
    envelope.resolve = () => this.letGo(effect.id);
    envelope.reject = () => void setTimeout(() => this.deliver(held, definition, outcome), redeliverMs).unref();
    if (placement.epochOf(effect.shard) === null) this.letGo(effect.id);
    else if (!system.deliver(effect.kind, effect.actorId, envelope)) envelope.reject(busy);
  }
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
