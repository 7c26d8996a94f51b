/**
 * The public interface to the actors of one node: ask, query, deliver durable work. It routes an envelope (to this node's mailboxes, to
 * another node, or to a command's recorded reply) and connects the parts: `activations.ts` loads, `mailboxes.ts` orders, `turns.ts` runs,
 * `turn-completion.ts` answers. R1 to R8, the runtime's guarantees, are in the last two.
 */
import { type Clock, monotonicMs } from '../clock.ts';
import { isActorId, shardOf } from '../cluster/address.ts';
import type { Placement, RemoteAsk } from '../cluster/placement.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { TimerDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import type { Tracer } from '../tracing.ts';
import type { Activation } from './activation.ts';
import { Activations } from './activations.ts';
import { type AskOptions, defaultTimeoutMs, timeoutOf } from './ask-options.ts';
import { CommandReplies } from './command-replies.ts';
import { CommandsInFlight } from './commands-in-flight.ts';
import { DeferredCallers } from './deferred-callers.ts';
import type { ActorRef, AnyActor, Contract } from './define-actor.ts';
import { type Envelope, isDurable, newEnvelope } from './envelope.ts';
import { assertSupported, type Kind, kindOf } from './kind.ts';
import { Mailboxes } from './mailboxes.ts';
import { PendingAsks } from './pending-asks.ts';
import { askOwner, queryOwner } from './remote-asks.ts';
import { RemoteOutcomes } from './remote-outcomes.ts';
import { RepeatedCommands } from './repeated-commands.ts';
import type { Timers } from './timers.ts';
import { type AfterCommit, TurnCompletion } from './turn-completion.ts';
import { Turns } from './turns.ts';

export type ActorSystemOptions = {
  clock: Clock;
  log: Log;
  database: Database;
  commit: GroupCommit;
  placement: Placement;
  timers: Timers;
  after: AfterCommit;
  /** Envelopes waiting in all mailboxes together; beyond it asks are shed. */
  maxWaiting?: number;
  /** null: asks are not traced. */
  tracer?: Tracer | null;
  /** States are frozen, so that a command that changes one in place fails at once. Slow: for tests. */
  freezeStates?: boolean;
};

/** Most asks without an answer: more than can be answered within the target time of admission. */
const maxPending = 4_096;
/** Most queries that wait for a confirmation of ownership without a mailbox; further ones wait in mailboxes. */
const maxWaitingQueries = 10_000;
const callerAborted = new AppError('overloaded', 'The caller waits no longer');

export class ActorSystem {
  readonly kinds = new Map<string, Kind>();
  readonly pending: PendingAsks;
  private readonly options: ActorSystemOptions;
  private readonly activations: Activations;
  private readonly mailboxes: Mailboxes;
  readonly turns: Turns;
  private readonly outcomes = new RemoteOutcomes();
  readonly completion: TurnCompletion;
  private readonly deferred = new DeferredCallers();
  private readonly commands: CommandsInFlight;
  readonly repeated = new RepeatedCommands();
  private state: 'open' | 'draining' | 'closed' = 'open';
  private waitingQueries = 0;

  constructor(options: ActorSystemOptions) {
    this.options = options;
    const { clock, log, database, commit, placement, timers, after, freezeStates = false, maxWaiting = 50_000 } = options;
    this.pending = new PendingAsks(this.deferred, Math.min(2 * maxWaiting, maxPending));
    const commands = (this.commands = new CommandsInFlight(this.pending, new CommandReplies(database)));
    this.completion = new TurnCompletion({
      log,
      commit,
      timers,
      pending: this.pending,
      deferred: this.deferred,
      commands,
      after,
      drop: (activation) => this.drop(activation),
      route: ({ kind, id, shard }, envelope) => this.route(kind, id, shard, envelope, Infinity),
      routeOnce: ({ kind, id, shard }, envelope) => this.routeOnce(kind, id, shard, envelope),
      owns: (shard) => placement.epochOf(shard) !== null,
    });
    this.turns = new Turns({
      clock,
      log,
      database,
      commit,
      timers,
      pending: this.pending,
      deferred: this.deferred,
      commands,
      completion: this.completion,
      placement,
      tracer: options.tracer ?? null,
      freezeStates,
      find: (kind, id) => this.find(kind, id),
    });
    this.mailboxes = new Mailboxes(commit, maxWaiting, this.turns);
    this.activations = new Activations({
      database,
      log,
      freezeStates,
      onReady: (activation) => this.mailboxes.ready(activation),
      onFailed: (activation, error) => {
        const waiting = this.mailboxes.emptyAwaiting(activation);
        for (const envelope of [...this.drop(activation), ...waiting]) this.pending.settle(envelope, error, undefined);
      },
    });
    placement.onSealing((shards) => this.seal(new Set(shards)));
    placement.onLost((shards) => this.dropShards(new Set(shards)));
  }

