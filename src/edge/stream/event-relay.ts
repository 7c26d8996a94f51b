/**
 * Events between the nodes of a cluster. As an edge, this node reports to the others which accounts have subscribers here; as a publisher,
 * it sends its committed events directly to the edges that need them. Notifications may be lost: the hub fills gaps from PostgreSQL, and
 * polling the counters finds events without a notification.
 *
 * L1 A peer is sent changes to the set it has. After a change that was not sent, and on a new stream, the peer is sent the whole set again.
 * L2 When a peer has received an account, it polls the account's counter, and so finds events that it committed before.
 */
import type { Member } from '../../cluster/member.ts';
import type { Peers } from '../../cluster/peers.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { CounterPoller } from './counter-poller.ts';
import type { CommittedEvent, StreamHub } from './stream-hub.ts';

export type EventRelayParts = {
  peers: Pick<Peers, 'notify' | 'onNotification' | 'onUp' | 'onDown'>;
  hub: StreamHub;
  database: Pick<Database, 'read'>;
  log: Log;
  /** Milliseconds between two polls of the counters. Default 1,000. */
  pollEveryMs?: number;
};

/** Accounts that got or lost all their subscribers at an edge. `whole`: this is the complete set; it replaces earlier reports. */
type Listening = { whole: boolean; added: string[]; removed: string[] };
/** An event in a notification: account, seq, id, type, task, time of creation in milliseconds, data as JSON text. */
type EventTuple = [accountId: string, seq: number, id: string, type: string, taskId: string | null, createdAt: number, data: string];

const kinds = { events: 'events', listening: 'events.listening', known: 'events.known' } as const;
/** Most data in one notification; escaping its quotes at worst doubles it. */
const chunkBytes = 128 * 1024;
/** Estimated size of an event without its data. */
const envelopeBytes = 200;
const maxAccountsPerMessage = 4_000;
/** For accounts beyond this number an edge finds events by polling the counters. */
const maxAccountsOfAnEdge = 500_000;
/** Most edges whose notification arrives before they are known as members. */
const maxUnknownEdges = 100;

type Peer = { readonly member: Member; isUpToDate: boolean; isUp: boolean };
type Edge = { readonly incarnation: string; readonly accounts: Set<string>; outgoing: EventTuple[] };

export class EventRelay {
  /** For metrics: events sent to edges, received from others, and those that could not be sent. */
  readonly counts = { sent: 0, received: 0, lost: 0 };
  readonly counters: CounterPoller;
  private readonly parts: EventRelayParts;
  /** The other nodes, by incarnation. */
  private readonly peers = new Map<string, Peer>();
  /** The accounts reported to the other nodes, and the changes since. */
  private readonly reportedAccounts = new Set<string>();
  private readonly changed = new Set<string>();
  /** The accounts with subscribers at other edges, by incarnation; and the same by account. */
  private readonly edges = new Map<string, Edge>();
  private readonly edgesOf = new Map<string, Set<Edge>>();
  private readonly sending = new Set<Edge>();
  private readonly retry: NodeJS.Timeout;
  private stopped = false;

  constructor(parts: EventRelayParts) {
    this.parts = parts;
    const { peers, hub } = parts;
    this.counters = new CounterPoller({ ...parts, everyMs: parts.pollEveryMs });
    hub.onListening = (accountId) => this.change(accountId);
    for (const accountId of hub.listening.keys()) this.change(accountId);
    peers.onNotification(kinds.events, (payload) => this.receive((payload as { events: EventTuple[] }).events));
    peers.onNotification(kinds.listening, (payload, from) => this.applySubscriptions(payload as Listening, from));
    peers.onNotification(kinds.known, (payload) => this.counters.pollSoon((payload as { accounts: string[] }).accounts));
    peers.onUp((incarnation) => this.up(incarnation));
    peers.onDown((incarnation) => this.down(incarnation));
    this.retry = setInterval(() => this.retryPeers(), parts.pollEveryMs ?? 1_000);
    this.retry.unref();
  }

  /** For metrics: accounts whose events this node sends to other edges. */
  get subscribedAccounts(): number {
    return this.edgesOf.size;
  }

  /** Distributes the events that this node has committed to its own subscribers and to the edges with subscribers. */
  publish(events: readonly CommittedEvent[], seqs: readonly number[]): void {
    this.parts.hub.publish(events, seqs);
    if (this.edgesOf.size === 0) return;
    for (let i = 0; i < events.length; i++) {
      const { accountId, id, type, taskId, createdAt, data } = events[i]!;
      const edges = this.edgesOf.get(accountId);
      if (edges === undefined) continue;
      const reportedAccounts: EventTuple = [accountId, seqs[i]!, id, type, taskId, createdAt, data.text];
      for (const edge of edges) {
        edge.outgoing.push(reportedAccounts);
        if (this.sending.size === 0) queueMicrotask(() => this.send());
        this.sending.add(edge);
      }
    }
  }

