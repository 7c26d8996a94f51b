/**
 * Placement for a service of many nodes. Combines membership (liveness), the shard table (ownership) and the streams (reachability), and informs the
 * runtime which shards this node may serve.
 *
 * The parts hold the rules: `shard-table.ts` ownership, `own-shards.ts` the states of a shard here, `shard-reconciler.ts` claims and losses,
 * `handoff.ts` hand-over, `shard-map.ts` routes, `failure-detector.ts` failures, `incarnation-liveness.ts` which incarnations have ended,
 * `read-lease.ts` reads, `message-relay.ts` messages, `reconcile-loop.ts` polling.
 */
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { FenceControl } from '../storage/commit-lane.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';
import { within } from '../within.ts';
import { shardCount } from './address.ts';
import { ClusterMembers } from './cluster-members.ts';
import type { ClusterState, ClusterStatus } from './cluster-status.ts';
import { type ClusterTimings, clusterTimings } from './cluster-timings.ts';
import { CommitHealth } from './commit-health.ts';
import { FailureDetector } from './failure-detector.ts';
import type { Pace } from './handoff.ts';
import { IncarnationLiveness } from './incarnation-liveness.ts';
import { LostCommits } from './lost-commits.ts';
import type { Member, View } from './member.ts';
import type { Membership } from './membership.ts';
import { MessageRelay } from './message-relay.ts';
import { NodeLock } from './node-lock.ts';
import type { AnswerAsk, Peers } from './peers.ts';
import type { Placement, RemoteAsk } from './placement.ts';
import { PlacementListeners } from './placement-listeners.ts';
import { ReadLease } from './read-lease.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { Router } from './router.ts';
import { ShardMap, type ShardRow } from './shard-map.ts';
import { type PlacementView, ShardReconciler } from './shard-reconciler.ts';
import { ShardTable } from './shard-table.ts';

export type ClusterNodeOptions = {
  databaseUrl: string;
  /** This node in its form for other nodes; its gRPC server already listens. */
  self: Member;
  /** Not started yet: `start` starts it, `stop` stops it. */
  membership: Membership;
  peers: Peers;
  log: Log;
  timings?: Partial<ClusterTimings>;
  /** Called once, when a node without a cluster has locked the database. */
  onTakenOver?: (error: AppError) => void;
};

/** Clocks of two machines do not run at the same rate. */
const leaseWaitFactor = 1.2;
/**
 * Shards in motion at once: few if they only move to the planned owner, so that few callers wait; more if the node leaves; all if other
 * nodes cannot reach them here.
 */
const paces = {
  toBalance: { inMotion: 8, pauses: true },
  toLeave: { inMotion: 32, pauses: false },
  toBeReached: { inMotion: shardCount, pauses: false },
} satisfies Record<string, Pace>;
const shardsTopic = 'shards';
const deadTopic = 'dead';

export class ClusterNode implements Placement {
  readonly owner: string;
  readonly fence: FenceControl;
  private readonly map = new ShardMap();
  private readonly table: ShardTable;
  private readonly lock: NodeLock;
  private readonly reconciler: ShardReconciler;
  private readonly lease: ReadLease;
  private readonly liveness: IncarnationLiveness;
  private readonly failures: FailureDetector;
  private readonly relay: MessageRelay;
  private readonly router: Router;
  private readonly options: ClusterNodeOptions;
  private readonly timings: ClusterTimings;
  private readonly listeners: PlacementListeners;
  private readonly clusterMembers: ClusterMembers;
  private readonly reconcileLoop: ReconcileLoop;
  readonly commits: CommitHealth;
  private readonly provenDead = new Set<string>();
  private isTakenOver = false;
  private phase: 'new' | 'joining' | 'joined' | 'leaving' | 'stopped' = 'new';

