/**
 * Publishes the results of a unit's turns when it is committed, and undoes the turns when it is not.
 *
 * R5 Every envelope is answered once: by its turn, by a failure, or when its deadline has passed.
 * R6 When a commit is refused or fails, the activation and all turns built on it are dropped; waiting envelopes are retried from the
 *    committed state within their deadlines. Only a turn that was alone in its unit is blamed for the unit's failure, and only if the
 *    database refused its contents; durable work refused for any other reason is retried until it is accepted.
 */
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { CommitOutcome, EffectDraft, EventDraft, MessageDraft } from '../storage/commit-unit.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import type { Activation } from './activation.ts';
import type { CommandsInFlight } from './commands-in-flight.ts';
import type { DeferredCallers } from './deferred-callers.ts';
import { EarlyWork } from './early-work.ts';
import { type Envelope, isDurable } from './envelope.ts';
import { NotYet } from './not-yet.ts';
import type { PendingAsks } from './pending-asks.ts';
import { RefusedWork } from './refused-work.ts';
import type { Timers } from './timers.ts';
import type { TurnPart, TurnUnit } from './turn-unit.ts';

/** The actions after a commit, implemented by other parts. */
export interface AfterCommit {
  events(events: EventDraft[], seqs: number[]): void;
  messages(messages: MessageDraft[]): void;
  effects(effects: EffectDraft[]): void;
  cancelled(effectIds: string[]): void;
}

export type SettlementParts = {
  log: Log;
  commit: GroupCommit;
  timers: Timers;
  pending: PendingAsks;
  deferred: DeferredCallers;
  commands: CommandsInFlight;
  after: AfterCommit;
  /** Drops the activation and returns the envelopes of its mailbox. */
  drop(activation: Activation): Envelope[];
  /** Sends an envelope to the actor again, on whatever node it lives now. */
  route(activation: Activation, envelope: Envelope): void;
  /** Likewise, for an envelope that may have taken effect before. */
  enter(activation: Activation, envelope: Envelope): void;
};

type Blamable = { kind: 'failed' | 'repeated' | 'unavailable'; error: Error };

/** Durable work whose command fails this often becomes a dead letter. */
const maxFailures = 3;

export class Settlement {
  readonly refused: RefusedWork;
  readonly early: EarlyWork;
  private readonly parts: SettlementParts;

  constructor(parts: SettlementParts) {
    this.parts = parts;
    this.refused = new RefusedWork(parts.log);
    this.early = new EarlyWork(parts.log);
  }

  settle(unit: TurnUnit, outcome: CommitOutcome): void {
    // The next batch may already be in flight.
    for (const part of unit.parts) if (part.activation.sending === part) part.activation.sending = null;
    if (outcome.kind === 'committed') this.committed(unit, outcome.seqs);
    else this.notCommitted(unit, outcome);
  }

  /** A turn that changed nothing is answered when ownership is confirmed; if the actor was lost meanwhile, it is asked again. */
  confirmed(activation: Activation, envelope: Envelope, confirmation: Promise<void>): void {
    confirmation.then(
      () => {
        if (activation.phase === 'dropped') this.again(activation, envelope);
        else this.parts.pending.settle(envelope, envelope.error, envelope.reply);
      },
      (error) => this.parts.pending.settle(envelope, error, undefined),
    );
  }

  /** Callers that wait for a later turn of a lost actor are routed to its new owner. */
  moved(deferred: { activation: Activation; envelope: Envelope }[]): void {
    for (const { activation, envelope } of deferred) this.again(activation, envelope);
  }

  /** The command of durable work threw, or came too early: it is retried after a pause, or given up. */
  threw(activation: Activation, envelope: Envelope, failure: unknown): void {
    if (failure instanceof NotYet) return this.retryEarly(activation, envelope, failure);
    if (++envelope.failures >= maxFailures) envelope.givenUp = failure instanceof Error ? failure : new Error(String(failure));
    this.routeLater(activation, envelope);
  }

  private retryEarly(activation: Activation, envelope: Envelope, failure: NotYet): void {
    const about = { kind: activation.kind.name, id: activation.id, command: envelope.command, source: envelope.source };
    const pauseMs = this.early.pauseMs(envelope, failure, about);
    if (pauseMs === null) envelope.givenUp = failure;
    this.routeAfter(pauseMs ?? 0, activation, envelope);
  }

  private committed(unit: TurnUnit, seqs: number[]): void {
    const { after } = this.parts;
    // J2: queries see all rows before any caller is answered.
    for (const { activation, row } of unit.parts) if (row !== null) activation.committed = row;
    for (const part of unit.parts) this.partCommitted(part);
    this.parts.commands.decided(unit.commands, true);
    if (unit.events.length > 0) after.events(unit.events, seqs);
    if (unit.cancelledEffects.length > 0) after.cancelled(unit.cancelledEffects);
    if (unit.messages.length > 0) after.messages(unit.messages);
    if (unit.effects !== null) after.effects([...unit.effects.values()]);
  }

  private partCommitted({ kind, id, timers, taken, waiting, answered }: TurnPart): void {
    const { pending } = this.parts;
    if (timers !== null) {
      for (const [name, timer] of timers) {
        if (timer === null) this.parts.timers.clear(kind, id, name);
        else this.parts.timers.set(timer);
      }
    }
    for (const envelope of taken) if (envelope.deferredKey === null) pending.settle(envelope, envelope.error, envelope.reply);
    for (const envelope of waiting) pending.settle(envelope, envelope.error, envelope.reply);
    if (answered !== null) for (const { envelope, error, reply } of answered) pending.settle(envelope, error, reply);
  }

