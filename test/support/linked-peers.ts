/** Notifications between the nodes of one process, over links that a test can slow down, cut and repair. Asks are not sent. */
import type { Member } from '../../src/cluster/member.ts';
import type { DownReason, Peers } from '../../src/cluster/peers.ts';

/** What becomes of one notification: lost on its way, refused at the sender, held until released, or delivered after so many milliseconds. */
export type Fate = 'lost' | 'refused' | 'held' | number;
export type Notification = { from: string; to: string; kind: string; payload: unknown };

type Node = {
  member: Member;
  members: Set<string>;
  listeners: Map<string, (payload: unknown, from: string) => void>;
  ups: ((incarnation: string) => void)[];
  downs: ((incarnation: string, reason: DownReason) => void)[];
};

export class PeerNetwork {
  /** Decides over each notification. Those with the same delay arrive in order. */
  fate: (notification: Notification) => Fate = () => 0;
  /** All sent notifications. */
  readonly sent: Notification[] = [];
  private readonly nodes = new Map<string, Node>();
  private readonly cutPairs = new Set<string>();
  /** How often each pair was cut: notifications of an earlier stream are not delivered. */
  private readonly cuts = new Map<string, number>();
  private readonly held: (() => void)[] = [];

  join(member: Member): Peers {
    const node: Node = { member, members: new Set(), listeners: new Map(), ups: [], downs: [] };
    const { incarnation } = member;
    this.nodes.set(incarnation, node);
    return {
      ask: () => Promise.reject(new Error('asks are not carried here')),
      serve: () => {},
      notify: (to, kind, payload) => this.notify({ from: incarnation, to: to.incarnation, kind, payload }),
      onNotification: (kind, listener) => void node.listeners.set(kind, listener),
      setMembers: (members) => {
        const before = node.members;
        node.members = new Set(members.map((other) => other.incarnation));
        for (const other of node.members) if (!before.has(other)) this.rise(incarnation, other);
      },
      onUp: (listener) => void node.ups.push(listener),
      onDown: (listener) => void node.downs.push(listener),
    };
  }

  /** The node is gone, with all that was on its way to it and from it. */
  leave(incarnation: string): void {
    const others = [...this.nodes.keys()].filter((other) => other !== incarnation);
    for (const other of others) this.cut(incarnation, other);
    this.nodes.delete(incarnation);
  }

  cut(a: string, b: string): void {
    if (!this.isUp(a, b)) return;
    this.cutPairs.add(pair(a, b));
    this.cuts.set(pair(a, b), this.cutsOf(a, b) + 1);
    this.nodes.get(a)?.downs.forEach((listener) => listener(b, 'broken'));
    this.nodes.get(b)?.downs.forEach((listener) => listener(a, 'broken'));
  }

  heal(a: string, b: string): void {
    if (this.cutPairs.delete(pair(a, b))) this.rise(a, b);
  }

  /** Delivers what was held, in order. */
  release(): void {
    for (const deliver of this.held.splice(0)) deliver();
  }

  private cutsOf(a: string, b: string): number {
    return this.cuts.get(pair(a, b)) ?? 0;
  }

  private isUp(a: string, b: string): boolean {
    const [one, other] = [this.nodes.get(a), this.nodes.get(b)];
    return one !== undefined && other !== undefined && one.members.has(b) && other.members.has(a) && !this.cutPairs.has(pair(a, b));
  }

  private rise(a: string, b: string): void {
    setImmediate(() => {
      if (!this.isUp(a, b)) return;
      this.nodes.get(a)!.ups.forEach((listener) => listener(b));
      this.nodes.get(b)!.ups.forEach((listener) => listener(a));
    });
  }

  private notify(notification: Notification): boolean {
    const fate = this.isUp(notification.from, notification.to) ? this.fate(notification) : 'refused';
    if (fate === 'refused') return false;
    this.sent.push(notification);
    if (fate === 'lost') return true;
    const text = JSON.stringify(notification.payload);
    const cuts = this.cutsOf(notification.from, notification.to);
    const deliver = () => {
      if (cuts !== this.cutsOf(notification.from, notification.to)) return;
      this.nodes.get(notification.to)?.listeners.get(notification.kind)?.(JSON.parse(text), notification.from);
    };
    if (fate === 'held') this.held.push(deliver);
    else if (fate === 0) setImmediate(deliver);
    else setTimeout(deliver, fate);
    return true;
  }
}

function pair(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
