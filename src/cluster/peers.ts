/**
 * Port for communication between nodes: asks, which are answered, and notifications, which are not. `transport/` implements it with gRPC.
 */
import type { Member } from './member.ts';
import type { RemoteAsk } from './placement.ts';

/**
 * `refused`: nothing listens there. `broken`: the stream ended without a goodbye. `silent`: no answer in time. `other`: another incarnation
 * answers at that address. `rejected`: it refuses this node.
 */
export type DownReason = 'refused' | 'broken' | 'silent' | 'other' | 'rejected';

/**
 * Serves an ask from `from` (an incarnation). `gone` returns a signal, created on demand, that is aborted when the asker waits no longer.
 */
export type AnswerAsk = (ask: RemoteAsk, from: string, gone: () => AbortSignal) => unknown | Promise<unknown>;

export interface Peers {
  /**
   * Sends an ask and resolves with the reply. Rejects with what the owner refused; with `shard_not_owned` where it was surely not taken (or
   * is a query, which may be asked again); with `outcome_unknown` where a command was sent and the answer was lost; with `overloaded` where
   * there is no room for it.
   */
  ask(to: Member, ask: RemoteAsk, signal?: AbortSignal): Promise<unknown>;
  /** Sends a notification, in order with earlier ones. False where it certainly was not sent: the stream is down or full. JSON values only. */
  notify(to: Member, kind: string, payload: unknown): boolean;
  /** Calls back with notifications of this kind and their sender (an incarnation). One listener for each kind. */
  onNotification(kind: string, listener: (payload: unknown, from: string) => void): void;
  /** Serves what others ask of this node. Until then asks are refused with `shard_not_owned`. */
  serve(answer: AnswerAsk): void;
  /** The members to connect to, without this node: streams to new ones are opened, streams to all others closed. */
  setMembers(members: readonly Member[]): void;
  /** A stream to this incarnation is open. */
  onUp(listener: (incarnation: string) => void): void;
  /** A stream broke, or one more try to open it failed. */
  onDown(listener: (incarnation: string, reason: DownReason) => void): void;
}
