/**
 * Links between nodes of one process, for tests that lose exactly one frame: each pair's link can be cut, silenced or slowed, and a node
 * can be removed. They have exactly the guarantees of `Peers`: notifications arrive in order or not at all, an ask with a lost answer is
 * unknown.
 */
import { monotonicMs } from '../../src/clock.ts';
import type { Member } from '../../src/cluster/member.ts';
import type { AnswerAsk, DownReason, Peers } from '../../src/cluster/peers.ts';
import type { RemoteAsk } from '../../src/cluster/placement.ts';
import { AppError } from '../../src/errors.ts';

/** `cut`: both ends notice at once, and are refused when they try again. `silent`: neither end notices. Nothing gets through either way. */
type Harm = 'cut' | 'silent';

const retryMs = 20;

export class MemoryLinks {
  private readonly nodes = new Map<string, MemoryPeers>();
  private readonly harms = new Map<string, Harm>();
  /** Everything takes this long. */
  delayMs = 0;

  peersOf(incarnation: string): MemoryPeers {
    const peers = new MemoryPeers(this, incarnation);
    this.nodes.set(incarnation, peers);
    return peers;
  }

  /** Between two nodes, both ways. */
  harm(a: string, b: string, harm: Harm): void {
    this.harms.set(keyOf(a, b), harm);
    if (harm === 'cut')
      for (const [at, other] of [
        [a, b],
        [b, a],
      ] as const)
        this.nodes.get(at)?.linkBroke(other);
  }

  heal(a: string, b: string): void {
    this.harms.delete(keyOf(a, b));
  }

  /** Its process is killed: its streams break, its address refuses. */
  kill(incarnation: string): void {
    this.nodes.get(incarnation)?.close();
    this.nodes.delete(incarnation);
    for (const peers of this.nodes.values()) peers.linkBroke(incarnation);
  }

  /** @internal */
  reach(from: string, to: string): MemoryPeers | DownReason {
    const harm = this.harms.get(keyOf(from, to));
    if (harm !== undefined) return harm === 'cut' ? 'refused' : 'silent';
    return this.nodes.get(to) ?? 'refused';
  }

  /** @internal Runs after the delivery delay; a disturbed peer gets nothing meanwhile. */
  carry(from: string, to: string, deliver: (peers: MemoryPeers) => void): void {
    const run = () => {
      const there = this.reach(from, to);
      if (typeof there !== 'string') deliver(there);
    };
    if (this.delayMs === 0) setImmediate(run);
    else setTimeout(run, this.delayMs);
  }
}

export class MemoryPeers implements Peers {
  /** Asks that this node has sent, by whom they were sent to. */
  readonly asked: { to: string; ask: RemoteAsk }[] = [];
  /** Notifications that this node received. */
  readonly receivedNotifications: { kind: string; payload: unknown; from: string }[] = [];
  private readonly links: MemoryLinks;
  private readonly self: string;
  private answer: AnswerAsk | null = null;
  private readonly listeners = new Map<string, (payload: unknown, from: string) => void>();
  private readonly ups: ((incarnation: string) => void)[] = [];
  private readonly downs: ((incarnation: string, reason: DownReason) => void)[] = [];
  private readonly up = new Set<string>();
  private readonly lost = new Map<string, Set<() => void>>();
  private members = new Set<string>();
  private closed = false;

  constructor(links: MemoryLinks, self: string) {
    this.links = links;
    this.self = self;
  }

  ask(to: Member, ask: RemoteAsk): Promise<unknown> {
    const { incarnation } = to;
    this.asked.push({ to: incarnation, ask });
    if (this.closed || !this.up.has(incarnation)) return Promise.reject(new AppError('shard_not_owned', 'There is no stream to that node'));
    return new Promise((resolve, reject) => {
      const waiting = this.lost.get(incarnation) ?? new Set();
      this.lost.set(incarnation, waiting);
      const end = (how: () => void) => {
        waiting.delete(broke);
        clearTimeout(timer);
        how();
      };
      const unknown = () => reject(new AppError(ask.query ? 'shard_not_owned' : 'outcome_unknown', 'The stream broke before the answer'));
      const broke = () => end(unknown);
      const timer = setTimeout(() => end(unknown), Math.max(0, ask.deadlineMs - monotonicMs()));
      waiting.add(broke);
      const reply = (how: () => void) => this.links.carry(incarnation, this.self, () => end(how));
      this.links.carry(this.self, incarnation, (there) => {
        there.answerTo(structuredClone(ask), this.self).then(
          (value) => reply(() => resolve(structuredClone(value))),
          (error) => reply(() => reject(error)),
        );
      });
    });
  }

  notify(to: Member, kind: string, payload: unknown): boolean {
    if (this.closed || !this.up.has(to.incarnation)) return false;
    const text = JSON.stringify(payload ?? null);
    this.links.carry(this.self, to.incarnation, (there) => there.receive(kind, JSON.parse(text), this.self));
    return true;
  }

  onNotification(kind: string, listener: (payload: unknown, from: string) => void): void {
    this.listeners.set(kind, listener);
  }

  serve(answer: AnswerAsk): void {
    this.answer = answer;
  }

  setMembers(members: readonly Member[]): void {
    const before = this.members;
    this.members = new Set(members.map(({ incarnation }) => incarnation));
    for (const incarnation of this.members) if (!before.has(incarnation)) this.open(incarnation);
    for (const incarnation of before) {
      if (this.members.has(incarnation)) continue;
      this.up.delete(incarnation);
      this.endAsks(incarnation);
    }
  }

  onUp(listener: (incarnation: string) => void): void {
    this.ups.push(listener);
  }

  onDown(listener: (incarnation: string, reason: DownReason) => void): void {
    this.downs.push(listener);
  }

  close(): void {
    this.closed = true;
    for (const incarnation of this.lost.keys()) this.endAsks(incarnation);
  }

  /** @internal */
  linkBroke(incarnation: string): void {
    if (this.closed || !this.members.has(incarnation)) return;
    this.endAsks(incarnation);
    if (this.up.delete(incarnation)) {
      for (const listener of this.downs) listener(incarnation, 'broken');
      setTimeout(() => this.open(incarnation), retryMs).unref();
    }
  }

  /** @internal */
  async answerTo(ask: RemoteAsk, from: string): Promise<unknown> {
    if (this.answer === null || this.closed) throw new AppError('shard_not_owned', 'This node serves nothing yet');
    return this.answer(ask, from, () => new AbortController().signal);
  }

  /** @internal */
  receive(kind: string, payload: unknown, from: string): void {
    if (this.closed) return;
    this.receivedNotifications.push({ kind, payload, from });
    this.listeners.get(kind)?.(payload, from);
  }

  /** Tries until it is open, or is no longer wanted. */
  private open(incarnation: string): void {
    if (this.closed || !this.members.has(incarnation) || this.up.has(incarnation)) return;
    const there = this.links.reach(this.self, incarnation);
    if (typeof there === 'string') {
      for (const listener of this.downs) listener(incarnation, there);
      setTimeout(() => this.open(incarnation), retryMs).unref();
      return;
    }
    this.up.add(incarnation);
    setImmediate(() => {
      if (!this.closed && this.up.has(incarnation)) for (const listener of this.ups) listener(incarnation);
    });
  }

  private endAsks(incarnation: string): void {
    for (const broke of [...(this.lost.get(incarnation) ?? [])]) broke();
  }
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
