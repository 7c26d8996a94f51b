/** One turn: the context records the command's requests; they are written into the activation's commit unit only when the command succeeds. */
import type { Clock } from '../clock.ts';
import { isActorId, shardOf } from '../cluster/address.ts';
import { AppError } from '../errors.ts';
import { type IdPrefix, idPrefixes, newId } from '../ids.ts';
import type { EffectDraft, EventDraft, MessageDraft, TimerDraft } from '../storage/commit-unit.ts';
import type { AnyEntity, Database } from '../storage/database.ts';
import { RawJson, type Row, type Table } from '../storage/table.ts';
import type { Activation } from './activation.ts';
import { ColocatedTransaction, type ColocatedTransactionParts } from './colocated-transaction.ts';
import type { ActorRef, NewEvent, Turn, TurnContext } from './define-actor.ts';
import type { Envelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import { parsedName, recordedName } from './recorded-name.ts';
import type { TurnPart } from './turn-unit.ts';

export type TurnRecordParts = ColocatedTransactionParts & { clock: Clock; database: Database };

export class TurnRecord implements TurnContext {
  readonly id: string;
  private readAtMs: number | null = null;
  private readonly activation: Activation;
  /** null: it is a participant in a co-located transaction of another actor. */
  private readonly envelope: Envelope | null;
  private readonly parts: TurnRecordParts;
  events: EventDraft[] | null = null;
  messages: MessageDraft[] | null = null;
  effects: EffectDraft[] | null = null;
  cancelled: string[] | null = null;
  timers: Map<string, TimerDraft | null> | null = null;
  rows: { table: Table; key: string; row: object }[] | null = null;
  deferred: string | null = null;
  answers: { key: string; reply: unknown }[] | null = null;
  transaction: ColocatedTransaction | null = null;
  /** The turn's span, the parent of its commit, messages and effects. */
  private readonly trace: string | null;

  constructor(activation: Activation, envelope: Envelope | null, parts: TurnRecordParts, trace: string | null) {
    this.activation = activation;
    this.id = activation.id;
    this.envelope = envelope;
    this.parts = parts;
    this.trace = trace;
  }

  /** One time for the whole turn, read when first used: reading the clock is a large part of a small turn's cost. */
  get nowMs(): number {
    this.readAtMs ??= this.parts.clock.nowMs();
    return this.readAtMs;
  }

  newId<P extends IdPrefix>(prefix: P, owner: string | null): `${P}${string}` {
    return newId(prefix, owner, this.nowMs);
  }

  emit(event: NewEvent): void {
    (this.events ??= []).push({
      accountId: event.accountId,
      id: newId(idPrefixes.event, event.accountId, this.nowMs),
      type: event.type,
      taskId: event.taskId ?? null,
      data: new RawJson(event.data),
      createdAt: this.nowMs,
    });
  }

  send(to: ActorRef<any>, id: string, command: string, input: unknown): void {
    if (!isActorId(id)) throw new Error(`${JSON.stringify(id)} is not the id of an actor`);
    (this.messages ??= []).push({
      id: newId(idPrefixes.message, id, this.nowMs),
      shard: shardOf(to.kind, id),
      kind: to.kind,
      actorId: id,
      command: recordedName(command, to.versions?.[command]),
      input,
      createdAt: this.nowMs,
      trace: this.trace,
    });
  }

  callColocated(to: ActorRef<any>, id: string, command: string, input: unknown): any {
    if (this.envelope === null) throw new Error('A participant of a co-located transaction cannot call another one');
    this.transaction ??= new ColocatedTransaction(this.activation, this.envelope, this.parts);
    const other = this.transaction.join(to.kind, id);
    const record = new TurnRecord(other, null, this.parts, null);
    record.readAtMs = this.nowMs;
    const { state, reply } = runCommand(other, this.transaction.stateOf(other), command, input, record);
    if (record.deferred !== null) throw new Error('A participant of a co-located transaction has no caller to defer');
    this.transaction.turns.push({ activation: other, state, record });
    return reply;
  }

  run(effect: string, input: object): string {
    const kind = this.activation.kind;
    const definition = kind.definition.effects?.[effect];
    if (definition === undefined) throw new Error(`${kind.name} has no effect ${effect}`);
    const id = newId(idPrefixes.effect, this.id, this.nowMs);
    const { shard } = this.activation;
    (this.effects ??= []).push({
      id,
      shard,
      kind: kind.name,
      actorId: this.id,
      name: recordedName(effect, definition.version),
      input,
      startedBy: null,
      recordedBy: null,
      accountId: null,
      starts: 0,
      createdAt: this.nowMs,
      trace: this.trace,
    });
    return id;
  }

  cancel(effectId: string): void {
    (this.cancelled ??= []).push(effectId);
  }

  schedule(name: string, dueMs: number, command: string, input: object): void {
    const { shard, kind } = this.activation;
    const recorded = recordedName(command, kind.definition.ref.versions?.[command]);
    (this.timers ??= new Map()).set(name, { kind: kind.name, actorId: this.id, name, shard, command: recorded, input, dueAt: dueMs });
  }

  unschedule(name: string): void {
    (this.timers ??= new Map()).set(name, null);
  }

  append(entity: AnyEntity, row: object): void {
    const table = this.parts.database.table(entity);
    const key = table.primaryKey.map((column) => String((row as Row)[column.property])).join('\n');
    (this.rows ??= []).push({ table, key, row });
  }

  defer(key: string): void {
    this.deferred = key;
  }

  answer(_command: string, key: string, reply: unknown): void {
    (this.answers ??= []).push({ key, reply });
  }

  get isEmpty(): boolean {
    return (
      this.events === null &&
      this.messages === null &&
      this.effects === null &&
      this.cancelled === null &&
      this.timers === null &&
      this.rows === null &&
      this.deferred === null &&
      this.answers === null &&
      this.transaction === null
    );
  }

  /** Adds the turn's records to its commit unit. */
  writeTo(part: TurnPart): void {
    const { unit } = part;
    if (this.trace !== null) (unit.traces ??= []).push(this.trace);
    if (this.events !== null) unit.events.push(...this.events);
    if (this.messages !== null) {
      for (const message of this.messages) part.activation.recordSent(message);
      unit.messages.push(...this.messages);
    }
    if (this.effects !== null) {
      const accountId = accountOf(part.activation.state);
      for (const effect of this.effects) {
        effect.accountId = accountId;
        (unit.effects ??= new Map()).set(effect.id, effect);
      }
    }
    if (this.cancelled !== null) {
      // Started and cancelled in one batch: neither is stored.
      for (const id of this.cancelled) if (unit.effects?.delete(id) !== true) unit.cancelledEffects.push(id);
    }
    if (this.timers !== null) for (const [name, timer] of this.timers) (part.timers ??= new Map()).set(name, timer);
    if (this.rows !== null) {
      for (const { table, key, row } of this.rows) {
        const tables = (unit.rows ??= new Map<Table, Map<string, object>>());
        let rows = tables.get(table);
        if (rows === undefined) {
          rows = new Map();
          tables.set(table, rows);
        }
        rows.set(key, row);
      }
    }
  }
}

/** The account that an actor works for, from its state. */
function accountOf(state: object | null): string | null {
  const accountId = (state as Row | null)?.accountId;
  return typeof accountId === 'string' ? accountId : null;
}

/** Runs an actor's command on this state. Throws the command's error, and an error if the command returns an invalid state. */
export function runCommand(
  { kind, id }: Activation,
  state: object | null,
  recorded: string,
  input: unknown,
  ctx: TurnContext,
): Turn<object | null, unknown> {
  const { commands } = kind.definition;
  const command = commands[recorded] ?? commands[parsedName(recorded).name];
  if (command === undefined) throw new Error(`${kind.name} has no command ${recorded}`);
  const turn = command(state, input, ctx);
  if (turn.state !== state) checkState(kind, id, turn);
  return turn;
}

/** A state that would overwrite another actor, or that no actor could load, is a defect of the command. */
function checkState(kind: Kind, id: string, turn: { state: unknown }): void {
  const { state } = turn;
  if (turn instanceof Promise) {
    turn.catch(() => {});
    throw new Error('A command must not be asynchronous: await in an effect');
  }
  if (typeof state !== 'object' || state === null) throw new Error('A command must return a state; what exists cannot become nothing');
  if ((state as Row)[kind.idProperty] !== id) throw new Error(`The state's ${kind.idProperty} is not the actor's id`);
}

/** A refusal is an `AppError` that a command threw; any other error is a defect of the command. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'internal';
}
