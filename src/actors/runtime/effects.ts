/**
 * Effects: what actors await of the outside world, between their turns. An effect is a row from the commit that recorded it until the
 * commit of the turn that took its outcome.
 *
 * E1 A finished effect is never run again: while its row stands and this process lives, it is in hand here.
 * E2 An effect that must not be repeated blindly commits "started by this incarnation" before it begins. Found started by another
 *    incarnation, it is not run: its actor is told `unknown`.
 * E3 The outcome is delivered until the actor has committed it, or this node has lost the shard.
 */
import type { Placement } from '../../cluster/placement.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { EffectDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import { CommitUnit, type GroupCommit } from '../../storage/group-commit.ts';
import type { ActorSystem } from './actor-system.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { newEnvelope } from './envelope.ts';

export type EffectsParts = { system: ActorSystem; commit: GroupCommit; database: Database; placement: Placement; log: Log };

const pageSize = 500;
const redeliverMs = 500;

type Held = { effect: EffectDraft; controller: AbortController; begun: boolean };

export class Effects {
  private readonly held = new Map<string, Held>();
  private readonly queue: Held[] = [];
  private running = 0;
  private stopped = false;
  private readonly parts: EffectsParts;
  /** Effects running at once; the others wait, in order. */
  private readonly maxRunning: number;

  constructor(parts: EffectsParts, maxRunning = 256) {
    this.parts = parts;
    this.maxRunning = maxRunning;
  }

  get size(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.queue.length };
  }

  start(effects: EffectDraft[]): void {
    for (const effect of effects) {
      if (this.held.has(effect.id) || this.stopped) continue;
      const held: Held = { effect, controller: new AbortController(), begun: false };
      this.held.set(effect.id, held);
      this.queue.push(held);
    }
    this.next();
  }

  cancel(effectIds: string[]): void {
    for (const id of effectIds) {
      const held = this.held.get(id);
      if (held === undefined) continue;
      this.held.delete(id);
      held.controller.abort(new AppError('conflict', 'Cancelled'));
    }
  }

  /** Goes on with what stands in the database for shards that have just come to this node. */
  async recover(shards: number[]): Promise<void> {
    for (let after = ''; ; ) {
      const { rows } = await this.parts.database.read({
        name: 'effect_page',
        text: `select id, shard, kind, actor_id as "actorId", name, input, started_by as "startedBy" from effect where shard = any($1) and id > $2 order by id limit ${pageSize}`,
        values: [shards, after],
      });
      this.start(rows as EffectDraft[]);
      if (rows.length < pageSize) return;
      after = rows[rows.length - 1].id;
    }
  }

  /** Ends what runs; it goes on where its shard goes. */
  stop(): void {
    this.stopped = true;
    this.queue.length = 0;
    for (const held of this.held.values()) held.controller.abort(new AppError('draining', 'The node stops'));
    this.held.clear();
  }

  private next(): void {
    while (this.running < this.maxRunning && this.queue.length > 0) {
      const held = this.queue.shift()!;
      if (held.controller.signal.aborted) continue;
      this.running++;
      void this.run(held).finally(() => {
        this.running--;
        this.next();
      });
    }
  }

  private async run(held: Held): Promise<void> {
    const { effect } = held;
    const { system, placement, log } = this.parts;
    const definition = system.kinds.get(effect.kind)?.definition.effects?.[effect.name] as EffectDefinition | undefined;
    if (definition === undefined) {
      // A version that knows it will find it; nothing is lost meanwhile.
      log.error({ effect: effect.name, kind: effect.kind }, 'an effect that this version does not know stays where it is');
      return;
    }
    let outcome: EffectOutcome;
    if (effect.startedBy !== null && effect.startedBy !== placement.owner) outcome = { kind: 'unknown' };
    else {
      if (!definition.repeatable(effect.input) && !(await this.markStarted(effect))) return;
      outcome = await this.perform(held, definition);
    }
    if (held.controller.signal.aborted && this.held.get(effect.id) !== held) return;
    this.deliver(held, definition, outcome);
  }

  /** E2. False when the shard is no longer ours: whoever owns it runs the effect. */
  private markStarted(effect: EffectDraft): Promise<boolean> {
    return new Promise((resolve) => {
      const unit = new CommitUnit(effect.shard, { kind: effect.kind, id: effect.actorId }, (outcome) =>
        resolve(outcome.kind === 'committed'),
      );
      unit.startedEffects.push(effect.id);
      this.parts.commit.add(unit);
      this.parts.commit.addTurn(unit);
    });
  }

  private async perform(held: Held, definition: EffectDefinition): Promise<EffectOutcome> {
    const { effect, controller } = held;
    const timeout = setTimeout(
      () => controller.abort(new AppError('unavailable', `No answer within ${definition.timeoutMs / 1000} seconds`)),
      definition.timeoutMs,
    );
    // An effect that ignores its signal must not hold its place for ever.
    const aborted = new Promise<never>((_, reject) =>
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true }),
    );
    aborted.catch(() => {});
    held.begun = true;
    try {
      const run = definition.run(effect.input, { actorId: effect.actorId, effectId: effect.id, signal: controller.signal });
      return { kind: 'done', value: await Promise.race([run, aborted]) };
    } catch (error) {
      if (error instanceof AppError && error.code === 'outcome_unknown') return { kind: 'unknown' };
      if (error instanceof AppError && error.code !== 'internal') return { kind: 'failed', message: error.message };
      this.parts.log.error({ effect: effect.name, kind: effect.kind, id: effect.actorId, err: error }, 'an effect failed unexpectedly');
      return { kind: 'failed', message: 'It failed unexpectedly' };
    } finally {
      clearTimeout(timeout);
    }
  }

  private deliver(held: Held, definition: EffectDefinition, outcome: EffectOutcome): void {
    const { effect } = held;
    if (this.stopped || this.held.get(effect.id) !== held) return;
    const envelope = newEnvelope(definition.outcome, { effectId: effect.id, outcome }, Infinity, null, { kind: 'effect', id: effect.id });
    const again = () => setTimeout(() => this.deliver(held, definition, outcome), redeliverMs).unref();
    envelope.resolve = () => this.held.delete(effect.id);
    envelope.reject = again;
    if (this.parts.system.deliver(effect.kind, effect.actorId, envelope)) return;
    if (this.parts.placement.epochOf(effect.shard) === null) this.held.delete(effect.id);
    else again();
  }
}
