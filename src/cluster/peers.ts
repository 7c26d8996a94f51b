/**
 * How this node speaks with the others: asks on their way to the owner of an actor, and news that nobody answers. The cluster and the edge
 * know the others by this alone; `transport/` speaks gRPC behind it.
 */
import type { Member } from './member.ts';
import type { RemoteAsk } from './placement.ts';

/**
 * `refused`: nothing listens there. `broken`: the stream ended without a goodbye. `silent`: no answer in time. `other`: another incarnation
 * answers at that address. `rejected`: it does not accept us.
 */
export type DownReason = 'refused' | 'broken' | 'silent' | 'other' | 'rejected';

/**
 * Serves an ask that came from `from` (an incarnation). `gone` gives a signal that is aborted when the asker waits no longer; it is made for
 * those who ask for it.
 */
export type AnswerAsk = (ask: RemoteAsk, from: string, gone: () => AbortSignal) => unknown | Promise<unknown>;

export interface Peers {
  /**
   * Sends an ask and resolves with the reply. Rejects with what the owner refused; with `shard_not_owned` where it was surely not taken (or
   * is a query, which may be asked again); with `outcome_unknown` where a command was sent and the answer was lost; with `overloaded` where
   * there is no room for it.
   */
  ask(to: Member, ask: RemoteAsk, signal?: AbortSignal): Promise<unknown>;
  /** Sends news, in order with what was told before. False where it surely did not leave: the stream is down or full. JSON values only. */
  notify(to: Member, kind: string, payload: unknown): boolean;
  /** Calls back with news of this kind and who sent it (an incarnation). One listener for each kind. */
  onNotification(kind: string, listener: (payload: unknown, from: string) => void): void;
  /** Serves what others ask of this node. Until then asks are refused with `shard_not_owned`. */
  serve(answer: AnswerAsk): void;
  /** Who is to be reached, this node left out: streams to new ones are opened, streams to all others closed. */
  setMembers(members: readonly Member[]): void;
  /** A stream to this incarnation stands. */
  onUp(listener: (incarnation: string) => void): void;
  /** A stream broke, or one more try to open it failed. */
  onDown(listener: (incarnation: string, reason: DownReason) => void): void;
}
