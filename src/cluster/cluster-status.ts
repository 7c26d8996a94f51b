/** The state of a cluster node, for operators, metrics and readiness checks. */
import type { Member } from './member.ts';

/**
 * `joining`: not in a view yet, or expelled and rejoining. `alone`: the coordinator does not answer, placement is frozen. `isolated`: the
 * other nodes cannot reach it, and it is assigned no shards. `unable`: it cannot commit, and is assigned no shards while another node can.
 */
export type ClusterState = 'joining' | 'ready' | 'alone' | 'isolated' | 'unable' | 'taken over' | 'leaving' | 'stopped';

export type ClusterStatus = {
  state: ClusterState;
  incarnation: string;
  view: number;
  members: readonly Member[];
  /** Incarnations of members that the others cannot reach and that are assigned no shards. */
  isolated: readonly string[];
  /** The number of shards in each state on this node. */
  shards: { waiting: number; owned: number; sealing: number; releasing: number; inMotion: number };
  /** The number of shards of each incarnation, as far as known here; the key `''` is for shards without an owner. */
  routes: Record<string, number>;
  largestEpoch: number;
  handoffsDone: number;
  claimsDone: number;
};
