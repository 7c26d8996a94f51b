/**
 * Runs turns: a command on an actor's newest state; the result goes into the activation's unit of the open batch. `turn-completion.ts` handles
 * the time after the commit.
 *
 * R1 Turns of one actor run one at a time, to the end, without awaiting (they are synchronous; taking a turn inside a turn is a defect).
 * R2 No result of a turn, refusals included, is answered before all state that it was based on is committed.
 * R3 A query sees committed state only.
 * R4 A turn that throws changes nothing: its record is dropped, the activation and all others continue.
 * R7 A message is taken after all earlier ones of its sender to this actor: they are consumed, or their turns are among those it builds on.
 * R8 A refusal that is final for its caller is final for the command: if an earlier try may still arrive (`repeat`), the refusal is
 *    recorded first.
 */
import type { Clock } from '../clock.ts';
import type { Placement } from '../cluster/placement.ts';
import { CountBy } from '../counts.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Database } from '../storage/database.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import { traceFields } from '../trace-fields.ts';
import type { Span, Tracer } from '../tracing.ts';
import type { Activation } from './activation.ts';
import type { ColocatedTransaction } from './colocated-transaction.ts';
import type { CommandsInFlight } from './commands-in-flight.ts';
import { deadLetterDraft } from './dead-letter-draft.ts';
import { deepFreeze } from './deep-freeze.ts';
import { type DeferredCallers, deferredKeyOf } from './deferred-callers.ts';
import { type Envelope, isDurable } from './envelope.ts';
import { inputFault, type Kind } from './kind.ts';
import { NotYet } from './not-yet.ts';
import type { PendingAsks } from './pending-asks.ts';
import { isFinalRefusal, refusalRecord } from './recorded-refusal.ts';
import type { Timers } from './timers.ts';
import { isRefusal, runCommand, TurnRecord } from './turn.ts';
import type { TurnCompletion } from './turn-completion.ts';
import { TurnPart, TurnUnit } from './turn-unit.ts';

export type TurnsParts = {
  clock: Clock;
  log: Log;
  database: Database;
  commit: GroupCommit;
  timers: Timers;
  pending: PendingAsks;
  deferred: DeferredCallers;
  commands: CommandsInFlight;
  completion: TurnCompletion;
  placement: Placement;
  tracer: Tracer | null;
  freezeStates: boolean;
  /** The actor's activation; a new one is loading. */
  find(kind: string, id: string): Activation;
};

export class Turns {
  /** For metrics: turns discarded because their command threw. */
  readonly defects = new CountBy(['kind']);
  private running = false;
  private lastOrder = 0;
  private readonly parts: TurnsParts;

  constructor(parts: TurnsParts) {
    this.parts = parts;
  }

  /** False: not now. Nothing has happened; call it again when the participants are ready (J3). */
  accept(activation: Activation, envelope: Envelope): boolean {
    if (envelope.settled) return true;
    if (envelope.source.kind === 'query') this.answerQuery(activation, envelope);
    else if (!waitsForPredecessor(envelope)) {
      if (envelope.order === 0) {
        envelope.order = ++this.lastOrder;
        envelope.deadLetterReason ??= this.faultOf(activation, envelope);
      }
      if (this.running) throw new Error('A turn began inside a turn: commands record with ctx.send, they do not ask');
      if (envelope.deadLetterReason !== null) this.deadLetter(activation, envelope, envelope.deadLetterReason);
      else if (this.isStale(activation, envelope)) this.answerWhenCommitted(activation, envelope);
      else return this.run(activation, envelope);
    }
    return true;
  }

  /** Checks messages and timers, which another version may have stored; an outcome comes from a run of the effect. */
  private faultOf({ kind, id }: Activation, { source, command, input, trace }: Envelope): Error | null {
    if (source.kind !== 'message' && source.kind !== 'timer') return null;
    const fault = inputFault(kind, command, input);
    if (fault === null) return null;
    this.parts.log.error(
      { kind: kind.name, id, command, source, fault, ...traceFields(trace) },
      'the input of durable work does not match its schema',
    );
    return new Error(fault);
  }

  private run(activation: Activation, envelope: Envelope): boolean {
    this.parts.commit.sendEarly();
    const span = envelope.trace === null ? null : this.startSpan(activation, envelope, envelope.trace);
    const record = new TurnRecord(activation, envelope, this.parts, span?.traceparent ?? null);
    let state = activation.state;
    let failure: unknown;
    this.running = true;
    try {
      const turn = runCommand(activation, activation.state, envelope.command, envelope.input, record);
      state = turn.state;
      envelope.reply = turn.reply;
      // An error in tests only; in production the message is still sent.
      if (this.parts.freezeStates && state === null && record.messages !== null && !activation.kind.sendsBeforeItExists)
        throw new Error(`${activation.kind.name} sends a message and has no state: say so with sendsBeforeItExists`);
    } catch (error) {
      failure = error ?? new Error('The command threw undefined or null');
    } finally {
      this.running = false;
      if (span !== null && record.transaction?.isPostponed !== true) span.end(failure);
    }
    if (record.transaction?.isPostponed === true) return false;
    envelope.mayHaveEffect = true;
    if (failure !== undefined) this.failed(activation, envelope, failure, record.transaction);
    else if (state === activation.state && envelope.commandId === null && !isDurable(envelope) && record.isEmpty)
      this.answerWhenCommitted(activation, envelope);
    else this.write(activation, envelope, state, record);
    return true;
  }