  constructor(options: ClusterNodeOptions) {
    this.options = options;
    const { databaseUrl, self, membership, peers, log } = options;
    const timings = (this.timings = { ...clusterTimings, ...options.timings });
    const owner = (this.owner = self.incarnation);
    this.listeners = new PlacementListeners(log);
    const clusterMembers = (this.clusterMembers = new ClusterMembers(owner, peers));
    const lostCommits = new LostCommits({ peers, clusterMembers, listeners: this.listeners, endLease: () => this.lease.end() });
    this.table = new ShardTable({ databaseUrl, owner });
    const onTakenOver = (error: AppError) => this.handleTakeover(error);
    this.lock = new NodeLock({ databaseUrl, owner, mode: 'shared', log, waitMs: timings.lockWaitMs, onTakenOver });
    this.commits = new CommitHealth({ probe: () => this.lock.takesWrites() });
    this.reconciler = new ShardReconciler({
      self: owner,
      table: this.table,
      map: this.map,
      log,
      placementView: () => this.placementView(),
      refresh: () => this.refresh(),
      isProvenDead: (incarnation) => this.provenDead.has(incarnation),
      isMember: (incarnation) => clusterMembers.member(incarnation) !== null,
      announce: (rows) => clusterMembers.notifyAll(shardsTopic, { view: clusterMembers.viewNumber, rows }),
      acquired: (shards, orphaned) => {
        this.listeners.emit('acquired', { shards, orphaned });
        this.router.wake();
      },
      sealing: (shards) => this.listeners.seal(shards),
      lost: (shards) => this.listeners.emit('lost', shards),
      onLostCommits: () => lostCommits.report(),
      readLeaseWaitMs: timings.readLeaseMs * leaseWaitFactor,
      rereadMs: timings.rereadMs,
      offerTimeoutMs: timings.offerTimeoutMs,
      offerPauseMs: timings.offerPauseMs,
      pace: () => this.pace(),
    });
    this.fence = {
      owner,
      epochOf: (shard) => this.reconciler.own.fenceEpochOf(shard),
      connected: (client) => this.reconciler.connected(client),
      renew: (client, shards, pid) => this.reconciler.renew(client, shards, pid),
      refused: (shards) => this.reconciler.refused(shards),
    };
    const { readLeaseMs: leaseMs, renewReadLeaseMs: renewAfterMs, confirmationWaitMs: waitMs } = timings;
    this.lease = new ReadLease({ check: () => this.reconciler.check(), leaseMs, renewAfterMs, waitMs });
    this.liveness = new IncarnationLiveness({
      self: owner,
      shardsOf: (incarnation) => this.map.countOf(incarnation),
      refresh: () => this.refresh(),
      onEnded: (incarnation) => this.incarnationEnded(incarnation),
    });
    this.failures = new FailureDetector({ membership, log, onDead: (incarnation) => this.confirmDead(incarnation, true) });
    this.router = new Router({ self: owner, map: this.map, peers, clusterMembers, onStaleRoute: () => this.reconciler.pollSoon() });
    this.relay = new MessageRelay({
      self: owner,
      peers,
      ownerOf: (shard) => this.map.ownerOf(shard),
      member: (incarnation) => clusterMembers.member(incarnation),
      members: () => clusterMembers.all,
      onMessages: (messages) => this.listeners.emit('messages', messages),
    });
    const { reconciler, relay, commits } = this;
    this.reconcileLoop = new ReconcileLoop({ reconciler, relay, clusterMembers, membership, log, commits, ...timings });
    this.map.onMoved = (rows) => this.shardsMoved(rows);
    membership.onView((view) => this.applyView(view));
    membership.onExpelled(() => this.expelled());
    peers.onUp((incarnation) => this.up(incarnation));
    peers.onDown((incarnation, reason) => {
      clusterMembers.reachable.delete(incarnation);
      this.relay.down(incarnation);
      this.failures.down(incarnation, reason);
    });
    peers.onNotification(shardsTopic, (payload) => this.shardsMovedElsewhere(payload as { view: number; rows: ShardRow[] }));
    peers.onNotification(deadTopic, (payload) => this.confirmDead(String(payload), false));
  }

  get state(): ClusterState {
    if (this.phase === 'stopped' || this.phase === 'leaving') return this.phase;
    if (this.isTakenOver) return 'taken over';
    if (this.phase !== 'joined' || this.map.largestEpoch < 0) return 'joining';
    if (this.options.membership.state === 'alone') return 'alone';
    if (this.clusterMembers.isIsolated) return 'isolated';
    return this.commits.canCommit ? 'ready' : 'unable';
  }

