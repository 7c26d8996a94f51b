/** A turn's context that does nothing but remember what was recorded on it: commands are plain functions, so they are tested without a runtime. */
import type { TurnContext } from '../../src/actors/define-actor.ts';
import type { Json } from './json.ts';

export type RecordedMessage = { kind: string; id: string; command: string; input: Json };
export type RecordedEffect = { id: string; name: string; input: Json };
export type RecordedEvent = { type: string; taskId?: string; accountId: string; data: Json };

/** What a command of this definition takes. */
export type InputOf<A extends { commands: object }, C extends keyof A['commands']> = A['commands'][C] extends (
  state: never,
  input: infer I,
  ctx: never,
) => unknown
  ? I
  : never;

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
  schedule(): void {}
  unschedule(): void {}
  defer(): void {}
  answer(): void {}
}