  register(definition: AnyActor): void {
    const kind = kindOf(definition, this.options.database);
    if (this.kinds.has(kind.name)) throw new Error(`Actor kind ${kind.name} is registered twice`);
    this.kinds.set(kind.name, kind);
  }

  get activationCount(): number {
    return Array.from(this.kinds.values(), (kind) => kind.activations.size).reduce((sum, size) => sum + size, 0);
  }

  /** Envelopes in mailboxes and asks without an answer: for metrics. */
  get load(): { waiting: number; pending: number } {
    return { waiting: this.mailboxes.size, pending: this.pending.size };
  }

  /** Sends a command; resolves with its reply once its turn is committed. Rejects with an `AppError`. */
  ask<C extends Contract, K extends keyof C['commands'] & string>(
    to: ActorRef<C>,
    id: string,
    command: K,
    input: Parameters<C['commands'][K]>[0],
    options: AskOptions = {},
  ): Promise<ReturnType<C['commands'][K]>> {
    const kind = this.kind(to.kind);
    const { commandId = null } = options;
    const deadlineMs = monotonicMs() + timeoutOf(options, this.options.clock);
    const envelope = newEnvelope(command, input, deadlineMs, commandId, undefined, this.trace());
    if (commandId === null) return this.send(kind, id, envelope) as never;
    envelope.repeat = this.repeated.has(commandId);
    return this.askOnce(kind, id, envelope, commandId) as never;
  }

  /** Reads committed state. Returns a value if the actor is in memory, otherwise a promise. Throws, or rejects with, an `AppError`. */
  query<C extends Contract, K extends keyof C['queries'] & string>(
    to: ActorRef<C>,
    id: string,
    name: K,
    input: Parameters<C['queries'][K]>[0],
  ): ReturnType<C['queries'][K]> | Promise<ReturnType<C['queries'][K]>> {
    const kind = this.kind(to.kind);
    const activation = this.readyActivation(kind, id);
    if (activation !== null) return this.turns.runQuery(kind, activation.committed, name, input) as never;
    const deadlineMs = monotonicMs() + defaultTimeoutMs;
    const trace = this.trace();
    const sendQuery = () => this.send(kind, id, newEnvelope(name, input, deadlineMs, null, { kind: 'query' }, trace));
    const confirmation = this.waitingQueries < maxWaitingQueries ? this.pendingConfirmation(kind, id) : null;
    if (confirmation !== null) return this.queryWhenConfirmed(kind, id, name, input, confirmation, sendQuery) as never;
    const { placement } = this.options;
    const shard = isActorId(id) ? shardOf(kind.name, id) : null;
    if (shard === null || placement.epochOf(shard) !== null || !this.pending.hasCapacity) return sendQuery() as never;
    return queryOwner(placement, shard, { kind: kind.name, id, name, input, deadlineMs, trace }, sendQuery) as never;
  }

  /**
   * Answers another node's ask for an actor of this node: a value if the actor is in memory, otherwise a promise. Throws, or rejects with,
   * an `AppError`; `shard_not_owned` if another node owns the actor.
   */
  answer(ask: RemoteAsk, callerSignal: (() => AbortSignal) | null = null): unknown {
    const kind = this.kinds.get(ask.kind);
    const shard = shardOf(ask.kind, ask.id);
    if (kind === undefined || this.options.placement.epochOf(shard) === null)
      throw new AppError('shard_not_owned', 'This node does not own the shard now');
    assertSupported(kind, ask);
    if (ask.effectId !== null) return this.outcomes.deliver(ask, ask.effectId, (envelope) => this.deliver(ask.kind, ask.id, envelope));
    const activation = ask.query ? this.readyActivation(kind, ask.id) : null;
    if (activation !== null) return this.turns.runQuery(kind, activation.committed, ask.name, ask.input);
    const envelope = newEnvelope(ask.name, ask.input, ask.deadlineMs, ask.commandId, ask.query ? { kind: 'query' } : undefined, ask.trace);
    envelope.repeat = ask.repeat;
    if (ask.commandId !== null) return this.askOnce(kind, ask.id, envelope, ask.commandId);
    const abort = () => !envelope.mayHaveEffect && this.pending.settle(envelope, callerAborted, undefined);
    callerSignal?.().addEventListener('abort', abort, { once: true });
    return this.send(kind, ask.id, envelope);
  }

  /** Delivers durable work: a message, an effect's outcome, a timer. Returns false when a limit is reached; it stays in the database. */
  deliver(kindName: string, id: string, envelope: Envelope): boolean {
    const kind = this.kinds.get(kindName);
    if (kind === undefined) {
      this.options.log.error({ kind: kindName, id }, 'durable work for an unknown actor kind stays in the database');
      return false;
    }
    const shard = shardOf(kindName, id);
    if (this.state === 'closed' || this.options.placement.epochOf(shard) === null) return false;
    return this.accept(kind, id, shard, envelope, Infinity) === null;
  }