  status(): ClusterStatus {
    const { foreign: _, ...counts } = this.reconciler.own.counts();
    const routes: Record<string, number> = {};
    for (const owner of this.map.owners()) routes[owner] = this.map.countOf(owner);
    return {
      state: this.state,
      incarnation: this.owner,
      view: this.clusterMembers.viewNumber,
      members: this.clusterMembers.all,
      isolated: [...this.clusterMembers.isolated],
      shards: { ...counts, inMotion: this.reconciler.handoffs.inMotion },
      routes,
      largestEpoch: this.map.largestEpoch,
      handoffsDone: this.reconciler.handoffs.done,
      claimsDone: this.reconciler.claims,
    };
  }

  epochOf(shard: number): number | null {
    return this.reconciler.own.epochOf(shard);
  }

  confirmation(): Promise<void> | null {
    return this.lease.confirmation();
  }

  forward(shard: number, ask: RemoteAsk): Promise<unknown> {
    return this.router.forward(shard, ask);
  }

  moved(timeoutMs: number): Promise<void> {
    return this.router.moved(timeoutMs);
  }

  /** Serves asks of other nodes, and forwards those that they cannot send to the owner themselves. */
  serve(answer: AnswerAsk): void {
    this.options.peers.serve(this.router.withForwarding(answer));
  }

  relayMessages(messages: readonly MessageDraft[]): void {
    this.relay.relay(messages);
  }

  onRelayedMessages(listener: (messages: readonly MessageDraft[] | null) => void): void {
    this.listeners.on('messages', listener);
  }

  isAlive(incarnation: string): boolean {
    return this.liveness.isAlive(incarnation);
  }

  onIncarnationEnded(listener: (incarnation: string) => void): void {
    this.listeners.on('ended', listener);
  }

  onAcquired(listener: (shards: number[], orphaned: number[]) => void): void {
    this.listeners.on('acquired', ({ shards, orphaned }) => listener(shards, orphaned));
  }

  onSealing(listener: (shards: number[]) => Promise<void>): void {
    this.listeners.onSealing(listener);
  }

  onLost(listener: (shards: number[]) => void): void {
    this.listeners.on('lost', listener);
  }

  onLostCommits(listener: () => void): void {
    this.listeners.on('lostCommits', listener);
  }

  /**
   * Joins, and claims the free shards of its share; owners hand over the others later. Throws `conflict` when a node without a cluster runs
   * on this database or this node's settings differ from the others', `unavailable` when the coordinator cannot be reached.
   */
  async start(): Promise<void> {
    await this.lock.take();
    this.map.merge((await this.table.read()).rows);
    this.phase = 'joining';
    await this.options.membership.start();
    this.reconcileLoop.start();
    await this.reconciler.reconcile();
  }

