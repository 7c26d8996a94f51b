/**
 * Sends committed messages to the owners of their shards. Each message is a row until its receiver has consumed it, so the relay only saves
 * time; if a message may have been lost, the receiving node is asked to rescan the database.
 *
 * P1 A peer that may have missed a message is asked to rescan as soon as it can be reached.
 * P2 A shard's new owner is asked to rescan if messages for the shard went to the previous owner, or to none: it may have read the database
 *    before they were committed.
 * P3 While a peer cannot be reached, another peer is asked to forward the request: a broken link delays no message for long.
 */
import { monotonicMs } from '../clock.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';
import { shardCount } from './address.ts';
import type { Member } from './member.ts';
import type { Peers } from './peers.ts';
import type { ShardRow } from './shard-map.ts';

export type MessageRelayOptions = {
  self: string;
  peers: Peers;
  ownerOf: (shard: number) => string | null;
  /** The member with this incarnation, if there is one now. */
  member: (incarnation: string) => Member | null;
  /** All members, including this node. */
  members: () => readonly Member[];
  /** Called with messages from other nodes; null: rescan the database. */
  onMessages: (messages: readonly MessageDraft[] | null) => void;
};

/** With more messages or characters than this in one tick for one peer, the peer is asked to rescan instead. */
const maxMessages = 500;
const maxChars = 256 * 1024;
/** The owner of a shard has found all messages that were sent longer ago. */
const rescanWindowMs = 10_000;
const messagesTopic = 'messages';
const rescanTopic = 'look';
const forwardRescanTopic = 'tell to look';

export class MessageRelay {
  /** Peers that must still be asked to rescan. */
  private readonly rescanPending = new Set<string>();
  /** Peers that were sent messages on their current stream. */
  private readonly notified = new Set<string>();
  private readonly lastRelayedMs: number[] = new Array(shardCount).fill(-Infinity);
  private nextForwarder = 0;
  private readonly options: MessageRelayOptions;

  constructor(options: MessageRelayOptions) {
    this.options = options;
    const { peers, member, onMessages } = options;
    peers.onNotification(messagesTopic, (payload) => onMessages(Array.isArray(payload) ? (payload as MessageDraft[]) : null));
    peers.onNotification(rescanTopic, () => onMessages(null));
    peers.onNotification(forwardRescanTopic, (payload) => {
      const to = member(String(payload));
      // If it is not reachable from here either, the sender tries another peer.
      if (to !== null) peers.notify(to, rescanTopic, null);
    });
  }

  relay(messages: readonly MessageDraft[]): void {
    const { ownerOf, self } = this.options;
    const nowMs = monotonicMs();
    const byOwner = new Map<string, MessageDraft[]>();
    for (const message of messages) {
      this.lastRelayedMs[message.shard] = nowMs;
      const owner = ownerOf(message.shard);
      if (owner === null || owner === self) continue;
      const others = byOwner.get(owner);
      if (others === undefined) byOwner.set(owner, [message]);
      else others.push(message);
    }
    for (const [owner, drafts] of byOwner) this.relayTo(owner, drafts);
  }

  /** P2. Call with every row whose owner changed. */
  moved(rows: readonly ShardRow[]): void {
    const { self } = this.options;
    const sinceMs = monotonicMs() - rescanWindowMs;
    const toRescan = new Set<string>();
    for (const { shard, owner } of rows) {
      if (owner === null || this.lastRelayedMs[shard]! < sinceMs) continue;
      this.lastRelayedMs[shard] = -Infinity;
      toRescan.add(owner);
    }
    // This node reads all messages of a shard when it acquires it.
    toRescan.delete(self);
    for (const owner of toRescan) this.requestRescan(owner);
  }

  up(incarnation: string): void {
    if (this.rescanPending.has(incarnation)) this.requestRescan(incarnation);
  }

  down(incarnation: string): void {
    if (this.notified.delete(incarnation)) this.requestRescan(incarnation);
  }

  /** Retries pending requests for rescans. */
  retry(): void {
    for (const incarnation of this.rescanPending) this.requestRescan(incarnation);
  }

  /** It is no longer a member. */
  remove(incarnation: string): void {
    this.rescanPending.delete(incarnation);
    this.notified.delete(incarnation);
  }

  private relayTo(owner: string, messages: MessageDraft[]): void {
    const member = this.options.member(owner);
    // The next owner of its shards reads them (P2).
    if (member === null) return;
    if (this.rescanPending.has(owner) || messages.length > maxMessages || charsOf(messages) > maxChars) return this.requestRescan(owner);
    if (this.options.peers.notify(member, messagesTopic, messages)) this.notified.add(owner);
    else this.requestRescan(owner);
  }

  private requestRescan(incarnation: string): void {
    const member = this.options.member(incarnation);
    if (member !== null && this.options.peers.notify(member, rescanTopic, null)) {
      this.rescanPending.delete(incarnation);
      this.notified.add(incarnation);
      return;
    }
    this.rescanPending.add(incarnation);
    if (member !== null) this.requestRescanThrough(incarnation);
  }

  /** P3. Round-robin, because a chosen peer may not reach it either. */
  private requestRescanThrough(incarnation: string): void {
    const { self, members, peers } = this.options;
    const others = members().filter((one) => one.incarnation !== self && one.incarnation !== incarnation);
    for (let attempts = 0; attempts < others.length; attempts++)
      if (peers.notify(others[this.nextForwarder++ % others.length]!, forwardRescanTopic, incarnation)) return;
  }
}

function charsOf(messages: readonly MessageDraft[]): number {
  let chars = 0;
  for (const message of messages) {
    chars += JSON.stringify(message.input)?.length ?? 0;
    if (chars > maxChars) break;
  }
  return chars;
}