  /** Runs a query's handler. Rethrows an `AppError`; a defect is logged and becomes `internal`. */
  runQuery(kind: Kind, state: object | null, name: string, input: unknown): unknown {
    try {
      const handler = kind.definition.queries[name];
      if (handler === undefined) throw new Error(`${kind.name} has no query ${name}`);
      return handler(state, input);
    } catch (error) {
      if (isRefusal(error)) throw error;
      this.parts.log.error({ kind: kind.name, query: name, err: error }, 'a query threw');
      throw new AppError('internal', 'Internal Server Error', { cause: error });
    }
  }

  private startSpan({ kind, id }: Activation, { command, source }: Envelope, trace: string): Span | null {
    const attributes = { 'troupe.actor.kind': kind.name, 'troupe.actor.id': id, 'troupe.command': command, 'troupe.source': source.kind };
    return this.parts.tracer?.startSpan(`turn ${kind.name} ${command}`, trace, attributes) ?? null;
  }

  private answerQuery(activation: Activation, envelope: Envelope): void {
    const { pending } = this.parts;
    try {
      pending.settle(envelope, undefined, this.runQuery(activation.kind, activation.committed, envelope.command, envelope.input));
    } catch (error) {
      pending.settle(envelope, error, undefined);
    }
  }

  private write(activation: Activation, envelope: Envelope, state: object | null, record: TurnRecord): void {
    const { deferred } = this.parts;
    const part = this.partOf(activation, record.transaction);
    if (record.transaction !== null)
      for (const other of record.transaction.turns) this.change(other.activation.open!, other.state, other.record);
    this.change(part, state, record);
    if (record.deferred !== null && envelope.source.kind === 'ask') {
      deferred.add(deferredKeyOf(activation, record.deferred), activation, envelope);
      envelope.deferralUndecided = true;
    }
    this.consume(part, envelope, record);
  }

  private change(part: TurnPart, state: object | null, record: TurnRecord): void {
    const { activation } = part;
    if (state !== activation.state) {
      activation.state = this.parts.freezeStates ? deepFreeze(state) : state;
      part.table = activation.kind.table;
      part.row = activation.state;
    }
    record.writeTo(part);
    if (record.answers !== null) for (const { key, reply } of record.answers) this.answer(part, key, reply);
  }

  /** R2: a turn that changes nothing is answered when the state it was based on is committed and ownership is confirmed. */
  private answerWhenCommitted(activation: Activation, envelope: Envelope): void {
    const part = activation.open ?? activation.sending;
    if (part !== null) return void part.waiting.push(envelope);
    const confirmation = this.parts.placement.confirmation();
    if (confirmation === null) this.parts.pending.settle(envelope, envelope.error, envelope.reply);
    else this.parts.completion.answerWhenConfirmed(activation, envelope, confirmation);
  }

  private failed(activation: Activation, envelope: Envelope, failure: unknown, transaction: ColocatedTransaction | null): void {
    const { log } = this.parts;
    const about = {
      kind: activation.kind.name,
      id: activation.id,
      command: envelope.command,
      source: envelope.source,
      ...traceFields(envelope.trace),
      err: failure,
    };
    if (isRefusal(failure) && !(failure instanceof NotYet) && isDurable(envelope)) {
      // A refusal consumes the envelope, like a turn that changed nothing.
      log.debug(about, 'durable work was refused');
      return this.consume(this.partOf(activation, transaction), envelope, null);
    }
    if (!isRefusal(failure)) {
      this.defects.add([activation.kind.name]);
      log.error(about, 'a command threw; its turn is discarded');
    }
    if (isDurable(envelope)) return this.parts.completion.commandFailed(activation, envelope, failure);
    envelope.error = isRefusal(failure) ? failure : new AppError('internal', 'Internal Server Error', { cause: failure });
    if (envelope.repeat && isFinalRefusal(failure)) {
      envelope.reply = refusalRecord(failure);
      return this.consume(this.partOf(activation, transaction), envelope, null);
    }
    // R2: the refusal may be based on uncommitted state of others.
    if (transaction !== null) this.partOf(activation, transaction);
    this.answerWhenCommitted(activation, envelope);
  }