  /**
   * Announces that this node leaves and hands over its shards, while it serves those it still owns. Resolves when no shard is left, when no
   * other node can take them, or after `timeoutMs`. Call `stop` afterwards.
   */
  async leave(timeoutMs: number): Promise<void> {
    if (this.phase === 'stopped') return;
    this.phase = 'leaving';
    const deadlineMs = performance.now() + timeoutMs;
    await within(this.options.membership.leaving(), timeoutMs);
    while (this.reconciler.own.held().length > 0 && this.clusterMembers.plan.some((owner) => owner !== null)) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) {
        this.options.log.warn({ shards: this.reconciler.own.held().length }, 'not all shards could be handed over in time');
        return;
      }
      void this.reconciler.reconcile();
      await this.moved(Math.min(leftMs, this.timings.rereadMs));
    }
  }

  /** Releases the shards that are still owned, so that others can claim them at once, and leaves the cluster. */
  async stop(): Promise<void> {
    if (this.phase === 'stopped') return;
    const { membership, log } = this.options;
    const { stopMs } = this.timings;
    this.end();
    const released = this.reconciler
      .stop(true)
      .catch((error) => log.warn({ err: error }, 'shards could not be released; other nodes will claim them'));
    await within(released, stopMs);
    await within(membership.leave(), stopMs);
    await membership.stop();
    await within(Promise.all([this.lock.release(), this.table.close()]), stopMs);
  }

  /** Stops without notifying others, like a killed process. */
  async abandon(): Promise<void> {
    this.end();
    await this.reconciler.stop(false);
    await this.options.membership.stop();
    await within(Promise.all([this.lock.release(), this.table.close()]), this.timings.stopMs);
  }

  private end(): void {
    this.phase = 'stopped';
    this.reconcileLoop.stop();
    this.failures.stop();
    this.router.wake();
  }

  private placementView(): PlacementView | null {
    if (this.phase !== 'joined' && this.phase !== 'leaving') return null;
    if (this.isTakenOver) return null;
    const { plan, all, reachable, isIsolated } = this.clusterMembers;
    return {
      plan,
      frozen: this.options.membership.state !== 'member',
      // A member that cannot commit cannot release its shards either, so they may be claimed.
      members: all.flatMap((member) => (member.cannotCommit && this.commits.isSteady ? [] : [member.incarnation])),
      // A node that leaves or is isolated hands over through the table, without a stream to the new owner.
      canReceive: (incarnation) => this.commits.canCommit && (this.phase === 'leaving' || isIsolated || reachable.has(incarnation)),
    };
  }

  private pace(): Pace {
    if (this.clusterMembers.isIsolated) return paces.toBeReached;
    return this.phase === 'leaving' ? paces.toLeave : paces.toBalance;
  }

  private applyView(view: View): void {
    if (this.phase === 'stopped') return;
    const isolatedBefore = [...this.clusterMembers.isolated].join();
    this.clusterMembers.applyView(view);
    if ([...this.clusterMembers.isolated].join() !== isolatedBefore) this.logIsolated();
    if (this.phase === 'joining' && this.clusterMembers.member(this.owner) !== null) this.phase = 'joined';
    for (const incarnation of this.liveness.applyView(view, this.clusterMembers.isolated)) {
      this.failures.remove(incarnation);
      this.relay.remove(incarnation);
    }
    void this.reconciler.reconcile();
  }

  private logIsolated(): void {
    const nodes = [...this.clusterMembers.isolated].map((incarnation) => this.clusterMembers.member(incarnation)!.name);
    if (nodes.length > 0) this.options.log.warn({ nodes }, 'nodes are isolated: others cannot reach them and claim their shards');
    else this.options.log.info({}, 'no node is isolated now');
  }

  private handleTakeover(error: AppError): void {
    this.isTakenOver = true;
    this.options.log.error({ reason: error.message }, 'another node holds the lock on this database; this node stops');
    this.lease.end();
    this.reconciler.dropAll();
    this.options.onTakenOver?.(error);
  }

  /** This node was paused or disconnected for longer than its lease. Its state in memory may be out of date. */
  private expelled(): void {
    if (this.phase === 'joined') this.phase = 'joining';
    this.lease.end();
    this.reconciler.dropAll();
  }

  private async refresh(): Promise<void> {
    const { membership } = this.options;
    const before = membership.renewals(this.owner)?.count ?? -1;
    await membership.refresh();
    const after = membership.renewals(this.owner)?.count ?? -1;
    if (after <= before) throw new AppError('unavailable', 'The coordinator does not answer');
  }

  private up(incarnation: string): void {
    this.clusterMembers.reachable.add(incarnation);
    this.failures.up(incarnation);
    this.relay.up(incarnation);
    // The member may be the planned owner of shards that this node has.
    void this.reconciler.reconcile();
  }

  private confirmDead(incarnation: string, notifyOthers: boolean): void {
    if (incarnation === this.owner) return;
    this.provenDead.add(incarnation);
    if (notifyOthers) this.clusterMembers.notifyAll(deadTopic, incarnation);
    void this.options.membership.refresh().then(() => this.reconciler.reconcile());
  }

  private incarnationEnded(incarnation: string): void {
    this.provenDead.delete(incarnation);
    this.listeners.emit('ended', incarnation);
    // Scan for messages that the ended process committed but did not deliver.
    this.listeners.emit('messages', null);
  }

  private shardsMovedElsewhere({ view, rows }: { view: number; rows: ShardRow[] }): void {
    this.map.merge(rows);
    if (view > this.clusterMembers.viewNumber) void this.options.membership.refresh().then(() => this.reconciler.reconcile());
    else void this.reconciler.reconcile();
  }

  private shardsMoved(rows: readonly ShardRow[]): void {
    this.reconciler.dropReassigned(rows);
    this.reconciler.handoffs.moved(rows);
    this.relay.moved(rows);
    this.liveness.announce();
    this.router.wake();
  }
}