  private notCommitted(unit: TurnUnit, outcome: Exclude<CommitOutcome, { kind: 'committed' }>): void {
    const { commit, deferred } = this.parts;
    // J4. Units found here are searched in turn.
    const units = new Set([unit]);
    for (const { parts } of units) for (const { activation } of parts) if (activation.open !== null) units.add(activation.open.unit);
    const parts = [...units].flatMap((undone) => undone.parts);
    for (const built of units) if (built !== unit) commit.withdraw(built);
    const inMailboxes = parts.map(({ activation }) => ({ activation, envelopes: this.parts.drop(activation) }));
    // The turns of these callers may be committed: the callers continue to wait for an answer.
    for (const { activation, answered } of parts) {
      for (const { key, envelope } of answered ?? []) if (!envelope.settled) deferred.hold(key, activation, envelope);
    }
    for (const { commands } of units) this.parts.commands.decided(commands, false);
    const dealtWith = new Set(outcome.kind === 'refused' ? [] : this.blame(unit, outcome));
    const undoneTurns = parts
      .flatMap(({ activation, taken, waiting }) => [...taken, ...waiting].map((envelope) => ({ activation, envelope })))
      .sort((a, b) => a.envelope.order - b.envelope.order);
    for (const { activation, envelope } of undoneTurns)
      if (!dealtWith.has(envelope)) this.again(activation, envelope, outcome.kind === 'repeated');
    for (const { activation, envelopes } of inMailboxes) for (const envelope of envelopes) this.again(activation, envelope);
  }

  /** Returns the envelopes that are handled here and must not be retried at once. */
  private blame(unit: TurnUnit, outcome: Blamable): Envelope[] {
    const { pending, log } = this.parts;
    const taken = unit.parts.flatMap((part) => part.taken);
    if (outcome.kind === 'unavailable') {
      // They run alone next, so that one refused envelope does not delay the others.
      for (const envelope of taken) envelope.alone ||= taken.length > 1;
      for (const part of unit.parts) for (const envelope of part.taken) this.unavailable(part.activation, envelope, outcome.error);
      return taken;
    }
    if (taken.length !== 1) {
      for (const envelope of taken) envelope.alone = true;
      return [];
    }
    const [only] = taken as [Envelope];
    const { activation, kind, id } = unit.parts.find((part) => part.taken.length === 1)!;
    if (outcome.kind === 'repeated') {
      this.settleDuplicate(only);
      return taken;
    }
    log.error({ kind, id, command: only.command, err: outcome.error }, 'the database refused what a turn recorded');
    if (!isDurable(only)) pending.settle(only, new AppError('internal', 'Internal Server Error', { cause: outcome.error }), undefined);
    // The dead letter itself was refused: its command does not run again, only the dead letter is retried.
    else if (only.givenUp !== null) this.tryLater(activation, only, outcome.error);
    else this.threw(activation, only, outcome.error);
    return taken;
  }

  /** Nothing was written, and the turn is not the cause. A caller gets `unavailable`; durable work is retried until it is accepted. */
  private unavailable(activation: Activation, envelope: Envelope, error: Error): void {
    if (isDurable(envelope)) return this.tryLater(activation, envelope, error);
    const told = new AppError('unavailable', 'The database is too busy; nothing was done. Try again shortly', {
      retryAfterS: 2,
      cause: error,
    });
    this.parts.pending.settle(envelope, told, undefined);
  }

  /** A duplicate of committed work: durable work is done, a command gets the recorded reply. */
  private settleDuplicate(envelope: Envelope): void {
    if (envelope.commandId === null) this.parts.pending.settle(envelope, undefined, envelope.reply);
    else this.parts.commands.answerDuplicate(envelope.commandId, envelope);
  }

  /**
   * Routes an envelope to its actor again, because it was not taken or its turn is undone.
   *
   * @param repeated its unit contains a duplicate, which may be this envelope: look up the recorded reply before its command runs again
   */
  again(activation: Activation, envelope: Envelope, repeated = false): void {
    if (envelope.settled) return;
    const waiting = undone(this.parts.deferred, envelope);
    if (repeated) this.parts.enter(activation, waiting);
    else this.parts.route(activation, waiting);
  }

  /** Routes it after a pause, in which other envelopes continue. */
  private routeLater(activation: Activation, envelope: Envelope): void {
    this.routeAfter(envelope.givenUp === null ? 25 * 4 ** envelope.failures : 0, activation, envelope);
  }

  /** Likewise, for a failure that its command did not cause. */
  private tryLater(activation: Activation, envelope: Envelope, error: Error): void {
    const about = { kind: activation.kind.name, id: activation.id, command: envelope.command, source: envelope.source };
    this.routeAfter(this.refused.pauseMs(envelope, error, about), activation, envelope);
  }

  private routeAfter(pauseMs: number, activation: Activation, envelope: Envelope): void {
    undone(this.parts.deferred, envelope);
    setTimeout(() => this.parts.route(activation, envelope), pauseMs).unref();
  }
}

function undone(deferred: DeferredCallers, envelope: Envelope): Envelope {
  if (envelope.deferredKey !== null) deferred.forget(envelope);
  envelope.deferredKey = null;
  envelope.reply = undefined;
  envelope.error = undefined;
  envelope.taken = false;
  return envelope;
}
