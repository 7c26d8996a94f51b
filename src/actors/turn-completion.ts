/**
 * Publishes the results of a unit's turns when it is committed, and undoes the turns when it is not.
 *
 * R5 Every envelope is answered once: by its turn, by a failure, or when its deadline has passed.
 * R6 When a commit is refused or fails, the activation and all turns built on it are dropped; waiting envelopes are retried from the
 *    committed state within their deadlines. A unit's failure is attributed to a turn only if it was alone in the unit, and only if the
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

export type TurnCompletionParts = {
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
  routeOnce(activation: Activation, envelope: Envelope): void;
  /** Whether this node runs turns of the shard. */
  owns(shard: number): boolean;
};

type FailedOutcome = { kind: 'failed' | 'repeated' | 'unavailable'; error: Error };

/** Durable work whose command fails this often becomes a dead letter. */
const maxFailures = 3;

export class TurnCompletion {
  readonly refusedWork: RefusedWork;
  readonly earlyWork: EarlyWork;
  private readonly parts: TurnCompletionParts;

  constructor(parts: TurnCompletionParts) {
    this.parts = parts;
    this.refusedWork = new RefusedWork(parts.log);
    this.earlyWork = new EarlyWork(parts.log);
  }

  complete(unit: TurnUnit, outcome: CommitOutcome): void {
    // The next batch may already be in flight.
    for (const part of unit.parts) if (part.activation.sending === part) part.activation.sending = null;
    if (outcome.kind === 'committed') this.committed(unit, outcome.seqs);
    else this.notCommitted(unit, outcome);
  }

  /** A turn that changed nothing is answered when ownership is confirmed; if the actor was lost meanwhile, it is asked again. */
  answerWhenConfirmed(activation: Activation, envelope: Envelope, confirmation: Promise<void>): void {
    activation.unconfirmed++;
    confirmation.then(
      () => {
        activation.unconfirmed--;
        if (activation.phase === 'dropped') this.retry(activation, envelope);
        else this.parts.pending.settle(envelope, envelope.error, envelope.reply);
      },
      (error) => {
        activation.unconfirmed--;
        this.parts.pending.settle(envelope, error, undefined);
      },
    );
  }

  /** Callers that wait for a later turn of a lost actor are routed to its new owner. */
  reroute(deferred: { activation: Activation; envelope: Envelope }[]): void {
    for (const { activation, envelope } of deferred) this.retry(activation, envelope);
  }

  /** The command of durable work threw, or arrived too early: it is retried after a pause, or becomes a dead letter. */
  commandFailed(activation: Activation, envelope: Envelope, failure: unknown): void {
    if (failure instanceof NotYet) return this.retryEarly(activation, envelope, failure);
    if (++envelope.failures >= maxFailures) envelope.deadLetterReason = failure instanceof Error ? failure : new Error(String(failure));
    this.routeLater(activation, envelope);
  }