  /** Fires a timer: durable work whose source names the timer. */
  fireTimer(timer: TimerDraft): void {
    const envelope = newEnvelope(timer.command, timer.input, Infinity, null, { kind: 'timer', name: timer.name, dueMs: timer.dueAt });
    envelope.reject = () => this.options.timers.postpone(timer, 1_000);
    if (!this.deliver(timer.kind, timer.actorId, envelope)) this.options.timers.postpone(timer, 1_000);
  }

  /** The open batch accepts waiting turns again. */
  runWaiting(): void {
    this.mailboxes.pumpHeld();
  }

  /** Drops an activation if nothing of it would be lost. */
  passivate(activation: Activation): boolean {
    if (activation.idle) this.activations.drop(activation);
    return activation.phase === 'dropped';
  }

  /** Refuses new asks; accepted ones are finished. */
  drain(): void {
    this.state = 'draining';
  }

  /** Runs no more turns and answers all waiting asks. */
  close(): void {
    this.state = 'closed';
    this.pending.close();
  }

  private kind(name: string): Kind {
    const kind = this.kinds.get(name);
    if (kind === undefined) throw new Error(`No actor kind ${name}`);
    return kind;
  }

  /** The actor's activation if its committed state may be shown without asking the database; it counts as used. */
  private readyActivation(kind: Kind, id: string): Activation | null {
    const activation = kind.activations.get(id);
    if (activation?.phase !== 'ready' || this.options.placement.confirmation() !== null) return null;
    activation.used = true;
    return activation;
  }

  /** Null unless the actor is in memory and only the database's confirmation is missing. */
  private pendingConfirmation(kind: Kind, id: string): Promise<void> | null {
    return kind.activations.get(id)?.phase === 'ready' ? this.options.placement.confirmation() : null;
  }

  /** Uses no mailbox and no turn, so queries are served even when those are full. */
  private async queryWhenConfirmed(kind: Kind, id: string, name: string, input: unknown, confirmed: Promise<void>, orElse: () => unknown) {
    this.waitingQueries++;
    try {
      await confirmed;
    } finally {
      this.waitingQueries--;
    }
    const activation = kind.activations.get(id);
    if (activation?.phase !== 'ready') return orElse();
    activation.used = true;
    return this.turns.runQuery(kind, activation.committed, name, input);
  }

  /** The trace of the caller's request. */
  private trace(): string | null {
    return this.options.tracer?.current() ?? null;
  }

  private send(kind: Kind, id: string, envelope: Envelope): Promise<unknown> {
    const existing = kind.activations.get(id);
    if (existing === undefined && !isActorId(id)) return Promise.reject(new AppError('not_found', 'Not Found'));
    const shard = existing?.shard ?? shardOf(kind.name, id);
    const refused = this.refusal(kind, envelope, shard);
    if (refused !== null) return Promise.reject(refused);
    return new Promise((resolve, reject) => {
      envelope.resolve = resolve;
      envelope.reject = reject;
      this.route(kind, id, shard, envelope, kind.mailboxLimit);
      if (!envelope.settled) this.pending.add(envelope);
    });
  }

  private askOnce(kind: Kind, id: string, envelope: Envelope, commandId: string): Promise<unknown> {
    const shard = shardOf(kind.name, id);
    const isHere = this.options.placement.epochOf(shard) !== null;
    const inFlight = this.commands.find(commandId);
    // The first ask was sent to another node and may have come back as this one because the actor moved here: it would wait for itself.
    if (inFlight !== undefined && !(isHere && inFlight.envelope.isRemote))
      return this.commands.join(inFlight, envelope, () => this.askOnce(kind, id, envelope, commandId));
    if (!isActorId(id)) return Promise.reject(new AppError('not_found', 'Not Found'));
    const refused = this.refusal(kind, envelope, shard);
    if (refused !== null) return Promise.reject(refused);
    const answer = this.commands.add(commandId, envelope);
    // Elsewhere the owner knows whether it has taken effect.
    if (isHere) this.routeOnce(kind, id, shard, envelope);
    else this.route(kind, id, shard, envelope, kind.mailboxLimit);
    return answer;
  }

  /** Routes an envelope that may have taken effect before, here or elsewhere: if it has, it gets the recorded answer. */
  private routeOnce(kind: Kind, id: string, shard: number, envelope: Envelope): void {
    const { placement } = this.options;
    const epoch = placement.epochOf(shard);
    const route = () => this.route(kind, id, shard, envelope, kind.mailboxLimit);
    // Under another epoch, another owner may have recorded a result after the look-up.
    const routeOrEnter = () => (placement.epochOf(shard) === epoch ? route() : this.routeOnce(kind, id, shard, envelope));
    if (envelope.commandId === null) route();
    else this.commands.runOrReplay(envelope.commandId, envelope, routeOrEnter);
  }

