/** The members of the newest view: the planned owner of each shard, which members are reachable, and notifications to all of them. */

import { areLinked, isolatedOf } from './isolation.ts';
import type { Member, View } from './member.ts';
import type { Peers } from './peers.ts';
import { planOf } from './placement-plan.ts';
import { defaultReachability, ReachabilityDetector } from './reachability-detector.ts';

export class ClusterMembers {
  viewNumber = 0;
  plan: readonly (string | null)[] = [];
  /** Members that other members cannot reach; they are assigned no shards. */
  isolated: ReadonlySet<string> = new Set();
  /** Incarnations with an open stream, whether or not they are members yet. */
  readonly reachable = new Set<string>();
  private members: ReadonlyMap<string, Member> = new Map();
  private readonly detector = new ReachabilityDetector(defaultReachability);
  private readonly self: string;
  private readonly peers: Peers;

  constructor(self: string, peers: Peers) {
    this.self = self;
    this.peers = peers;
  }

  /** Including this node. */
  get all(): Member[] {
    return [...this.members.values()];
  }

  get isIsolated(): boolean {
    return this.isolated.has(this.self);
  }

  member(incarnation: string): Member | null {
    return this.members.get(incarnation) ?? null;
  }

  applyView(view: View): void {
    const before = this.members;
    this.viewNumber = view.number;
    this.members = new Map(view.members.map((member) => [member.incarnation, member]));
    this.isolated = isolatedOf(view);
    this.plan = planOf(view);
    for (const incarnation of before.keys()) if (!this.members.has(incarnation)) this.reachable.delete(incarnation);
    this.peers.setMembers(view.members.filter(({ incarnation }) => incarnation !== this.self));
  }

  /** Takes a sample. Returns the unreachable members if they have changed, otherwise null. */
  sampleReachability(): readonly string[] | null {
    const others = [...this.members.keys()].filter((incarnation) => incarnation !== this.self);
    return this.detector.sample(others, (incarnation) => this.reachable.has(incarnation)) ? this.detector.unreachable : null;
  }

  /** Members that this node reaches and that, as far as reported, reach `to`. */
  relaysTo(to: Member): Member[] {
    return this.all.filter((by) => this.reachable.has(by.incarnation) && areLinked(by, to));
  }

  /** Without acknowledgement. */
  notifyAll(kind: string, payload: unknown): void {
    for (const member of this.members.values()) if (member.incarnation !== this.self) this.peers.notify(member, kind, payload);
  }
}
