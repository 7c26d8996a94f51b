/** How a node of a cluster stands, for its operator, its metrics and whoever asks whether it takes requests. */
import type { Member } from './member.ts';

/**
 * `joining`: not in a view yet, or put out and on its way back. `alone`: the coordinator does not answer, placement is frozen. `isolated`: the
 * other nodes do not reach it, and it is given no shards. `unable`: it cannot commit, and is given no shards while another can.
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
  /** How many shards each incarnation owns, as far as is known here; the key `''` stands for nobody. */
  routes: Record<string, number>;
  largestEpoch: number;
  handoffsDone: number;
  claimsDone: number;
};