  private refusal(kind: Kind, envelope: Envelope, shard: number): AppError | null {
    if (!this.pending.hasCapacity && !kind.isVital)
      return new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
    // Actors of other nodes can still be asked while this node drains; queries do not disturb a drain.
    const draining = this.state === 'draining' && envelope.source.kind === 'ask' && this.options.placement.epochOf(shard) !== null;
    return draining || this.state === 'closed' ? new AppError('draining', 'This node is stopping; try again', { retryAfterS: 1 }) : null;
  }

  /** Routes an envelope to its actor, here or on another node; an envelope that cannot be taken is answered with the refusal. */
  private route(kind: Kind, id: string, shard: number, envelope: Envelope, mailboxLimit: number): void {
    if (this.options.placement.epochOf(shard) === null) {
      if (isDurable(envelope))
        this.pending.settle(envelope, new AppError('shard_not_owned', 'The new owner reads it from the database'), undefined);
      else void this.routeToOwner(kind, id, shard, envelope);
      return;
    }
    const confirmation = envelope.source.kind === 'query' ? this.options.placement.confirmation() : null;
    if (confirmation !== null) return this.acceptWhenConfirmed(kind, id, shard, envelope, confirmation);
    const refused = this.accept(kind, id, shard, envelope, mailboxLimit);
    if (refused !== null) this.pending.settle(envelope, refused, undefined);
  }

  /** The check began after the query arrived, so state that is committed here when the check ends may be shown. */
  private acceptWhenConfirmed(kind: Kind, id: string, shard: number, envelope: Envelope, confirmation: Promise<void>): void {
    confirmation.then(
      () => {
        if (this.options.placement.epochOf(shard) === null) return this.route(kind, id, shard, envelope, Infinity);
        const refused = this.accept(kind, id, shard, envelope, kind.mailboxLimit);
        if (refused !== null) this.pending.settle(envelope, refused, undefined);
      },
      (error) => this.pending.settle(envelope, error, undefined),
    );
  }

  private async routeToOwner(kind: Kind, id: string, shard: number, envelope: Envelope): Promise<void> {
    const { command: name, input, deadlineMs, commandId, repeat, source, trace } = envelope;
    const query = source.kind === 'query';
    const ask = { kind: kind.name, id, name, input, query, repeat, deadlineMs, commandId, effectId: null, trace };
    try {
      envelope.isRemote = true;
      const onAttempt = (mayHaveEffect: boolean) => (envelope.mayHaveEffect = mayHaveEffect);
      const answer = await askOwner(this.options.placement, shard, ask, () => envelope.settled, onAttempt);
      envelope.isRemote &&= answer !== 'local';
      envelope.repeat ||= ask.repeat;
      if (answer === 'local') this.routeOnce(kind, id, shard, envelope);
      else if (answer !== 'abandoned') this.pending.settle(envelope, undefined, answer.reply);
    } catch (error) {
      this.pending.settle(envelope, error, undefined);
    }
  }

  private find(kindName: string, id: string): Activation {
    if (!isActorId(id)) throw new Error(`${JSON.stringify(id)} is no id of an actor`);
    return this.activations.get(this.kind(kindName), id, shardOf(kindName, id));
  }

  private accept(kind: Kind, id: string, shard: number, envelope: Envelope, mailboxLimit: number): AppError | null {
    if (this.state === 'closed') return new AppError('draining', 'This node is stopping; try again', { retryAfterS: 1 });
    return this.mailboxes.accept(this.activations.get(kind, id, shard), envelope, mailboxLimit);
  }

  private drop(activation: Activation): Envelope[] {
    const waiting = this.mailboxes.empty(activation);
    this.activations.drop(activation);
    return waiting;
  }

  /** Routes the envelopes of these shards to their next owner; resolves when nothing of the shards waits for a commit. */
  private seal(shards: Set<number>): Promise<void> {
    for (const activation of this.activations.ofShards(shards)) {
      if (activation.mailbox !== null) this.routeAll(activation, this.mailboxes.empty(activation));
    }
    return this.options.commit.whenClear(shards);
  }

  /** Nothing of lost shards may be written from now on, under any later epoch: another node may have changed them. */
  private dropShards(shards: Set<number>): void {
    const { commit, timers } = this.options;
    timers.dropShards(shards);
    commit.dropShards(shards);
    for (const activation of this.activations.ofShards(shards)) this.routeAll(activation, this.drop(activation));
    this.completion.reroute(this.deferred.takeShards(shards));
  }

  private routeAll({ kind, id, shard }: Activation, envelopes: Envelope[]): void {
    for (const envelope of envelopes) this.route(kind, id, shard, envelope, Infinity);
  }
}
