/**
 * The actor runtime of one node: finds or activates an actor, takes turns, hands what they recorded to the group commit, and makes it true
 * when it is committed.
 *
 * R1 Turns of one actor run one at a time, to the end, without awaiting (they are synchronous; taking a turn inside a turn is a defect).
 * R2 Nothing a turn decided, refusals included, is told before everything it was decided on is committed.
 * R3 A query sees committed state only.
 * R4 A turn that throws changes nothing: its context is dropped, the activation and its neighbours go on.
 * R5 Every envelope is answered once: by its turn, by a failure, or when its deadline has passed.
 * R6 When a commit is refused or fails, the activation and all turns built on it are dropped; what was waiting is tried again from the
 *    committed state inside its deadline.
 */
import type { Clock } from '../../clock.ts';
import { shardOf } from '../../cluster/address.ts';
import type { Placement } from '../../cluster/placement.ts';
import { AppError } from '../../errors.ts';
import { idPrefixes, newId } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { CommitOutcome, EffectDraft, EventDraft, MessageDraft, TimerDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import { CommitUnit, type GroupCommit } from '../../storage/group-commit.ts';
import { Activation } from './activation.ts';
import type { ActorRef, AnyActor, Contract } from './define-actor.ts';
import { type Envelope, newEnvelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import { PendingAsks } from './pending-asks.ts';
import type { Timers } from './timers.ts';
import { isRefusal, TurnRecord } from './turn.ts';

export type AskOptions = {
  /** Wall clock, milliseconds. Default: 10 s from now. */
  deadlineMs?: number;
  /** Makes the command take effect once, however often it is asked: the first reply is given again. */
  commandId?: string;
};

/** What follows from a commit, done by the parts that own it. */
export type AfterCommit = {
  events(events: EventDraft[], seqs: number[]): void;
  messages(messages: MessageDraft[]): void;
  effects(effects: EffectDraft[]): void;
  cancelled(effectIds: string[]): void;
};

export type ActorSystemOptions = {
  clock: Clock;
  log: Log;
  database: Database;
  commit: GroupCommit;
  placement: Placement;
  timers: Timers;
  /** Envelopes waiting in all mailboxes together; beyond it asks are shed. */
  maxWaiting?: number;
};

const defaultDeadlineMs = 10_000;
/** An envelope whose turn or commit fails this often is given up: an ask is answered 500, durable work becomes a dead letter. */
const maxFailures = 3;
const maxLoadBatch = 500;

export class ActorSystem {
  after: AfterCommit = { events() {}, messages() {}, effects() {}, cancelled() {} };
  readonly kinds = new Map<string, Kind>();
  readonly pending: PendingAsks;
  private readonly options: ActorSystemOptions;
  private readonly maxWaiting: number;
  private waiting = 0;
  private turnRuns = false;
  private loadScheduled = false;
  private draining = false;
  /** Ready activations whose mailbox waits for room in the batch. */
  private readonly held = new Set<Activation>();
  private readonly deferred = new Map<string, Envelope>();
  /** Commands with ids whose commit is on its way, so that a repeat joins the first. */
  private readonly commandsInFlight = new Map<string, Promise<unknown>>();

  constructor(options: ActorSystemOptions) {
    this.options = options;
    this.maxWaiting = options.maxWaiting ?? 50_000;
    this.pending = new PendingAsks(options.clock);
    options.commit.onRoom = () => this.pumpHeld();
    options.placement.onLost((shards) => this.dropShards(new Set(shards)));
  }

  register(definition: AnyActor): void {
    const name = definition.ref.kind;
    if (this.kinds.has(name)) throw new Error(`Actor kind ${name} is registered twice`);
    this.kinds.set(name, {
      name,
      definition,
      table: this.options.database.table(definition.entity),
      activations: new Map(),
      mailboxLimit: definition.mailboxLimit ?? 1_000,
      idleTimeoutMs: definition.idleTimeoutMs ?? 300_000,
      toLoad: [],
    });
  }

  get activationCount(): number {
    let count = 0;
    for (const kind of this.kinds.values()) count += kind.activations.size;
    return count;
  }

  /** Asks for a command's turn; resolves with its reply once it is committed. Rejects with an `AppError`. */
  ask<C extends Contract, K extends keyof C['commands'] & string>(
    to: ActorRef<C>,
    id: string,
    command: K,
    input: Parameters<C['commands'][K]>[0],
    options?: AskOptions,
  ): Promise<ReturnType<C['commands'][K]>> {
    if (options?.commandId !== undefined)
      return this.askOnce(to, id, command, input, options as AskOptions & { commandId: string }) as never;
    return this.askNow(this.kindOf(to.kind), id, command, input, options) as never;
  }

  /** Looks at committed state. A value where the actor is in memory, else a promise of it. */
  query<C extends Contract, K extends keyof C['queries'] & string>(
    to: ActorRef<C>,
    id: string,
    name: K,
    input: Parameters<C['queries'][K]>[0],
  ): ReturnType<C['queries'][K]> | Promise<ReturnType<C['queries'][K]>> {
    const kind = this.kindOf(to.kind);
    const activation = kind.activations.get(id);
    if (activation !== undefined && activation.phase === 'ready') {
      activation.lastUsedMs = this.options.clock.nowMs();
      return kind.definition.queries[name]!(activation.committed, input) as never;
    }
    return this.queryAway(kind, id, name, input) as never;
  }

  /** Delivers durable work: a message, an effect's outcome, a timer. Returns false when there is no room now; it stays in the database. */
  deliver(kindName: string, id: string, envelope: Envelope): boolean {
    const kind = this.kinds.get(kindName);
    if (kind === undefined) {
      this.options.log.error({ kind: kindName, id }, 'durable work for an unknown kind of actor stays where it is');
      return false;
    }
    const shard = shardOf(kindName, id);
    if (this.options.placement.epochOf(shard) === null) return false;
    return this.accept(kind, id, shard, envelope, Infinity) === null;
  }

  /** Refuses new asks; what was accepted is finished. */
  drain(): void {
    this.draining = true;
  }

  /** Answers whatever still waits. Call after the commit has drained. */
  close(): void {
    this.pending.close();
  }

  // ---- asking

  private kindOf(name: string): Kind {
    const kind = this.kinds.get(name);
    if (kind === undefined) throw new Error(`No actor kind ${name}`);
    return kind;
  }

  private askNow(kind: Kind, id: string, command: string, input: unknown, options?: AskOptions): Promise<unknown> {
    const deadlineMs = options?.deadlineMs ?? this.options.clock.nowMs() + defaultDeadlineMs;
    const known = kind.activations.get(id);
    const shard = known?.shard ?? shardOf(kind.name, id);
    if (this.options.placement.epochOf(shard) === null) {
      return this.options.placement.forward(shard, {
        kind: kind.name,
        id,
        name: command,
        input,
        query: false,
        deadlineMs,
        commandId: options?.commandId ?? null,
      });
    }
    if (this.draining) return Promise.reject(new AppError('draining', 'This node is stopping; try again', { retryAfterS: 1 }));
    const envelope = newEnvelope(command, input, deadlineMs, options?.commandId ?? null);
    return new Promise((resolve, reject) => {
      envelope.resolve = resolve;
      envelope.reject = reject;
      const refused = this.accept(kind, id, shard, envelope, kind.mailboxLimit);
      if (refused !== null) reject(refused);
      else if (!envelope.settled) this.pending.add(envelope);
    });
  }

  private async askOnce(
    to: ActorRef<any>,
    id: string,
    command: string,
    input: unknown,
    options: AskOptions & { commandId: string },
  ): Promise<unknown> {
    const { commandId } = options;
    const inFlight = this.commandsInFlight.get(commandId);
    if (inFlight !== undefined) return inFlight;
    const run = async (): Promise<unknown> => {
      const before = await this.recordedReply(commandId);
      if (before !== null) return before.reply;
      try {
        return await this.askNow(this.kindOf(to.kind), id, command, input, options);
      } catch (error) {
        // Another node may have committed it in the meantime; then its record is there.
        const recorded = error instanceof AppError && error.code !== 'internal' ? null : await this.recordedReply(commandId);
        if (recorded !== null) return recorded.reply;
        throw error;
      }
    };
    const running = run().finally(() => this.commandsInFlight.delete(commandId));
    this.commandsInFlight.set(commandId, running);
    return running;
  }

  private async recordedReply(commandId: string): Promise<{ reply: unknown } | null> {
    const { rows } = await this.options.database.read({
      name: 'command_reply',
      text: 'select reply from command_record where id = $1',
      values: [commandId],
    });
    return rows.length === 0 ? null : { reply: rows[0].reply };
  }

  private async queryAway(kind: Kind, id: string, name: string, input: unknown): Promise<unknown> {
    const shard = shardOf(kind.name, id);
    if (this.options.placement.epochOf(shard) === null) {
      const deadlineMs = this.options.clock.nowMs() + defaultDeadlineMs;
      return this.options.placement.forward(shard, { kind: kind.name, id, name, input, query: true, deadlineMs, commandId: null });
    }
    const activation = kind.activations.get(id) ?? this.activate(kind, id, shard);
    if (activation.phase === 'loading') await this.loaded(activation);
    activation.lastUsedMs = this.options.clock.nowMs();
    return kind.definition.queries[name]!(activation.committed, input);
  }

  /** An empty envelope at the end of the mailbox: it is answered when the activation is ready. */
  private loaded(activation: Activation): Promise<void> {
    return new Promise((resolve, reject) => {
      const envelope = newEnvelope('', null, this.options.clock.nowMs() + defaultDeadlineMs, null);
      envelope.resolve = () => resolve();
      envelope.reject = reject;
      this.wait(activation, envelope);
      this.pending.add(envelope);
    });
  }

  /** Null when the envelope was taken or waits; an error when there is no room for it. */
  private accept(kind: Kind, id: string, shard: number, envelope: Envelope, mailboxLimit: number): AppError | null {
    const activation = kind.activations.get(id) ?? this.activate(kind, id, shard);
    activation.lastUsedMs = this.options.clock.nowMs();
    if (activation.phase === 'ready' && activation.mailbox === null && this.mayTurn(activation, envelope)) {
      this.takeTurn(activation, envelope);
      return null;
    }
    if (this.waiting >= this.maxWaiting)
      return new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
    if (activation.mailbox !== null && activation.mailbox.length >= mailboxLimit) {
      return new AppError('mailbox_full', 'Too many requests wait for this one resource; try again shortly', { retryAfterS: 1 });
    }
    this.wait(activation, envelope);
    return null;
  }

  private wait(activation: Activation, envelope: Envelope): void {
    (activation.mailbox ??= []).push(envelope);
    this.waiting++;
    if (activation.phase === 'ready') this.held.add(activation);
  }

  // ---- turns

  /** What failed before runs alone: nothing uncommitted before it, nothing beside it in its unit. */
  private mayTurn(activation: Activation, envelope: Envelope): boolean {
    if (!this.options.commit.hasRoom) return false;
    if (activation.open?.alone === true || activation.sending?.alone === true) return false;
    return envelope.failures === 0 || (activation.open === null && activation.sending === null);
  }

  private takeTurn(activation: Activation, envelope: Envelope): void {
    if (envelope.settled) return;
    if (envelope.command === '') return this.pending.settle(envelope, undefined, undefined);
    if (this.turnRuns) throw new Error('A turn began inside a turn: commands record with ctx.send, they do not ask');
    const { kind } = activation;
    const { source } = envelope;
    if (source.kind === 'timer' && this.timerIsStale(activation, source)) return this.pending.settle(envelope, undefined, undefined);
    const record = new TurnRecord(activation, this.options.clock, this.options.database);
    let failure: unknown;
    let state = activation.state;
    this.turnRuns = true;
    try {
      const command = kind.definition.commands[envelope.command];
      if (command === undefined) throw new Error(`${kind.name} has no command ${envelope.command}`);
      const turn = command(activation.state, envelope.input, record);
      state = turn.state;
      envelope.reply = turn.reply;
    } catch (error) {
      failure = error;
    } finally {
      this.turnRuns = false;
    }
    envelope.taken = true;
    if (failure !== undefined) return void this.turnFailed(activation, envelope, failure);
    const changed = state !== activation.state;
    const durable = source.kind !== 'ask' || envelope.commandId !== null;
    if (!changed && !durable && record.recordsNothing && record.deferred === null) return this.answerAfter(activation, envelope);
    if (record.deferred !== null) this.deferUntil(activation, record.deferred, envelope);
    const unit = this.openUnit(activation);
    if (changed) {
      activation.state = state;
      unit.table = kind.table;
      unit.row = state;
    }
    record.writeTo(unit);
    if (envelope.failures > 0) unit.alone = true;
    if (record.answers !== null) for (const { key, reply } of record.answers) this.answerDeferred(activation, key, reply, unit);
    this.consume(unit, envelope, record);
    this.options.commit.addTurn(unit);
    unit.envelopes.push(envelope);
  }

  /** R2: an answer that changes nothing still waits for what it was decided on. */
  private answerAfter(activation: Activation, envelope: Envelope): void {
    const unit = activation.open ?? activation.sending;
    if (unit === null) this.pending.settle(envelope, envelope.error, envelope.reply);
    else unit.envelopes.push(envelope);
  }

  private turnFailed(activation: Activation, envelope: Envelope, failure: unknown): unknown {
    const { log } = this.options;
    if (isRefusal(failure)) {
      envelope.error = failure;
      if (envelope.source.kind === 'ask') return this.answerAfter(activation, envelope);
      // A refused message or outcome has been heard: it is consumed, like one that changed nothing.
      log.debug({ kind: activation.kind.name, id: activation.id, command: envelope.command, err: failure }, 'durable work was refused');
      return this.consumeOnly(activation, envelope);
    }
    log.error(
      { kind: activation.kind.name, id: activation.id, command: envelope.command, source: envelope.source, err: failure },
      'a command threw; its turn is discarded',
    );
    envelope.error = new AppError('internal', 'Internal Server Error', { cause: failure });
    if (envelope.source.kind === 'ask') return this.answerAfter(activation, envelope);
    if (++envelope.failures < maxFailures) {
      setTimeout(() => this.redeliver(activation, envelope), 100 * 4 ** envelope.failures).unref();
      return;
    }
    this.bury(activation, envelope, failure);
  }

  private redeliver(activation: Activation, envelope: Envelope): void {
    if (this.deliver(activation.kind.name, activation.id, envelope)) return;
    this.pending.settle(envelope, new AppError('overloaded', 'No room to try again now'), undefined);
  }

  /** Consumes durable work that its actor cannot take, and keeps it where a person can find it. */
  private bury(activation: Activation, envelope: Envelope, failure: unknown): void {
    const unit = this.consumeOnly(activation, envelope);
    unit.deadLetters.push({
      id: newId(idPrefixes.message, this.options.clock.nowMs()),
      kind: activation.kind.name,
      actorId: activation.id,
      command: envelope.command,
      input: envelope.input,
      error: String(failure),
      createdAt: this.options.clock.nowMs(),
    });
  }

  private consumeOnly(activation: Activation, envelope: Envelope): CommitUnit {
    const unit = this.openUnit(activation);
    this.consume(unit, envelope, null);
    this.options.commit.addTurn(unit);
    unit.envelopes.push(envelope);
    return unit;
  }

  private consume(unit: CommitUnit, envelope: Envelope, record: TurnRecord | null): void {
    const { source } = envelope;
    if (source.kind === 'message') unit.consumedMessages.push(source.id);
    else if (source.kind === 'effect') unit.consumedEffects.push(source.id);
    else if (source.kind === 'timer' && record?.timers?.has(source.name) !== true) (unit.timers ??= new Map()).set(source.name, null);
    // A deferred command has its reply later, and its record with it.
    if (!envelope.deferred) this.recordCommand(unit, envelope);
  }

  private recordCommand(unit: CommitUnit, envelope: Envelope): void {
    if (envelope.commandId === null) return;
    unit.commands.push({ id: envelope.commandId, reply: envelope.reply ?? null, createdAt: this.options.clock.nowMs() });
  }

  private timerIsStale(activation: Activation, source: { name: string; dueMs: number }): boolean {
    if (activation.open?.timers?.has(source.name) || activation.sending?.timers?.has(source.name)) return true;
    return !this.options.timers.isCurrent(activation.kind.name, activation.id, source.name, source.dueMs);
  }

  private openUnit(activation: Activation): CommitUnit {
    if (activation.open !== null) return activation.open;
    const unit = new CommitUnit(activation.shard, { kind: activation.kind.name, id: activation.id }, (outcome) =>
      this.committed(activation, unit, outcome),
    );
    unit.onSent = () => {
      activation.open = null;
      activation.sending = unit;
    };
    activation.open = unit;
    this.options.commit.add(unit);
    return unit;
  }

  // ---- callers that a later turn answers

  private deferUntil(activation: Activation, key: string, envelope: Envelope): void {
    if (envelope.source.kind !== 'ask') return;
    envelope.deferred = true;
    const address = `${activation.kind.name}/${activation.id}/${key}`;
    const earlier = this.deferred.get(address);
    // The same caller asking again takes the place of its earlier self.
    if (earlier !== undefined && earlier !== envelope)
      this.pending.settle(earlier, new AppError('outcome_unknown', 'Asked again under the same key'), undefined);
    if (earlier === envelope) return;
    this.deferred.set(address, envelope);
    const { resolve, reject } = envelope;
    const forget = () => this.deferred.get(address) === envelope && this.deferred.delete(address);
    envelope.resolve = (reply) => (forget(), resolve(reply));
    envelope.reject = (error) => (forget(), reject(error));
  }

  private answerDeferred(activation: Activation, key: string, reply: unknown, unit: CommitUnit): void {
    const address = `${activation.kind.name}/${activation.id}/${key}`;
    const envelope = this.deferred.get(address);
    if (envelope === undefined) return;
    this.deferred.delete(address);
    envelope.deferred = false;
    if (reply instanceof AppError) envelope.error = reply;
    else {
      envelope.reply = reply;
      this.recordCommand(unit, envelope);
    }
    unit.envelopes.push(envelope);
  }

  // ---- after the commit

  private committed(activation: Activation, unit: CommitUnit, outcome: CommitOutcome): void {
    activation.sending = null;
    if (outcome.kind !== 'committed') return this.notCommitted(activation, unit, outcome);
    if (unit.row !== null) activation.committed = unit.row;
    const { timers } = this.options;
    if (unit.timers !== null) {
      for (const [name, timer] of unit.timers) {
        if (timer === null) timers.clear(activation.kind.name, activation.id, name);
        else timers.set(timer);
      }
    }
    for (const envelope of unit.envelopes) if (!envelope.deferred) this.pending.settle(envelope, envelope.error, envelope.reply);
    if (unit.events.length > 0) this.after.events(unit.events, outcome.seqs);
    if (unit.cancelledEffects.length > 0) this.after.cancelled(unit.cancelledEffects);
    if (unit.messages.length > 0) this.after.messages(unit.messages);
    if (unit.effects !== null) this.after.effects([...unit.effects.values()]);
    if (activation.mailbox !== null) this.pump(activation);
  }

  private notCommitted(activation: Activation, unit: CommitUnit, outcome: Exclude<CommitOutcome, { kind: 'committed' }>): void {
    const { log, commit } = this.options;
    const later = activation.open;
    if (later !== null) commit.withdraw(later);
    const again = [...unit.envelopes, ...(later?.envelopes ?? [])];
    const waiting = this.drop(activation);
    const asked = unit.envelopes.filter((envelope) => envelope.error === undefined || !isRefusal(envelope.error));
    if (outcome.kind === 'failed' && outcome.repeat && asked.length <= 1) {
      // What it consumed was consumed before: it has taken effect, and this is an echo.
      for (const envelope of unit.envelopes) this.pending.settle(envelope, envelope.error, envelope.reply);
      again.splice(0, unit.envelopes.length);
    } else if (outcome.kind === 'failed') {
      for (const envelope of asked) envelope.failures++;
      if (asked.length <= 1)
        log.error({ ...unit.actor, command: asked[0]?.command, err: outcome.error }, 'the database refused what a turn recorded');
    }
    for (const envelope of again) this.retry(activation, envelope, outcome.kind === 'failed' ? outcome.error : null);
    for (const envelope of waiting) this.retry(activation, envelope, null);
  }

  /** R6: from the committed state, inside its deadline. */
  private retry(activation: Activation, envelope: Envelope, error: Error | null): void {
    if (envelope.settled) return;
    const { kind, id } = activation;
    envelope.reply = undefined;
    envelope.error = undefined;
    envelope.deferred = false;
    if (envelope.failures >= maxFailures || (envelope.failures > 0 && envelope.source.kind === 'ask' && envelope.failures > 1)) {
      if (envelope.source.kind === 'ask')
        return this.pending.settle(envelope, new AppError('internal', 'Internal Server Error', { cause: error }), undefined);
      const fresh = kind.activations.get(id) ?? this.activate(kind, id, activation.shard);
      if (fresh.phase === 'ready') this.bury(fresh, envelope, error);
      return;
    }
    envelope.taken = false;
    const refused = this.accept(kind, id, activation.shard, envelope, Infinity);
    if (refused !== null) this.pending.settle(envelope, refused, undefined);
  }

  // ---- activation and passivation

  private activate(kind: Kind, id: string, shard: number): Activation {
    const activation = new Activation(kind, id, shard);
    kind.activations.set(id, activation);
    kind.toLoad.push(activation);
    if (!this.loadScheduled) {
      this.loadScheduled = true;
      setImmediate(() => this.load());
    }
    return activation;
  }

  private load(): void {
    this.loadScheduled = false;
    for (const kind of this.kinds.values()) {
      while (kind.toLoad.length > 0) void this.loadRows(kind, kind.toLoad.splice(0, maxLoadBatch));
    }
  }

  private async loadRows(kind: Kind, activations: Activation[]): Promise<void> {
    try {
      const rows = await this.options.database.load(
        kind.table,
        activations.map((activation) => activation.id),
      );
      for (const activation of activations) {
        if (activation.phase === 'dropped') continue;
        activation.state = rows.get(activation.id) ?? null;
        activation.committed = activation.state;
        activation.phase = 'ready';
        if (activation.mailbox !== null) this.pump(activation);
      }
    } catch (error) {
      this.options.log.warn({ kind: kind.name, count: activations.length, err: error }, 'actors could not be loaded');
      const told = error instanceof AppError ? error : new AppError('internal', 'Internal Server Error', { cause: error });
      for (const activation of activations) {
        if (activation.phase === 'dropped') continue;
        for (const envelope of this.drop(activation)) this.pending.settle(envelope, told, undefined);
      }
    }
  }

  /** Takes waiting turns until the mailbox is empty or there is no room. */
  private pump(activation: Activation): void {
    const { mailbox } = activation;
    if (mailbox === null || activation.phase !== 'ready') return;
    let taken = 0;
    while (taken < mailbox.length && this.mayTurn(activation, mailbox[taken]!)) {
      this.waiting--;
      this.takeTurn(activation, mailbox[taken++]!);
    }
    if (taken === mailbox.length) {
      activation.mailbox = null;
      this.held.delete(activation);
    } else {
      mailbox.splice(0, taken);
      this.held.add(activation);
    }
  }

  private pumpHeld(): void {
    // Those that had to wait go to the end, so that one busy actor does not starve the others.
    for (const activation of [...this.held]) {
      if (!this.options.commit.hasRoom) return;
      this.held.delete(activation);
      this.pump(activation);
    }
  }

  /** Removes an activation from memory and returns what waited for it. */
  private drop(activation: Activation): Envelope[] {
    activation.phase = 'dropped';
    activation.open = null;
    this.held.delete(activation);
    const { activations } = activation.kind;
    if (activations.get(activation.id) === activation) activations.delete(activation.id);
    const waiting = activation.mailbox ?? [];
    activation.mailbox = null;
    this.waiting -= waiting.length;
    return waiting;
  }

  private dropShards(shards: Set<number>): void {
    this.options.timers.dropShards(shards);
    for (const kind of this.kinds.values()) {
      for (const activation of kind.activations.values()) {
        if (!shards.has(activation.shard) || activation.sending !== null || activation.open !== null) continue;
        // Those with commits on their way are dropped when the commit is refused.
        for (const envelope of this.drop(activation))
          this.pending.settle(envelope, new AppError('shard_not_owned', 'The actor moves; try again', { retryAfterS: 1 }), undefined);
      }
    }
  }

  /** Drops an activation if nothing of it would be lost. */
  passivate(activation: Activation): boolean {
    if (!activation.idle) return false;
    this.drop(activation);
    return true;
  }

  /** Fires a timer: durable work whose source names the timer. */
  fireTimer(timer: TimerDraft): void {
    const envelope = newEnvelope(timer.command, timer.input, Infinity, null, { kind: 'timer', name: timer.name, dueMs: timer.dueAt });
    envelope.reject = () => this.options.timers.postpone(timer, 1_000);
    if (!this.deliver(timer.kind, timer.actorId, envelope)) this.options.timers.postpone(timer, 1_000);
  }
}
