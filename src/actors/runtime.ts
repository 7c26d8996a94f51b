/** Connects the parts of the runtime and gives them one start and one stop. */
import { backoffMs } from '../backoff.ts';
import { type Clock, monotonicMs, systemClock } from '../clock.ts';
import { ownedShards, type Placement } from '../cluster/placement.ts';
import type { Log } from '../log.ts';
import type { EventDraft, MessageDraft, TimerDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';
import { GroupCommit } from '../storage/group-commit.ts';
import type { Tracer } from '../tracing.ts';
import { within } from '../within.ts';
import { ActorSystem } from './actor-system.ts';
import type { AnyActor } from './define-actor.ts';
import { recordCleanStop } from './effect-holders.ts';
import type { LaneLimits } from './effect-lanes.ts';
import { Effects } from './effects.ts';
import { LeftWork } from './left-work.ts';
import { Outbox, type OutboxOptions } from './outbox.ts';
import { Passivation } from './passivation.ts';
import { Timers, timerHorizonMs } from './timers.ts';
import type { AfterCommit } from './turn-completion.ts';

/** Called with each batch of events right after its commit, with the events' numbers; in commit order. */
export type EventListener = AfterCommit['events'];

export type RuntimeOptions = {
  database: Database;
  placement: Placement;
  log: Log;
  clock?: Clock;
  maxWaiting?: number;
  maxBatchTurns?: number;
  /** How long turns of one tick fill a batch before it is sent. */
  earlyAfterMs?: number;
  /** Slots of each lane of effects, instead of the defaults. */
  effectLaneLimits?: LaneLimits;
  /** Pause before an effect starts again that was in flight when two processes died. */
  suspectPauseMs?: number;
  maxEffectsInFlight?: number;
  outbox?: OutboxOptions;
  /** Longest time of one commit statement, and of its wait for one lock. */
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  freezeStates?: boolean;
  /** null: nothing is traced. */
  tracer?: Tracer | null;
};

export type RuntimeHealth = {
  /**
   * Since when, by `monotonicMs`, the batch in flight has had no answer; null if none is in flight. After some seconds the database counts
   * as unavailable.
   */
  commitWaitsSinceMs: number | null;
  /** 0 before the first. */
  lastCommitAtMs: number;
  activations: number;
  waiting: number;
  pending: number;
  effects: { running: number; waiting: number };
  messages: number;
};

const defaultGraceMs = 10_000;
const endTimeoutMs = 1_000;
const maxTimersInRead = 50_000;

export class Runtime {
  readonly actors: ActorSystem;
  readonly commit: GroupCommit;
  readonly effects: Effects;
  readonly left: LeftWork;
  private readonly outbox: Outbox;
  readonly timers: Timers;
  readonly passivation: Passivation;
  private readonly options: RuntimeOptions;
  private readonly clock: Clock;
  private readonly sweeps: NodeJS.Timeout[] = [];
  private eventListener: EventListener | null = null;
  private stopped = false;
  private recovering: 'no' | 'yes' | 'again' = 'no';

  constructor(options: RuntimeOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    const { clock } = this;
    const { database, placement, log, maxWaiting, freezeStates, tracer = null } = options;
    const { maxBatchTurns, earlyAfterMs, statementTimeoutMs, lockTimeoutMs } = options;
    this.commit = new GroupCommit({
      database,
      fence: placement.fence,
      log,
      onCapacity: () => this.actors.runWaiting(),
      clock,
      maxBatchTurns,
      earlyAfterMs,
      statementTimeoutMs,
      lockTimeoutMs,
      tracer,
    });
    this.timers = new Timers(clock, (timer) => this.actors.fireTimer(timer));
    const { commit, timers } = this;
    const after: AfterCommit = {
      events: (events, seqs) => this.publish(events, seqs),
      messages: (messages) => this.deliver(messages),
      effects: (effects) => this.effects.start(effects),
      cancelled: (ids) => this.effects.cancel(ids),
    };
    this.actors = new ActorSystem({ clock, log, database, commit, placement, timers, after, maxWaiting, freezeStates, tracer });
    const { kinds } = this.actors;
    const left = (this.left = new LeftWork({ kinds, database, placement, log, onCounted: () => void this.outbox.sweepAll() }));
    this.effects = new Effects(
      { system: this.actors, commit, database, placement, clock, log, left, tracer },
      { laneLimits: options.effectLaneLimits, suspectPauseMs: options.suspectPauseMs, maxInFlight: options.maxEffectsInFlight },
    );
    this.outbox = new Outbox({ system: this.actors, database, placement, log, left }, options.outbox);
    this.passivation = new Passivation(this.actors, log);
    placement.onRelayedMessages((messages) => (messages === null ? void this.outbox.sweep() : this.outbox.deliver(messages)));
    placement.onIncarnationEnded(() => void this.effects.recover().catch(() => {}));
    placement.onSealing((shards) => this.effects.seal(new Set(shards)));
    placement.onLost((shards) => this.effects.lost(new Set(shards)));
    placement.onLost((shards) => this.outbox.lost(new Set(shards)));
    placement.onAcquired((shards, orphaned) => {
      this.effects.acquired(shards, orphaned);
      void this.recover();
    });
  }

  register(definitions: AnyActor[]): void {
    for (const definition of definitions) this.actors.register(definition);
  }

  onEvents(listener: EventListener): void {
    this.eventListener = listener;
  }

  /** Joins the cluster and continues the durable work of the shards it acquires. */
  async start(): Promise<void> {
    await this.options.placement.start();
    this.outbox.start();
    this.passivation.start();
    this.sweeps.push(
      setInterval(() => void this.effects.sweep(), 1_000),
      setInterval(() => void this.sweepTimers().catch(() => {}), timerHorizonMs / 2),
    );
    for (const sweep of this.sweeps) sweep.unref();
  }

  get health(): RuntimeHealth {
    const { sendingSinceMs, lastCommitAtMs } = this.commit;
    return {
      commitWaitsSinceMs: sendingSinceMs,
      lastCommitAtMs,
      activations: this.actors.activationCount,
      ...this.actors.load,
      effects: this.effects.size,
      messages: this.outbox.size,
    };
  }

  /** Resolves when the effects that run here for actors of other nodes have ended, at the latest after `timeoutMs`. */
  finishEffects(timeoutMs: number): Promise<void> {
    return within(this.effects.drained(), timeoutMs);
  }

  /**
   * Refuses new asks, answers accepted ones, and releases everything. Asks without an answer after `graceMs` get `outcome_unknown`, or
   * `overloaded` if nothing was done; with 0 all of them do, as in a crash.
   */
  async stop(graceMs = defaultGraceMs): Promise<void> {
    const deadlineMs = monotonicMs() + graceMs;
    this.actors.drain();
    await within(this.actors.pending.drained(), graceMs);
    this.stopped = true;
    this.outbox.stop();
    this.left.stop();
    this.passivation.stop();
    this.timers.stop();
    for (const sweep of this.sweeps) clearInterval(sweep);
    this.effects.stop();
    await within(this.commit.drained(), deadlineMs - monotonicMs());
    const { database, placement, log } = this.options;
    // Not in a simulated crash. Recorded before other nodes see this node leave.
    if (graceMs > 0) {
      const recorded = recordCleanStop(database, placement.owner).catch((err) =>
        log.debug({ err }, 'the clean stop could not be recorded'),
      );
      await within(recorded, endTimeoutMs);
    }
    this.actors.close();
    await within(Promise.all([this.options.placement.stop(), this.commit.close()]), 2_000);
  }

  private publish(events: EventDraft[], seqs: number[]): void {
    try {
      this.eventListener?.(events, seqs);
    } catch (error) {
      // The events are committed; a listener that throws must not stop the others.
      this.options.log.error({ err: error }, 'a listener for events failed');
    }
  }

  /** Messages to actors of this node go to their mailboxes, the others to their owners. */
  private deliver(messages: MessageDraft[]): void {
    const { placement } = this.options;
    this.outbox.deliver(messages);
    const elsewhere = messages.filter(({ shard }) => placement.epochOf(shard) === null);
    if (elsewhere.length > 0) placement.relayMessages(elsewhere);
  }

  /** Reads the work of acquired shards. Shards acquired meanwhile are read right after. */
  private async recover(): Promise<void> {
    if (this.recovering !== 'no') {
      this.recovering = 'again';
      return;
    }
    for (let attempt = 0; !this.stopped; attempt++) {
      this.recovering = 'yes';
      try {
        await Promise.all([this.outbox.sweepAll(), this.effects.recover(), this.sweepTimers()]);
        if ((this.recovering as string) === 'yes') break;
        attempt = -1;
      } catch (error) {
        this.options.log.warn({ err: error }, 'the work of acquired shards could not be read; retrying');
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, 100, 5_000)));
      }
    }
    this.recovering = 'no';
  }

  /** Loads timers that are due soon. Runs periodically, and is called by tests that move the clock. */
  async sweepTimers(): Promise<void> {
    const { database, placement } = this.options;
    await this.timers.sweep(async () => {
      const shards = ownedShards(placement);
      const { rows } = await database.read({
        name: 'timers_due',
        text: `select kind, actor_id as "actorId", name, shard, command, input, due_at as "dueAt" from timer where shard = any($1) and due_at < to_timestamp($2::float8 / 1000) and kind || '/' || command <> all($3) order by due_at limit ${maxTimersInRead}`,
        values: [shards, this.clock.nowMs() + timerHorizonMs, this.left.namesIn('timer')],
      });
      // There are more: the next sweep reads them after these have fired.
      if (rows.length === maxTimersInRead && !this.stopped) setTimeout(() => void this.sweepTimers().catch(() => {}), 1_000).unref();
      return (rows as TimerDraft[]).filter(({ kind, command }) => this.left.isSupported('timer', kind, command));
    });
  }
}