  private retryEarly(activation: Activation, envelope: Envelope, failure: NotYet): void {
    const about = { kind: activation.kind.name, id: activation.id, command: envelope.command, source: envelope.source };
    const pauseMs = this.earlyWork.pauseMs(envelope, failure, about);
    if (pauseMs === null) envelope.deadLetterReason = failure;
    this.routeAfterPause(pauseMs ?? 0, activation, envelope);
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

  private partCommitted({ activation, kind, id, timers, envelopes, waiting, deferredAnswers }: TurnPart): void {
    const { pending } = this.parts;
    if (timers !== null) {
      for (const [name, timer] of timers) {
        if (timer === null) this.parts.timers.clear(kind, id, name);
        else this.parts.timers.set(timer);
      }
    }
    for (const envelope of envelopes) {
      if (envelope.deferredKey === null) pending.settle(envelope, envelope.error, envelope.reply);
      envelope.deferralUndecided = false;
    }
    for (const envelope of waiting) pending.settle(envelope, envelope.error, envelope.reply);
    if (deferredAnswers !== null) for (const { envelope, error, reply } of deferredAnswers) pending.settle(envelope, error, reply);
    // Its shard was lost meanwhile: the turn that answers these callers runs at the next owner.
    if (activation.phase === 'dropped')
      for (const envelope of envelopes) if (envelope.deferredKey !== null) this.retry(activation, envelope);
  }

  private notCommitted(unit: TurnUnit, outcome: Exclude<CommitOutcome, { kind: 'committed' }>): void {
    const { commit, deferred } = this.parts;
    // J4. Units added during the iteration are visited too.
    const units = new Set([unit]);
    for (const { parts } of units) for (const { activation } of parts) if (activation.open !== null) units.add(activation.open.unit);
    const parts = [...units].flatMap((resetForRetry) => resetForRetry.parts);
    for (const dependent of units) if (dependent !== unit) commit.withdraw(dependent);
    const inMailboxes = parts.map(({ activation }) => ({ activation, envelopes: this.parts.drop(activation) }));
    // The turns of these callers may be committed: the callers continue to wait for an answer.
    for (const { activation, deferredAnswers } of parts) {
      for (const { key, envelope } of deferredAnswers ?? []) if (!envelope.settled) deferred.add(key, activation, envelope);
    }
    for (const { commands } of units) this.parts.commands.decided(commands, false);
    const handled = new Set(outcome.kind === 'refused' ? [] : this.attributeFailure(unit, outcome));
    const undoneTurns = parts
      .flatMap(({ activation, envelopes, waiting }) => [...envelopes, ...waiting].map((envelope) => ({ activation, envelope })))
      .sort((a, b) => a.envelope.order - b.envelope.order);
    for (const { activation, envelope } of undoneTurns)
      if (!handled.has(envelope)) this.retry(activation, envelope, outcome.kind === 'repeated');
    for (const { activation, envelopes } of inMailboxes) for (const envelope of envelopes) this.retry(activation, envelope);
    // The callers that waited for an undone answer of a lost actor: the next owner answers them.
    for (const { activation, deferredAnswers } of parts) {
      if (this.parts.owns(activation.shard)) continue;
      for (const { envelope } of deferredAnswers ?? []) if (envelope.deferredKey !== null) this.retry(activation, envelope);
    }
  }

  /** Returns the envelopes that are handled here and must not be retried at once. */
  private attributeFailure(unit: TurnUnit, outcome: FailedOutcome): Envelope[] {
    const { pending, log } = this.parts;
    const envelopes = unit.parts.flatMap((part) => part.envelopes);
    if (outcome.kind === 'unavailable') {
      // They run alone next, so that one refused envelope does not delay the others.
      for (const envelope of envelopes) envelope.alone ||= envelopes.length > 1;
      for (const part of unit.parts) for (const envelope of part.envelopes) this.unavailable(part.activation, envelope, outcome.error);
      return envelopes;
    }
    if (envelopes.length !== 1) {
      for (const envelope of envelopes) envelope.alone = true;
      return [];
    }
    const [only] = envelopes as [Envelope];
    const { activation, kind, id } = unit.parts.find((part) => part.envelopes.length === 1)!;
    if (outcome.kind === 'repeated') {
      this.settleDuplicate(only);
      return envelopes;
    }
    log.error({ kind, id, command: only.command, err: outcome.error }, 'the database refused what a turn recorded');
    if (!isDurable(only)) pending.settle(only, new AppError('internal', 'Internal Server Error', { cause: outcome.error }), undefined);
    // The dead letter itself was refused: its command does not run again, only the dead letter is retried.
    else if (only.deadLetterReason !== null) this.retryUntilAccepted(activation, only, outcome.error);
    else this.commandFailed(activation, only, outcome.error);
    return envelopes;
  }

  /** Nothing was written, and the turn is not the cause. A caller gets `unavailable`; durable work is retried until it is accepted. */
  private unavailable(activation: Activation, envelope: Envelope, error: Error): void {
    if (isDurable(envelope)) return this.retryUntilAccepted(activation, envelope, error);
    const failure = new AppError('unavailable', 'The database is too busy; nothing was done. Try again shortly', {
      retryAfterS: 2,
      cause: error,
    });
    this.parts.pending.settle(envelope, failure, undefined);
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
  retry(activation: Activation, envelope: Envelope, repeated = false): void {
    if (envelope.settled) return;
    const waiting = resetForRetry(this.parts.deferred, envelope);
    if (repeated) this.parts.routeOnce(activation, waiting);
    else this.parts.route(activation, waiting);
  }

  /** Routes it after a pause, in which other envelopes continue. */
  private routeLater(activation: Activation, envelope: Envelope): void {
    this.routeAfterPause(envelope.deadLetterReason === null ? 25 * 4 ** envelope.failures : 0, activation, envelope);
  }

  /** Likewise, for a failure that its command did not cause. */
  private retryUntilAccepted(activation: Activation, envelope: Envelope, error: Error): void {
    const about = { kind: activation.kind.name, id: activation.id, command: envelope.command, source: envelope.source };
    this.routeAfterPause(this.refusedWork.pauseMs(envelope, error, about), activation, envelope);
  }

  private routeAfterPause(pauseMs: number, activation: Activation, envelope: Envelope): void {
    resetForRetry(this.parts.deferred, envelope);
    setTimeout(() => this.parts.route(activation, envelope), pauseMs).unref();
  }
}

function resetForRetry(deferred: DeferredCallers, envelope: Envelope): Envelope {
  if (envelope.deferredKey !== null) deferred.remove(envelope);
  envelope.deferredKey = null;
  envelope.deferralUndecided = false;
  envelope.reply = undefined;
  envelope.error = undefined;
  envelope.mayHaveEffect = false;
  return envelope;
}
