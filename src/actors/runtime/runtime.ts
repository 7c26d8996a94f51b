/** Puts the runtime's parts together and gives them one start and one stop. */
import { type Clock, systemClock } from '../../clock.ts';
import type { Placement } from '../../cluster/placement.ts';
import type { Log } from '../../log.ts';
import type { TimerDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import { GroupCommit } from '../../storage/group-commit.ts';
import { ActorSystem } from './actor-system.ts';
import type { AnyActor } from './define-actor.ts';
import { Effects } from './effects.ts';
import { Outbox } from './outbox.ts';
import { Passivation } from './passivation.ts';
import { Timers, timerHorizonMs } from './timers.ts';

/** Told each batch of events right after its commit, with the number each was given; in commit order. */
export type EventListener = ActorSystem['after']['events'];

export type RuntimeOptions = {
  database: Database;
  placement: Placement;
  log: Log;
  clock?: Clock;
  maxWaiting?: number;
  maxBatchTurns?: number;
  maxRunningEffects?: number;
};

export class Runtime {
  readonly actors: ActorSystem;
  readonly commit: GroupCommit;
  readonly effects: Effects;
  private readonly outbox: Outbox;
  private readonly timers: Timers;
  private readonly passivation: Passivation;
  private readonly options: RuntimeOptions;
  private readonly clock: Clock;
  private timerSweep: NodeJS.Timeout | null = null;

  constructor(options: RuntimeOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    const { database, placement, log } = options;
    this.commit = new GroupCommit({ database, fence: placement, log, maxBatchTurns: options.maxBatchTurns });
    this.timers = new Timers(this.clock, (timer) => this.actors.fireTimer(timer));
    this.actors = new ActorSystem({
      clock: this.clock,
      log,
      database,
      commit: this.commit,
      placement,
      timers: this.timers,
      maxWaiting: options.maxWaiting,
    });
    this.effects = new Effects({ system: this.actors, commit: this.commit, database, placement, log }, options.maxRunningEffects);
    this.outbox = new Outbox({ system: this.actors, database, placement, log });
    this.passivation = new Passivation(this.actors, this.clock, log);
    this.actors.after.messages = (messages) => this.outbox.deliver(messages);
    this.actors.after.effects = (effects) => this.effects.start(effects);
    this.actors.after.cancelled = (ids) => this.effects.cancel(ids);
    placement.onAcquired((shards) => void this.recover(shards));
  }

  register(definitions: AnyActor[]): void {
    for (const definition of definitions) this.actors.register(definition);
  }

  onEvents(listener: EventListener): void {
    this.actors.after.events = listener;
  }

  /** Joins the cluster and goes on with whatever the shards it was given have to do. */
  async start(): Promise<void> {
    await this.options.placement.start();
    this.outbox.start();
    this.passivation.start();
    this.timerSweep = setInterval(() => void this.sweepTimers(), timerHorizonMs / 2);
    this.timerSweep.unref();
  }

  /** Takes nothing new, finishes what was accepted, and lets go of everything. */
  async stop(): Promise<void> {
    this.actors.drain();
    this.outbox.stop();
    this.passivation.stop();
    this.timers.stop();
    if (this.timerSweep !== null) clearInterval(this.timerSweep);
    this.effects.stop();
    await this.commit.drained();
    this.actors.close();
    await this.options.placement.stop();
    await this.commit.close();
  }

  private async recover(shards: number[]): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await Promise.all([this.outbox.sweep(), this.effects.recover(shards), this.sweepTimers()]);
        return;
      } catch (error) {
        this.options.log.warn({ err: error }, 'the work of acquired shards could not be read; trying again');
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 100 * 2 ** attempt)));
      }
    }
  }

  private async sweepTimers(): Promise<void> {
    await this.timers.sweep(async () => {
      const { rows } = await this.options.database.read({
        name: 'timers_due',
        text: `select kind, actor_id as "actorId", name, shard, command, input, due_at as "dueAt" from timer where due_at < to_timestamp($1::float8 / 1000) limit 50000`,
        values: [this.clock.nowMs() + timerHorizonMs],
      });
      return (rows as TimerDraft[]).filter((timer) => this.options.placement.epochOf(timer.shard) !== null);
    });
  }
}
