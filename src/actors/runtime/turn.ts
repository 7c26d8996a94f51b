/** One turn: the context that records what a command wants, written into the activation's commit unit only when the command succeeded. */
import type { Clock } from '../../clock.ts';
import { isActorId, shardOf } from '../../cluster/address.ts';
import { AppError } from '../../errors.ts';
import { type IdPrefix, idPrefixes, newId } from '../../ids.ts';
import type { CommitUnit, EffectDraft, EventDraft, MessageDraft, TimerDraft } from '../../storage/commit-unit.ts';
import type { AnyEntity, Database } from '../../storage/database.ts';
import { RawJson, type Row, type Table } from '../../storage/table.ts';
import type { Activation } from './activation.ts';
import type { ActorRef, NewEvent, TurnContext } from './define-actor.ts';

export class TurnRecord implements TurnContext {
  readonly id: string;
  private readonly clock: Clock;
  private readAtMs: number | null = null;
  private readonly activation: Activation;
  private readonly database: Database;
  events: EventDraft[] | null = null;
  messages: MessageDraft[] | null = null;
  effects: EffectDraft[] | null = null;
  cancelled: string[] | null = null;
  timers: Map<string, TimerDraft | null> | null = null;
  rows: { table: Table; key: string; row: object }[] | null = null;
  deferred: string | null = null;
  answers: { key: string; reply: unknown }[] | null = null;
  /** The turn's span, of which its commit, messages and effects become parts. */
  private readonly trace: string | null;

  constructor(activation: Activation, clock: Clock, database: Database, trace: string | null = null) {
    this.activation = activation;
    this.id = activation.id;
    this.clock = clock;
    this.database = database;
    this.trace = trace;
  }

  /** One time for the whole turn, read when it is first wanted: reading the clock is a good part of a turn that does little. */
  get nowMs(): number {
    this.readAtMs ??= this.clock.nowMs();
    return this.readAtMs;
  }

  newId<P extends IdPrefix>(prefix: P): `${P}${string}` {
    return newId(prefix, this.nowMs);
  }

  emit(event: NewEvent): void {
    (this.events ??= []).push({
      accountId: event.accountId,
      id: newId(idPrefixes.event, this.nowMs),
      type: event.type,
      taskId: event.taskId ?? null,
      data: new RawJson(event.data),
      createdAt: this.nowMs,
    });
  }

  send(to: ActorRef<any>, id: string, command: string, input: unknown): void {
    if (!isActorId(id)) throw new Error(`${JSON.stringify(id)} is no id of an actor`);
    (this.messages ??= []).push({
      id: newId(idPrefixes.message, this.nowMs),
      shard: shardOf(to.kind, id),
      kind: to.kind,
      actorId: id,
      command,
      input,
      createdAt: this.nowMs,
      trace: this.trace,
    });
  }

  run(effect: string, input: object): string {
    const kind = this.activation.kind;
    if (kind.definition.effects?.[effect] === undefined) throw new Error(`${kind.name} has no effect ${effect}`);
    const id = newId(idPrefixes.effect, this.nowMs);
    const { shard } = this.activation;
    (this.effects ??= []).push({
      id,
      shard,
      kind: kind.name,
      actorId: this.id,
      name: effect,
      input,
      startedBy: null,
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
    (this.timers ??= new Map()).set(name, { kind: kind.name, actorId: this.id, name, shard, command, input, dueAt: dueMs });
  }

  unschedule(name: string): void {
    (this.timers ??= new Map()).set(name, null);
  }

  append(entity: AnyEntity, row: object): void {
    const table = this.database.table(entity);
    const key = table.primaryKey.map((column) => String((row as Row)[column.property])).join('\n');
    (this.rows ??= []).push({ table, key, row });
  }

  defer(key: string): void {
    this.deferred = key;
  }

  answer(key: string, reply: unknown): void {
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
      this.answers === null
    );
  }

  /** Adds what the turn recorded to the unit its batch will commit. */
  writeTo(unit: CommitUnit): void {
    if (this.trace !== null) (unit.traces ??= []).push(this.trace);
    if (this.events !== null) unit.events.push(...this.events);
    if (this.messages !== null) unit.messages.push(...this.messages);
    if (this.effects !== null) for (const effect of this.effects) (unit.effects ??= new Map()).set(effect.id, effect);
    if (this.cancelled !== null) {
      // Begun and ended in one batch: it never was.
      for (const id of this.cancelled) if (unit.effects?.delete(id) !== true) unit.cancelledEffects.push(id);
    }
    if (this.timers !== null) for (const [name, timer] of this.timers) (unit.timers ??= new Map()).set(name, timer);
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

/** A refusal is an `AppError` that a command threw on purpose; anything else is a defect in it. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'internal';
}
