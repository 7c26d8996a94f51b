/** The state of a cluster node, for operators, metrics and readiness checks. */
import type { Member } from './member.ts';

/**
 * `joining`: not in a view yet, or expelled and rejoining. `alone`: the coordinator does not answer, placement is frozen. `isolated`: the
 * other nodes cannot reach it, and it is given no shards. `unable`: it cannot commit, and is given no shards while another can.
 */
export type ClusterState = 'joining' | 'ready' | 'alone' | 'isolated' | 'unable' | 'taken over' | 'leaving' | 'stopped';

export type ClusterStatus = {
  state: ClusterState;
  incarnation: string;
  view: number;
  members: readonly Member[];
  /** Incarnations of members that are given no shards, as the others do not reach them. */
  isolated: readonly string[];
  /** How many shards are in each state here. */
  shards: { waiting: number; owned: number; sealing: number; releasing: number; inMotion: number };
  /** How many shards each incarnation owns, as far as known here; the key `''` is for shards without an owner. */
  routes: Record<string, number>;
  largestEpoch: number;
  handoffsDone: number;
  claimsDone: number;
};
