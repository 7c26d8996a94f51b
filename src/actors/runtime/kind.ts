/** A registered kind of actor: its definition, its table, and the activations this node holds. */
import type { Table } from '../../storage/table.ts';
import type { Activation } from './activation.ts';
import type { AnyActor } from './define-actor.ts';

export type Kind = {
  readonly name: string;
  readonly definition: AnyActor;
  readonly table: Table;
  readonly activations: Map<string, Activation>;
  readonly mailboxLimit: number;
  readonly idleTimeoutMs: number;
  /** Activations whose rows are asked for in the next load. */
  toLoad: Activation[];
};
