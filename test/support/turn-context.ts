/** A turn's context that only records: commands are plain functions, so they are tested without a runtime. */
import type { AnyActor, Contract, Turn, TurnContext } from '../../src/actors/define-actor.ts';
import type { Json } from './json.ts';

export type RecordedMessage = { kind: string; id: string; command: string; input: Json };
export type RecordedEffect = { id: string; name: string; input: Json };
export type RecordedEvent = { type: string; taskId?: string; accountId: string; data: Json };

/** A command of an actor with what it takes, e.g. `['deposit', { … }]`: a command or a field that was renamed does not compile. */
export type Call<C extends Contract> = {
  [K in keyof C['commands'] & string]: [command: K, input: Parameters<C['commands'][K]>[0]];
}[keyof C['commands'] & string];

/** Runs a command by its name, as the runtime does with messages, timers and outcomes. */
export function play(actor: { commands: object }, command: string, state: unknown, input: unknown, ctx: TurnContext): Turn<Json, Json> {
  const run = (actor as AnyActor).commands[command];
  if (run === undefined) throw new Error(`There is no command ${command}`);
  return run(state, input, ctx);
}

let made = 0;

export class RecordedTurn implements TurnContext {
  readonly id: string;
  readonly nowMs: number;
  readonly events: RecordedEvent[] = [];
  readonly messages: RecordedMessage[] = [];
  readonly effects: RecordedEffect[] = [];
  readonly cancelled: string[] = [];
  readonly rows: Json[] = [];

  constructor(id: string, nowMs = 0) {
    this.id = id;
    this.nowMs = nowMs;
  }

  newId<P extends string>(prefix: P, _owner: string | null): `${P}${string}` {
    return `${prefix}${++made}`;
  }
  emit(event: RecordedEvent): void {
    this.events.push(structuredClone(event));
  }
  send(to: { kind: string }, id: string, command: string, input: unknown): void {
    this.messages.push({ kind: to.kind, id, command, input: structuredClone(input) });
  }
  callColocated(): never {
    throw new Error('A recorded turn has no co-located actor to call');
  }
  run(name: string, input: unknown): string {
    const id = this.newId('eff_', null);
    this.effects.push({ id, name, input: structuredClone(input) });
    return id;
  }
  cancel(effectId: string): void {
    this.cancelled.push(effectId);
  }
  append(_entity: unknown, row: object): void {
    this.rows.push(structuredClone(row));
  }
  schedule(_name: string, _dueMs: number): void {}
  unschedule(_name: string): void {}
  defer(): void {}
  answer(): void {}
}
