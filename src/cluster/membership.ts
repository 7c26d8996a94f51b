/**
 * Membership: the live nodes, agreed on through Redis. Each node renews a lease and gets the current view with every renewal: one round
 * trip for each node and interval. Redis is soft state: membership moves no shard by itself; PostgreSQL is authoritative for ownership.
 *
 * M1 The view's number only grows, on every node, also when Redis lost its data.
 * M2 A member that renews is not expelled: not because of a slow or paused Redis, a step of a clock, or a Redis that restarts empty.
 * M3 A member that has not renewed for a lease while Redis was available is expelled by the next node that asks.
 * M4 Before that, a member is expelled only if another reports it dead and it has not renewed since.
 * M5 While Redis is unavailable the view does not change.
 * M6 An expelled member detects it with its next renewal, drops its state, and only then rejoins.
 * M7 All members agree on shard count and SECRET_KEY, and any two of them have a common protocol version.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Member, View } from './member.ts';
import { refusalOf, tooLate } from './membership-refusal.ts';
import { type Reply, replyOf, viewOf } from './membership-reply.ts';
import {
  type AcceptedDigests,
  type Ask,
  keysOf,
  type MemberRecord,
  membershipScripts,
  numberOfKeys,
  type ProtocolRange,
  type SharedSettings,
} from './membership-scripts.ts';
import { RedisConnection } from './redis-connection.ts';
import { RenewalCounts, type Renewals } from './renewal-counts.ts';

export type MembershipOptions = {
  redisUrl: string;
  /** Only of this database's nodes: see `storage/cluster-identity.ts`. */
  clusterId: string;
  self: Member;
  /** Settings that all nodes must share, except the protocol: any two nodes must have a common version. */
  shared: Omit<SharedSettings, 'network'> & Partial<AcceptedDigests> & { network?: string; protocol: ProtocolRange };
  /** How long a member stays in the view without renewals. Default 2 s. */
  leaseMs?: number;
  /** Default 250 ms. */
  renewEveryMs?: number;
  log: Log;
};

/** `alone`: Redis does not answer, and the view is frozen. */
export type MembershipState = 'joining' | 'member' | 'alone' | 'stopped';

/** How long a start waits for Redis. */
const connectMs = 10_000;
/** Limit of renewals in flight. Enough to keep the interval with a Redis that takes three seconds for an answer. */
const maxInFlight = 16;
const rejoinEveryMs = 2_000;

export class Membership {
  private readonly log: Log;
  private readonly leaseMs: number;
  private readonly renewEveryMs: number;
  private readonly keys: string[];
  private readonly redis: RedisConnection;
  private readonly shared: SharedSettings & AcceptedDigests;
  private self: MemberRecord;
  private current: View = { number: 0, members: [] };
  /** As stored in Redis, to restore them in a Redis that lost its data. */
  private records: ReadonlyMap<string, MemberRecord> = new Map();
  private generation = '';
  private phase: MembershipState = 'joining';
  /** Renewals of this process, over all its registrations. */
  private count = 0;
  private readonly seen = new RenewalCounts();
  private timer: NodeJS.Timeout | null = null;
  private inFlight = 0;
  /** Intervals since the last answer. */
  private unanswered = 0;
  private restoring = false;
  private isDrainNotified = false;
  private refreshing: Promise<void> | null = null;
  private nextRefresh: Promise<void> | null = null;
  private readonly viewListeners: ((view: View) => void)[] = [];
  private readonly expelledListeners: (() => void | Promise<void>)[] = [];
  private readonly drainListeners: (() => void)[] = [];

  constructor(options: MembershipOptions) {
    this.log = options.log;
    this.leaseMs = options.leaseMs ?? 2_000;
    this.renewEveryMs = options.renewEveryMs ?? 250;
    this.keys = keysOf(options.clusterId);
    const { redisUrl: url, self } = options;
    const { protocol, network = 'any', acceptedDigests = [], shardCount, secretKeyDigest } = options.shared;
    this.shared = { shardCount, secretKeyDigest, acceptedDigests, network };
    this.self = { ...self, protocol };
    // All must reconnect well within one lease after Redis is available again: late members would be expelled.
    const maxRetryPauseMs = this.leaseMs / 4;
    this.redis = new RedisConnection({ url, name: `troupe-${self.name}`, scripts: membershipScripts, numberOfKeys, maxRetryPauseMs });
  }

  /** The last known view; number 0 without members before `start`. Members are sorted by incarnation. */
  get view(): View {
    return this.current;
  }

  get state(): MembershipState {
    return this.phase;
  }

  /** Calls back with each new view, synchronously. */
  onView(listener: (view: View) => void): void {
    this.viewListeners.push(listener);
  }

