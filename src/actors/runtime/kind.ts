/** A registered kind of actor: its definition, its table, and the activations this node holds. */
import type { Database } from '../../storage/database.ts';
import type { Table } from '../../storage/table.ts';
import type { Activation } from './activation.ts';
import type { AnyActor } from './define-actor.ts';

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
};

/** Throws for a definition whose table cannot hold actors. */
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
  };
}