  /** Consumes durable work that its actor cannot take, and keeps it as a dead letter. */
  private deadLetter(activation: Activation, envelope: Envelope, reason: Error): void {
    const part = this.partOf(activation, null);
    this.consume(part, envelope, null);
    part.unit.deadLetters.push(deadLetterDraft(activation, envelope, reason, this.parts.clock.nowMs()));
  }

  /** Adds the turn and its envelope's source to the batch. */
  private consume(part: TurnPart, envelope: Envelope, record: TurnRecord | null): void {
    const { source } = envelope;
    const { unit } = part;
    unit.alone ||= envelope.alone;
    if (envelope.deadLetter !== null) unit.deadLetters.push(envelope.deadLetter);
    if (source.kind === 'message') unit.consumedMessages.push(source.id);
    else if (source.kind === 'effect') unit.consumedEffects.push(source.id);
    else if (source.kind === 'timer' && record?.timers?.has(source.name) !== true) (part.timers ??= new Map()).set(source.name, null);
    // A deferred command gets its reply, and its command record, in a later turn.
    if (envelope.deferredKey === null) this.recordCommand(unit, envelope.commandId, envelope.reply);
    part.envelopes.push(envelope);
    envelope.mayHaveEffect = true;
    this.parts.commit.addTurn(unit);
    if (envelope.successor !== null) this.runSuccessor(part.activation, envelope);
  }

  /** R7. In a microtask: a chain of followers would otherwise be turns inside turns. */
  private runSuccessor(activation: Activation, envelope: Envelope): void {
    const successor = envelope.successor!;
    envelope.successor = null;
    queueMicrotask(() => this.parts.completion.retry(activation, successor));
  }

  private recordCommand(unit: TurnUnit, commandId: string | null, reply: unknown): void {
    if (commandId === null) return;
    unit.commands.push({ id: commandId, reply: reply ?? null, createdAt: this.parts.clock.nowMs() });
    this.parts.commands.recorded(commandId);
  }

  private answer(part: TurnPart, key: string, reply: unknown): void {
    const address = deferredKeyOf(part.activation, key);
    const error = reply instanceof AppError ? reply : undefined;
    const recorded = new Set<string>();
    for (const envelope of this.parts.deferred.take(address)) {
      const { commandId, repeat } = envelope;
      const isRecorded = error === undefined || (repeat && isFinalRefusal(error));
      if (commandId !== null && isRecorded && !recorded.has(commandId)) {
        this.recordCommand(part.unit, commandId, error === undefined ? reply : refusalRecord(error));
        recorded.add(commandId);
      }
      (part.deferredAnswers ??= []).push({ key: address, envelope, error, reply });
    }
  }

  /**
   * Whether it needs no turn: a timer that was moved or cleared after it fired, or an outcome of a cancelled effect. If that change is not
   * committed yet, the envelope waits for the commit, and is retried if the commit fails.
   */
  private isStale({ open, sending, kind, id }: Activation, { source }: Envelope): boolean {
    if (source.kind === 'timer') {
      if (open?.timers?.has(source.name) || sending?.timers?.has(source.name)) return true;
      return !this.parts.timers.isCurrent(kind.name, id, source.name, source.dueMs);
    }
    return source.kind === 'effect' && (isCancelled(open, source.id) || isCancelled(sending, source.id));
  }

  /** The actor's part of the open batch. J2: one unit for all participants of a co-located transaction; at most one of them has one already. */
  private partOf(activation: Activation, transaction: ColocatedTransaction | null): TurnPart {
    if (transaction === null) return activation.open ?? this.begin(activation, null);
    const all = [activation, ...transaction.others];
    const begun = all.find(({ open }) => open !== null)?.open ?? null;
    let unit = begun?.unit ?? null;
    for (const one of all) unit = (one.open ?? this.begin(one, unit)).unit;
    return activation.open!;
  }

  /** @param unit null: a new one */
  private begin(activation: Activation, unit: TurnUnit | null): TurnPart {
    const { commit, completion } = this.parts;
    const of = unit ?? new TurnUnit(activation.shard, completion);
    const part = new TurnPart(activation, of);
    of.parts.push(part);
    activation.open = part;
    if (unit === null) commit.add(of);
    return part;
  }
}

/** R7. True: it is taken after its predecessor. The predecessor's turn may be undone, and then this one's too. */
function waitsForPredecessor(envelope: Envelope): boolean {
  const { predecessor } = envelope;
  if (predecessor === null) return false;
  if (predecessor.settled) envelope.predecessor = null;
  else if (!predecessor.mayHaveEffect) predecessor.successor = envelope;
  return !predecessor.settled && !predecessor.mayHaveEffect;
}

function isCancelled(part: TurnPart | null, effectId: string): boolean {
  const cancelled = part?.unit.cancelledEffects;
  return cancelled !== undefined && cancelled.length > 0 && cancelled.includes(effectId);
}
