/**
 * Port for communication between nodes: asks, which are answered, and notifications, which are not. `transport/` implements it with gRPC.
 */
import type { Member } from './member.ts';
import type { RemoteAsk } from './placement.ts';

/**
 * `refused`: nothing listens at the address. `broken`: the stream ended without a goodbye frame. `silent`: no answer in time. `other`: another
 * incarnation answers at that address. `rejected`: it refuses this node.
 */
export type DownReason = 'refused' | 'broken' | 'silent' | 'other' | 'rejected';

/**
 * Serves an ask from `from` (an incarnation). `callerSignal` returns a signal, created on demand, that is aborted when the caller no longer waits.
 */
export type AnswerAsk = (ask: RemoteAsk, from: string, callerSignal: () => AbortSignal) => unknown | Promise<unknown>;

export interface Peers {
  /**
   * Sends an ask and resolves with the reply. Rejects with the owner's refusal; with `shard_not_owned` if it was certainly not taken (or is
   * a query, which may be repeated); with `outcome_unknown` if a command was sent and the answer was lost; with `overloaded` if a
   * queue is full.
   */
  ask(to: Member, ask: RemoteAsk, signal?: AbortSignal): Promise<unknown>;
  /** Sends a notification, in order with earlier ones. False if it was certainly not sent: the stream is down or full. JSON values only. */
  notify(to: Member, kind: string, payload: unknown): boolean;
  /** Calls back with notifications of this kind and their sender (an incarnation). One listener for each kind. */
  onNotification(kind: string, listener: (payload: unknown, from: string) => void): void;
  /** Serves asks of other nodes. Until then asks are refused with `shard_not_owned`. */
  serve(answer: AnswerAsk): void;
  /** The members to connect to, without this node: streams to new ones are opened, all other streams are closed. */
  setMembers(members: readonly Member[]): void;
  /** A stream to this incarnation is open. */
  onUp(listener: (incarnation: string) => void): void;
  /** A stream broke, or another try to open it failed. */
  onDown(listener: (incarnation: string, reason: DownReason) => void): void;
}
