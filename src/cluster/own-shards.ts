/**
 * The state of each shard on this node, and what it permits. Owns no clock and no connection.
 *
 * ```
 *            take              serve             seal              release            drop
 *   foreign ──────▶ waiting ─────────▶ owned ─────────▶ sealing ─────────▶ releasing ──────▶ foreign
 * ```
 * From every state a loss leads to `foreign`.
 *
 * O1 Turns are taken of `owned` shards alone: `epochOf` is null for all others.
 * O2 Commits are sent for `owned` and `sealing` shards alone: `fenceEpochOf` is null for all others.
 * O3 A shard is `releasing` only after it was `sealing`: its turns have ended before the database lists it as free.
 * O4 An epoch never falls.
 */
import { shardCount } from './address.ts';

/**
 * `waiting`: claimed, but an earlier owner may still serve reads. `owned`: turns are run. `sealing`: running turns are finished.
 * `releasing`: its activations are dropped, and its row is being released.
 */
export type ShardState = 'foreign' | 'waiting' | 'owned' | 'sealing' | 'releasing';

export class OwnShards {
  private readonly states: ShardState[] = new Array(shardCount).fill('foreign');
  private readonly epochs: number[] = new Array(shardCount).fill(-1);
  /** The epochs of owned shards: read with every turn. */
  private readonly serving: (number | null)[] = new Array(shardCount).fill(null);

  stateOf(shard: number): ShardState {
    return this.states[shard]!;
  }

  epochOf(shard: number): number | null {
    return this.serving[shard]!;
  }

  fenceEpochOf(shard: number): number | null {
    const state = this.states[shard]!;
    return state === 'owned' || state === 'sealing' ? this.epochs[shard]! : null;
  }

  /** The epoch under which the database lists this node as the owner; null if the shard is foreign. */
  heldEpochOf(shard: number): number | null {
    return this.states[shard] === 'foreign' ? null : this.epochs[shard]!;
  }

  /** The largest epoch under which this node ever owned it; -1: never. */
  lastEpochOf(shard: number): number {
    return this.epochs[shard]!;
  }

  /** Every shard that the database lists as this node's. */
  held(): number[] {
    return this.states.flatMap((state, shard) => (state === 'foreign' ? [] : [shard]));
  }

  inState(state: ShardState): number[] {
    return this.states.flatMap((is, shard) => (is === state ? [shard] : []));
  }

  counts(): Record<ShardState, number> {
    const counts = { foreign: 0, waiting: 0, owned: 0, sealing: 0, releasing: 0 };
    for (const state of this.states) counts[state]++;
    return counts;
  }

  /** The database has granted it to this node. False if that is out of date. */
  claim(shard: number, epoch: number): boolean {
    if (this.states[shard] !== 'foreign' || epoch <= this.epochs[shard]!) return false;
    this.epochs[shard] = epoch;
    this.enter(shard, 'waiting');
    return true;
  }

  serve(shard: number): boolean {
    return this.step(shard, 'waiting', 'owned');
  }

  seal(shard: number): boolean {
    return this.step(shard, 'owned', 'sealing');
  }

  release(shard: number): boolean {
    return this.step(shard, 'sealing', 'releasing');
  }

  /** The database has a new epoch for it; this node is still the owner. */
  raise(shard: number, epoch: number): void {
    if (this.states[shard] === 'foreign' || epoch <= this.epochs[shard]!) return;
    this.epochs[shard] = epoch;
    if (this.states[shard] === 'owned') this.serving[shard] = epoch;
  }

  /** This node no longer owns it. Returns its previous state. */
  drop(shard: number): ShardState {
    const state = this.states[shard]!;
    this.enter(shard, 'foreign');
    return state;
  }

  private step(shard: number, from: ShardState, to: ShardState): boolean {
    if (this.states[shard] !== from) return false;
    this.enter(shard, to);
    return true;
  }

  private enter(shard: number, state: ShardState): void {
    this.states[shard] = state;
    this.serving[shard] = state === 'owned' ? this.epochs[shard]! : null;
  }
}