  /** Sets the other members of the current view. Data of edges that have left it is dropped. */
  setMembers(members: readonly Member[]): void {
    const present = new Map(members.map((member) => [member.incarnation, member]));
    for (const incarnation of [...this.peers.keys()]) {
      if (present.has(incarnation)) continue;
      this.peers.delete(incarnation);
      this.removeEdge(incarnation);
      this.counters.pollFrequently();
    }
    for (const member of members) {
      const existing = this.peers.get(member.incarnation);
      const peer = { isUpToDate: false, isUp: false, ...existing, member };
      this.peers.set(member.incarnation, peer);
      if (!peer.isUpToDate) this.sendAllAccounts(peer);
    }
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.retry);
    this.counters.stop();
    this.parts.hub.onListening = () => {};
  }

  // As an edge

  private change(accountId: string): void {
    if (this.changed.size === 0) setImmediate(() => this.sendChanges());
    this.changed.add(accountId);
  }

  private sendChanges(): void {
    const { hub } = this.parts;
    const added = [...this.changed].filter((id) => hub.listening.has(id) && !this.reportedAccounts.has(id));
    const removed = [...this.changed].filter((id) => !hub.listening.has(id) && this.reportedAccounts.has(id));
    this.changed.clear();
    for (const id of added) this.reportedAccounts.add(id);
    for (const id of removed) this.reportedAccounts.delete(id);
    for (const peer of this.peers.values()) if (peer.isUpToDate) this.sendAccounts(peer, { whole: false, added, removed });
  }

  /** L1. */
  private sendAllAccounts(peer: Peer): void {
    this.sendAccounts(peer, { whole: true, added: [...this.reportedAccounts], removed: [] });
  }

  private sendAccounts(peer: Peer, { whole, added, removed }: Listening): void {
    if (this.stopped) return;
    peer.isUpToDate = true;
    const end = Math.max(added.length, removed.length, whole ? 1 : 0);
    for (let i = 0; i < end && peer.isUpToDate; i += maxAccountsPerMessage) {
      const part = (ids: string[]) => ids.slice(i, i + maxAccountsPerMessage);
      const listening: Listening = { whole: whole && i === 0, added: part(added), removed: part(removed) };
      peer.isUpToDate = this.parts.peers.notify(peer.member, kinds.listening, listening);
      // Its stream may have existed before this node knew that it is a member.
      peer.isUp ||= peer.isUpToDate;
    }
  }

  private retryPeers(): void {
    for (const peer of this.peers.values()) if (!peer.isUpToDate) this.sendAllAccounts(peer);
  }

  private up(incarnation: string): void {
    const peer = this.peers.get(incarnation);
    if (peer !== undefined) this.sendAllAccounts(peer);
  }

  private down(incarnation: string): void {
    const peer = this.peers.get(incarnation);
    if (peer === undefined) return;
    // Only after a lost connection, not after each failed attempt to reconnect.
    if (peer.isUp) this.counters.pollFrequently();
    peer.isUp = false;
    peer.isUpToDate = false;
  }

  private receive(events: readonly EventTuple[]): void {
    this.counts.received += events.length;
    const committed = events.map(([accountId, , id, type, taskId, createdAt, data]): CommittedEvent => {
      return { accountId, id, type, taskId, createdAt, data: { text: data } };
    });
    this.parts.hub.publish(
      committed,
      events.map(([, seq]) => seq),
    );
  }

  // As a publisher

  private applySubscriptions({ whole, added, removed }: Listening, from: string): void {
    if (whole) this.removeEdge(from);
    const edge = this.edge(from);
    for (const id of removed) this.drop(edge, id);
    for (const id of added.slice(0, maxAccountsOfAnEdge - edge.accounts.size)) {
      edge.accounts.add(id);
      const edges = this.edgesOf.get(id);
      if (edges === undefined) this.edgesOf.set(id, new Set([edge]));
      else edges.add(edge);
    }
    const peer = this.peers.get(from);
    // L2. A node that is not known yet polls within a second.
    if (peer !== undefined && added.length > 0) this.parts.peers.notify(peer.member, kinds.known, { accounts: added });
  }

  private edge(incarnation: string): Edge {
    let edge = this.edges.get(incarnation);
    if (edge === undefined) {
      const unknownEdges = [...this.edges.keys()].filter((other) => !this.peers.has(other));
      if (unknownEdges.length >= maxUnknownEdges) this.removeEdge(unknownEdges[0]!);
      edge = { incarnation, accounts: new Set(), outgoing: [] };
      this.edges.set(incarnation, edge);
    }
    return edge;
  }

  private removeEdge(incarnation: string): void {
    const edge = this.edges.get(incarnation);
    if (edge === undefined) return;
    this.edges.delete(incarnation);
    for (const id of edge.accounts) this.drop(edge, id);
  }

  private drop(edge: Edge, accountId: string): void {
    edge.accounts.delete(accountId);
    const edges = this.edgesOf.get(accountId);
    if (edges?.delete(edge) && edges.size === 0) this.edgesOf.delete(accountId);
  }

  private send(): void {
    for (const edge of this.sending) {
      const { outgoing } = edge;
      edge.outgoing = [];
      const peer = this.peers.get(edge.incarnation);
      const sent = peer === undefined || this.stopped ? 0 : this.sendEvents(peer.member, outgoing);
      this.counts.sent += sent;
      this.counts.lost += outgoing.length - sent;
    }
    this.sending.clear();
  }

  /** Number of events sent. It stops at the first part that cannot be sent: later parts would only make a gap. */
  private sendEvents(to: Member, events: EventTuple[]): number {
    let begin = 0;
    while (begin < events.length) {
      let end = begin;
      for (let bytes = 0; end < events.length; end++) {
        bytes += envelopeBytes + Buffer.byteLength(events[end]![6]);
        if (bytes > chunkBytes && end > begin) break;
      }
      if (!this.parts.peers.notify(to, kinds.events, { events: events.slice(begin, end) })) break;
      begin = end;
    }
    return begin;
  }
}
