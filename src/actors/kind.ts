/** A registered kind of actor: its definition, its table, and the activations this node holds. */
import type { RemoteAsk } from '../cluster/placement.ts';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import type { Table } from '../storage/table.ts';
import type { Activation } from './activation.ts';
import type { AnyActor } from './define-actor.ts';
import { inputMismatch } from './durable-input.ts';
import { parsedName } from './recorded-name.ts';

export type Kind = {
  readonly name: string;
  readonly definition: AnyActor;
  readonly table: Table;
  /** The property of the state that holds the actor's id. */
  readonly idProperty: string;
  readonly activations: Map<string, Activation>;
  readonly mailboxLimit: number;
  readonly isVital: boolean;
  readonly idleTimeoutMs: number;
  readonly sendsBeforeItExists: boolean;
};

/** Throws if the definition's table cannot hold actors. */
export function kindOf(definition: AnyActor, database: Database): Kind {
  const table = database.table(definition.entity);
  if (table.primaryKey.length !== 1) throw new Error(`The primary key of ${table.name} must be the id of an actor, one column`);
  return {
    name: definition.ref.kind,
    definition,
    table,
    idProperty: table.primaryKey[0]!.property,
    activations: new Map(),
    mailboxLimit: definition.mailboxLimit ?? 1_000,
    isVital: definition.isVital ?? false,
    idleTimeoutMs: definition.idleTimeoutMs ?? 300_000,
    sendsBeforeItExists: definition.sendsBeforeItExists ?? false,
  };
}

/** Whether this version of the service knows the recorded name: the command, and this version of its input. */
export function supportsCommand({ definition }: Kind, recorded: string): boolean {
  if (Object.hasOwn(definition.commands, recorded)) return true;
  const { name, version } = parsedName(recorded);
  return Object.hasOwn(definition.commands, name) && version <= (definition.ref.versions?.[name] ?? 1);
}

/** The mismatch of a message's or timer's input and its schema; null if there is none. */
export function inputFault({ definition }: Kind, recorded: string, input: unknown): string | null {
  return definition.inputs === undefined ? null : inputMismatch(definition.inputs[parsedName(recorded).name], input);
}

/** As `supportsCommand`, for an effect. */
export function supportsEffect({ definition }: Kind, recorded: string): boolean {
  const { name, version } = parsedName(recorded);
  const effect = Object.hasOwn(definition.effects ?? {}, name) ? definition.effects![name]! : null;
  return effect !== null && version <= (effect.version ?? 1);
}

/**
 * Throws if another node's ask uses something of this kind that this version does not know: an outcome waits until a node that knows it
 * owns the actor; a caller should try again.
 */
export function assertSupported(kind: Kind, { name, query, effectId }: RemoteAsk): void {
  if (query ? Object.hasOwn(kind.definition.queries, name) : supportsCommand(kind, name)) return;
  if (effectId !== null) throw new AppError('shard_not_owned', 'This version does not know the outcome');
  throw new AppError('unavailable', 'The service is being updated; try again shortly', { retryAfterS: 5 });
}
