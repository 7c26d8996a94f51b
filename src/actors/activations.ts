/**
 * Loads activations and drops them. Owns the set of activations and the loading of their rows, in batches; not what an activation does.
 *
 * A1 An actor has at most one activation that is not dropped.
 * A2 A row is read only when no commit of the actor is undecided.
 * A3 A search by shard costs in proportion to the activations found, not to all on the node.
 */
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { Activation } from './activation.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { Kind } from './kind.ts';

export type ActivationsParts = {
  database: Database;
  log: Log;
  freezeStates: boolean;
  onReady(activation: Activation): void;
  /** The row could not be read; the callee drops the activation. */
  onFailed(activation: Activation, error: AppError): void;
};

const maxRowsInLoad = 500;
/** Concurrent loads; actors requested meanwhile are loaded together afterwards. */
const maxLoads = 4;

export class Activations {
  private readonly toLoad = new Map<Kind, Activation[]>();
  private readonly byShard = new Map<number, Set<Activation>>();
  private loads = 0;
  private scheduled = false;
  private readonly parts: ActivationsParts;

  constructor(parts: ActivationsParts) {
    this.parts = parts;
  }

  /** The actor's activation, marked as used; a new one is loading. */
  get(kind: Kind, id: string, shard: number): Activation {
    const existing = kind.activations.get(id);
    if (existing !== undefined) {
      existing.used = true;
      return existing;
    }
    const activation = new Activation(kind, id, shard);
    kind.activations.set(id, activation);
    const inShard = this.byShard.get(shard);
    if (inShard === undefined) this.byShard.set(shard, new Set([activation]));
    else inShard.add(activation);
    const others = this.toLoad.get(kind);
    if (others === undefined) this.toLoad.set(kind, [activation]);
    else others.push(activation);
    if (!this.scheduled) {
      this.scheduled = true;
      // Actors requested in one tick are loaded together.
      setImmediate(() => this.load());
    }
    return activation;
  }

  /** Removes an activation from memory. */
  drop(activation: Activation): void {
    activation.phase = 'dropped';
    activation.open = null;
    const { activations } = activation.kind;
    if (activations.get(activation.id) === activation) activations.delete(activation.id);
    const inShard = this.byShard.get(activation.shard);
    if (inShard?.delete(activation) && inShard.size === 0) this.byShard.delete(activation.shard);
  }

  /** A copy: activations that are loaded or dropped meanwhile do not change it. */
  ofShards(shards: Set<number>): Activation[] {
    return [...shards].flatMap((shard) => [...(this.byShard.get(shard) ?? [])]);
  }

  private load(): void {
    this.scheduled = false;
    for (const [kind, waiting] of this.toLoad) {
      while (waiting.length > 0) {
        if (this.loads >= maxLoads) return;
        this.loads++;
        void this.loadRows(kind, waiting.splice(0, maxRowsInLoad)).finally(() => {
          this.loads--;
          this.load();
        });
      }
      this.toLoad.delete(kind);
    }
  }

  private async loadRows(kind: Kind, activations: Activation[]): Promise<void> {
    const { database, log, freezeStates, onReady, onFailed } = this.parts;
    let rows: Map<string, object>;
    try {
      rows = await database.load(
        kind.table,
        activations.map((activation) => activation.id),
      );
    } catch (error) {
      log.warn({ kind: kind.name, count: activations.length, err: error }, 'actors could not be loaded');
      const failure = error instanceof AppError ? error : new AppError('internal', 'Internal Server Error', { cause: error });
      for (const activation of activations) if (activation.phase !== 'dropped') onFailed(activation, failure);
      return;
    }
    for (const activation of activations) {
      if (activation.phase === 'dropped') continue;
      const state = rows.get(activation.id) ?? null;
      activation.state = freezeStates ? deepFreeze(state) : state;
      activation.committed = activation.state;
      activation.isNew = state === null;
      activation.phase = 'ready';
      onReady(activation);
    }
  }
}