  /**
   * Calls back when this node detects that it was expelled, e.g. after a pause: it must drop its state. When the listeners' promises have
   * resolved, it rejoins.
   */
  onExpelled(listener: () => void | Promise<void>): void {
    this.expelledListeners.push(listener);
  }

  /** Calls back once, when an operator has asked this node to leave. */
  onDrainRequested(listener: () => void): void {
    this.drainListeners.push(listener);
  }

  /**
   * Joins. Rejects `conflict` with one line that names the setting in which this node differs from running nodes, and `unavailable` when
   * Redis cannot be reached within 10 seconds. Takes a second longer for the first node of a cluster.
   */
  async start(): Promise<void> {
    try {
      await this.redis.connect(connectMs);
      await this.register(connectMs);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** The latest renewal of a member that this node has seen: its number, and when it first saw it (monotonic). null: no such member. */
  renewals(incarnation: string): Renewals | null {
    return this.seen.of(incarnation);
  }

  /**
   * Expels a member whose process is proven dead, unless it has renewed since its renewal number `count`. If its last renewal is less than two
   * intervals ago, waits until then. True: it is expelled. False: it is alive, or Redis does not answer.
   */
  async expel(incarnation: string, count: number): Promise<boolean> {
    // Each wait is shorter, except when Redis answers slowly.
    for (let attempt = 0; attempt < 5 && this.phase === 'member'; attempt++) {
      const reply = await this.ask('expel', { target: incarnation, seen: count }, this.callTimeoutMs).catch(() => null);
      if (reply?.kind === 'removed' && reply.snapshot !== null) {
        this.applySnapshot(reply.snapshot);
        return true;
      }
      if (reply?.kind !== 'early') return false;
      await delay(reply.waitMs);
    }
    return false;
  }

  /** Reads the view now, not at the next interval, e.g. when a peer reports a change. Also resolves when Redis does not answer. */
  refresh(): Promise<void> {
    if (this.refreshing === null) {
      const timeout = delay(this.callTimeoutMs, undefined, { ref: false });
      this.refreshing = Promise.race([this.renew(), timeout]).finally(() => (this.refreshing = null));
      return this.refreshing;
    }
    // The running refresh may have read before the change.
    this.nextRefresh ??= this.refreshing.then(() => {
      this.nextRefresh = null;
      return this.refresh();
    });
    return this.nextRefresh;
  }

  /** Publishes in the view that this node leaves; if Redis does not answer, as soon as it does. */
  leaving(): Promise<void> {
    return this.change({ leaving: true });
  }

  /** Publishes in the view which members this node cannot reach, in the same way. */
  report(unreachable: readonly string[]): Promise<void> {
    return this.change({ unheard: unreachable });
  }

  /** Publishes in the view whether this node can commit, in the same way. */
  reportCommits(canCommit: boolean): Promise<void> {
    return this.change({ cannotCommit: canCommit ? undefined : true });
  }

  /** Leaves the view at once and stops renewing. If Redis does not answer, the lease expires. */
  async leave(): Promise<void> {
    if (this.phase === 'stopped') return;
    const joined = this.generation !== '';
    this.end();
    if (joined)
      await this.ask('leave', {}, this.callTimeoutMs).catch((error) =>
        this.log.warn({ reason: error.message }, 'could not leave the view'),
      );
  }

  /** Stops without leaving: the lease expires. */
  async stop(): Promise<void> {
    this.end();
    this.redis.close();
  }

  private change(changes: { [K in keyof MemberRecord]?: MemberRecord[K] | undefined }): Promise<void> {
    this.self = { ...this.self, ...changes } as MemberRecord;
    return this.refresh();
  }

  /** Time-out of calls that need an answer; shorter than a lease. */
  private get callTimeoutMs(): number {
    return this.leaseMs * 0.75;
  }

  private end(): void {
    this.phase = 'stopped';
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  /** Asks until it is a member. Rejects when it is refused, and, with `timeoutMs`, when it was not admitted within that time. */
  private async register(timeoutMs: number): Promise<void> {
    const startedMs = performance.now();
    let conflict: { incarnation: string; count: number } | null = null;
    while (this.phase !== 'stopped') {
      const reply = await this.ask('register', {}).catch((error: AppError) => ({ kind: 'unanswered', error }) as const);
      if (this.isStopped()) break;
      if (reply.kind === 'member') {
        this.phase = 'member';
        this.unanswered = 0;
        this.applySnapshot(reply.snapshot);
        this.timer ??= setInterval(() => this.onInterval(), this.renewEveryMs);
        return;
      }
      // A node of the same name that renews is alive; one that does not is an earlier process, whose lease expires.
      const refusal = refusalOf(reply, this.self, this.shared, conflict);
      if (refusal !== null) throw refusal;
      if (reply.kind === 'name_in_use') conflict ??= reply;
      if (performance.now() - startedMs > timeoutMs) throw tooLate(reply, this.self);
      await delay(this.renewEveryMs);
    }
    throw new AppError('draining', 'The node stops');
  }

  private onInterval(): void {
    if (this.phase !== 'member' && this.phase !== 'alone') return;
    this.unanswered += 1;
    if (this.phase === 'member' && this.unanswered > this.leaseMs / this.renewEveryMs) {
      this.phase = 'alone';
      this.log.warn(
        { redis: this.redis.host, reason: this.redis.connectionError ?? 'no answer' },
        'Redis does not answer: the view of the cluster is frozen until it does',
      );
    }
    void this.renew();
  }

  private async renew(): Promise<void> {
    if (this.inFlight >= maxInFlight || this.phase === 'joining' || this.phase === 'stopped') return;
    this.inFlight += 1;
    const { generation } = this;
    try {
      this.handleReply(await this.ask('renew', {}), generation);
    } catch {
      // The next renewal follows soon; missing answers are counted.
    } finally {
      this.inFlight -= 1;
    }
  }

  /** @param generation that of the request: of several answers to the same loss only the first is handled */
  private handleReply(reply: Reply, generation: string): void {
    if ((this.phase !== 'member' && this.phase !== 'alone') || generation !== this.generation) return;
    this.unanswered = 0;
    if (this.phase === 'alone') {
      this.phase = 'member';
      this.log.info({ redis: this.redis.host }, 'Redis answers again');
    }
    if (reply.kind === 'member') this.applySnapshot(reply.snapshot);
    if (reply.kind === 'data_lost') void this.restore();
    if (reply.kind === 'removed') void this.rejoin();
  }

  /** Redis was emptied, restarted, or replaced by an older copy. */
  private async restore(): Promise<void> {
    if (this.restoring) return;
    this.restoring = true;
    const { generation } = this;
    const known = Array.from(this.records.values(), (record) => ({
      incarnation: record.incarnation,
      record: JSON.stringify(record),
      count: this.seen.of(record.incarnation)?.count ?? 0,
    }));
    try {
      const reply = await this.ask('restore', { known });
      this.log.warn({ view: this.current.number }, 'Redis had lost the view of the cluster; this node has restored it');
      this.handleReply(reply, generation);
    } catch {
      // The next renewal gets the same answer and tries again.
    } finally {
      this.restoring = false;
    }
  }

  private async rejoin(): Promise<void> {
    this.phase = 'joining';
    this.log.warn(
      { view: this.current.number },
      'this node was expelled from the cluster because it did not renew its lease; it drops its state and rejoins',
    );
    // A listener that fails has dropped as much as it could.
    const done = await Promise.allSettled(this.expelledListeners.map(async (listener) => listener()));
    for (const each of done)
      if (each.status === 'rejected') this.log.error({ err: each.reason }, 'a part of this node failed to drop its state');
    let isLogged = false;
    while (this.phase === 'joining') {
      try {
        await this.register(Number.POSITIVE_INFINITY);
        this.log.info({ view: this.current.number }, 'rejoined the cluster');
      } catch (error) {
        if (this.isStopped()) return;
        if (!isLogged) this.log.error({ reason: (error as Error).message }, 'could not rejoin the cluster; retrying');
        isLogged = true;
        await delay(rejoinEveryMs, undefined, { ref: false });
      }
    }
  }

  private applySnapshot({ generation, number, records, counts, drain }: Extract<Reply, { kind: 'member' }>['snapshot']): void {
    this.generation = generation;
    this.seen.record(counts, performance.now());
    if (records !== null && number > this.current.number) {
      this.records = records;
      this.current = viewOf(number, records);
      this.seen.retain(records);
      this.log.info({ view: number, members: this.current.members.map(({ name }) => name) }, 'a new view of the cluster');
      for (const listener of this.viewListeners) listener(this.current);
    }
    if (drain && !this.isDrainNotified) {
      this.isDrainNotified = true;
      for (const listener of this.drainListeners) listener();
    }
  }

  private async ask(script: string, more: object, timeoutMs?: number): Promise<Reply> {
    const { leaseMs, renewEveryMs, generation, current } = this;
    this.count += 1;
    const ask: Ask = {
      incarnation: this.self.incarnation,
      record: JSON.stringify(this.self),
      count: this.count,
      number: current.number,
      generation,
      newGeneration: randomUUID(),
      leaseMs,
      renewEveryMs,
      ...this.shared,
      ...more,
    };
    return replyOf(await this.redis.run(`troupe_${script}`, this.keys, JSON.stringify(ask), timeoutMs));
  }

  /** A function, so that the compiler does not assume the value from before a wait. */
  private isStopped(): boolean {
    return this.phase === 'stopped';
  }
}
