/**
 * Placement for a service of many nodes. It joins what each of its parts knows: the membership (who lives), the table (who owns), the streams
 * (who can be reached), and says to the runtime what this node may do.
 *
 * The parts hold the rules: `shard-table.ts` judges, `own-shards.ts` says what may be done with a shard, `shard-keeper.ts` claims and loses,
 * `handoff.ts` hands over, `shard-map.ts` routes, `death-watch.ts` proves deaths, `known-nodes.ts` says who is gone, `read-lease.ts` what may
 * be shown, `message-relay.ts` brings messages.
 */
import { type Clock, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';
import type { FenceControl } from '../storage/group-commit.ts';
import { DeathWatch } from './death-watch.ts';
import { KnownNodes } from './known-nodes.ts';
import type { Member, View } from './member.ts';
import type { Membership } from './membership.ts';
import { MessageRelay } from './message-relay.ts';
import { NodeLock } from './node-lock.ts';
import type { Peers } from './peers.ts';
import type { Placement, RemoteAsk } from './placement.ts';
import { planOf } from './placement-plan.ts';
import { ReadLease } from './read-lease.ts';
import { ShardKeeper, type Standing } from './shard-keeper.ts';
import { ShardMap, type ShardRow } from './shard-map.ts';
import { ShardTable } from './shard-table.ts';

export type ClusterNodeOptions = {
  databaseUrl: string;
  /** This node as the others know it; its gRPC listens already. */
  self: Member;
  /** Not started yet: `start` does it, `stop` stops it. */
  membership: Membership;
  peers: Peers;
  log: Log;
  clock?: Clock;
  timings?: Partial<ClusterTimings>;
};

/** Milliseconds. */
export type ClusterTimings = {
  /** How often a node looks for what no news has told it. */
  lookMs: number;
  /** How long committed state is shown without asking the database. */
  readLeaseMs: number;
  /** A question renews the lease in the background when it is this old. */
  renewReadLeaseMs: number;
  /** How long a question waits for the database. */
  confirmationWaitMs: number;
  /** Between two reads of the table because somebody was asked in vain. */
  rereadMs: number;
  /** How long a shard that was offered may stay nobody's. */
  takeBackMs: number;
  /** How long a start waits for the lock of a node without a cluster. */
  lockWaitMs: number;
  /** How long a stop waits for the database and the coordinator, each. */
  stopMs: number;
};

const defaults: ClusterTimings = {
  lookMs: 1_000,
  readLeaseMs: 300,
  renewReadLeaseMs: 150,
  confirmationWaitMs: 2_000,
  rereadMs: 100,
  takeBackMs: 3_000,
  lockWaitMs: 5_000,
  stopMs: 1_000,
};
/** Clocks of two machines do not run at quite the same rate. */
const waitOutFactor = 1.2;
const maxInMotion = 32;
const maxRouteTries = 3;
const shardsNews = 'shards';
const deadNews = 'dead';

/** `joining`: not in a view yet, or put out and on its way back. `alone`: the coordinator does not answer, placement is frozen. */
export type ClusterState = 'joining' | 'ready' | 'alone' | 'leaving' | 'stopped';

export type ClusterStatus = {
  state: ClusterState;
  incarnation: string;
  view: number;
  members: readonly Member[];
  /** How many shards are in each state here. */
  shards: { waiting: number; owned: number; sealing: number; releasing: number; inMotion: number };
  /** How many shards each incarnation owns, as far as is known here; the key `''` stands for nobody. */
  routes: Record<string, number>;
  largestEpoch: number;
  handoffsDone: number;
  claimsDone: number;
};

export class ClusterNode implements Placement {
  readonly owner: string;
  readonly fence: FenceControl;
  private readonly map = new ShardMap();
  private readonly table: ShardTable;
  private readonly lock: NodeLock;
  private readonly keeper: ShardKeeper;
  private readonly lease: ReadLease;
  private readonly known: KnownNodes;
  private readonly watch: DeathWatch;
  private readonly relay: MessageRelay;
  private readonly options: ClusterNodeOptions;
  private readonly timings: ClusterTimings;
  private readonly listeners = {
    acquired: [] as ((shards: number[]) => void)[],
    sealing: [] as ((shards: number[]) => Promise<void>)[],
    lost: [] as ((shards: number[]) => void)[],
    gone: [] as ((incarnation: string) => void)[],
    messages: [] as ((messages: readonly MessageDraft[] | null) => void)[],
  };
  private readonly reachable = new Set<string>();
  private readonly provenDead = new Set<string>();
  private readonly waiters = new Set<() => void>();
  private members = new Map<string, Member>();
  private plan: readonly (string | null)[] = [];
  private viewNumber = 0;
  private phase: 'new' | 'out' | 'in' | 'leaving' | 'stopped' = 'new';
  private timer: NodeJS.Timeout | null = null;

  constructor(options: ClusterNodeOptions) {
    this.options = options;
    const { databaseUrl, self, membership, peers, log, clock = systemClock } = options;
    const timings = (this.timings = { ...defaults, ...options.timings });
    const owner = (this.owner = self.incarnation);
    this.table = new ShardTable({ databaseUrl, owner });
    this.lock = new NodeLock({ databaseUrl, owner, mode: 'shared', log, waitMs: timings.lockWaitMs });
    this.keeper = new ShardKeeper({
      self: owner,
      table: this.table,
      map: this.map,
      clock,
      log,
      standing: () => this.standing(),
      refresh: () => this.refresh(),
      isProvenDead: (incarnation) => this.provenDead.has(incarnation),
      announce: (rows) => this.tellAll(shardsNews, { view: this.viewNumber, rows }),
      acquired: (shards) => {
        for (const listener of this.listeners.acquired) listener(shards);
        this.wake();
      },
      sealing: async (shards) => void (await Promise.all(this.listeners.sealing.map((listener) => listener(shards)))),
      lost: (shards) => {
        for (const listener of this.listeners.lost) listener(shards);
      },
      waitOutMs: timings.readLeaseMs * waitOutFactor,
      rereadMs: timings.rereadMs,
      takeBackMs: timings.takeBackMs,
      maxInMotion,
    });
    this.fence = {
      owner,
      epochOf: (shard) => this.keeper.own.fenceEpochOf(shard),
      renew: (client) => this.keeper.renew(client),
      refused: (shards) => this.keeper.refused(shards),
    };
    const { readLeaseMs: leaseMs, renewReadLeaseMs: renewAfterMs, confirmationWaitMs: waitMs } = timings;
    this.lease = new ReadLease({ check: () => this.keeper.check(), clock, leaseMs, renewAfterMs, waitMs });
    this.known = new KnownNodes({
      self: owner,
      shardsOf: (incarnation) => this.map.countOf(incarnation),
      refresh: () => this.refresh(),
      onGone: (incarnation) => this.gone(incarnation),
    });
    this.watch = new DeathWatch({ membership, log, onDead: (incarnation) => this.proven(incarnation, true) });
    this.relay = new MessageRelay({
      self: owner,
      peers,
      clock,
      ownerOf: (shard) => this.map.ownerOf(shard),
      member: (incarnation) => this.members.get(incarnation) ?? null,
      onMessages: (messages) => this.passedOn(messages),
    });
    this.map.onMoved = (rows) => this.moves(rows);
    membership.onView((view) => this.takeView(view));
    membership.onExpelled(() => this.expelled());
    peers.onUp((incarnation) => this.up(incarnation));
    peers.onDown((incarnation, reason) => {
      this.reachable.delete(incarnation);
      this.relay.down(incarnation);
      this.watch.down(incarnation, reason);
    });
    peers.onNews(shardsNews, (payload) => this.heardOfShards(payload as { view: number; rows: ShardRow[] }));
    peers.onNews(deadNews, (payload) => this.proven(String(payload), false));
  }

  get state(): ClusterState {
    if (this.phase === 'stopped' || this.phase === 'leaving') return this.phase;
    if (this.phase !== 'in' || this.map.largestEpoch < 0) return 'joining';
    return this.options.membership.state === 'alone' ? 'alone' : 'ready';
  }

  status(): ClusterStatus {
    const { foreign: _, ...counts } = this.keeper.own.counts();
    const routes: Record<string, number> = {};
    for (const owner of this.map.owners()) routes[owner] = this.map.countOf(owner);
    return {
      state: this.state,
      incarnation: this.owner,
      view: this.viewNumber,
      members: [...this.members.values()],
      shards: { ...counts, inMotion: this.keeper.handoffs.inMotion },
      routes,
      largestEpoch: this.map.largestEpoch,
      handoffsDone: this.keeper.handoffs.done,
      claimsDone: this.keeper.claims,
    };
  }

  epochOf(shard: number): number | null {
    return this.keeper.own.epochOf(shard);
  }

  confirmation(): Promise<void> | null {
    return this.lease.confirmation();
  }

  async forward(shard: number, ask: RemoteAsk, signal?: AbortSignal): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      const owner = this.map.ownerOf(shard);
      const member = owner === null || owner === this.owner ? undefined : this.members.get(owner);
      try {
        if (member === undefined) throw new AppError('shard_not_owned', 'Nobody is known to own the shard now');
        return await this.options.peers.ask(member, ask, signal);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'shard_not_owned') throw error;
        // The news of its new owner may have come meanwhile.
        if (tries >= maxRouteTries || this.map.ownerOf(shard) === owner || this.epochOf(shard) !== null) {
          this.keeper.lookSoon();
          throw error;
        }
      }
    }
  }

  moved(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiters.add(done);
    });
  }

  passOn(messages: readonly MessageDraft[]): void {
    this.relay.passOn(messages);
  }

  onPassedOn(listener: (messages: readonly MessageDraft[] | null) => void): void {
    this.listeners.messages.push(listener);
  }

  isAlive(incarnation: string): boolean {
    return this.known.isAlive(incarnation);
  }

  onGone(listener: (incarnation: string) => void): void {
    this.listeners.gone.push(listener);
  }

  onAcquired(listener: (shards: number[]) => void): void {
    this.listeners.acquired.push(listener);
  }

  onSealing(listener: (shards: number[]) => Promise<void>): void {
    this.listeners.sealing.push(listener);
  }

  onLost(listener: (shards: number[]) => void): void {
    this.listeners.lost.push(listener);
  }

  /**
   * Joins, and claims what is free of its share; what others have comes by and by. Throws `conflict` when a node without a cluster runs on
   * this database or this node's settings differ from the others', `unavailable` when the coordinator cannot be reached.
   */
  async start(): Promise<void> {
    await this.lock.take();
    this.map.learn(await this.table.look());
    this.phase = 'out';
    await this.options.membership.start();
    this.timer = setInterval(() => this.look(), this.timings.lookMs);
    await this.keeper.settle();
  }

  /**
   * Says that this node is on its way out and hands everything over, while it serves what it still has. Resolves when nothing is left, when
   * nobody is there to take it, or after `timeoutMs`. `stop` comes after.
   */
  async leave(timeoutMs: number): Promise<void> {
    if (this.phase === 'stopped') return;
    this.phase = 'leaving';
    const deadlineMs = performance.now() + timeoutMs;
    await within(this.options.membership.leaving(), timeoutMs);
    while (this.keeper.own.held().length > 0 && this.plan.some((owner) => owner !== null)) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) {
        this.options.log.warn({ shards: this.keeper.own.held().length }, 'not everything could be handed over in time');
        return;
      }
      void this.keeper.settle();
      await this.moved(Math.min(leftMs, this.timings.rereadMs));
    }
  }

  /** Gives up what is still owned, so that others have it at once, and leaves the cluster. */
  async stop(): Promise<void> {
    if (this.phase === 'stopped') return;
    const { membership, log } = this.options;
    const { stopMs } = this.timings;
    this.end();
    const released = this.keeper
      .stop(true)
      .catch((error) => log.warn({ err: error }, 'shards could not be released; others will find them'));
    await within(released, stopMs);
    await within(membership.leave(), stopMs);
    await membership.stop();
    await within(Promise.all([this.lock.release(), this.table.close()]), stopMs);
  }

  /** Ends without a word to anybody, as a process does that is killed: others find out by themselves. */
  async abandon(): Promise<void> {
    this.end();
    await this.keeper.stop(false);
    await this.options.membership.stop();
    await within(Promise.all([this.lock.release(), this.table.close()]), this.timings.stopMs);
  }

  private end(): void {
    this.phase = 'stopped';
    if (this.timer !== null) clearInterval(this.timer);
    this.watch.stop();
    this.wake();
  }

  private standing(): Standing | null {
    if (this.phase !== 'in' && this.phase !== 'leaving') return null;
    return {
      plan: this.plan,
      frozen: this.options.membership.state !== 'member',
      members: [...this.members.keys()],
      canTake: (incarnation) => this.phase === 'leaving' || this.reachable.has(incarnation),
    };
  }

  private takeView(view: View): void {
    if (this.phase === 'stopped') return;
    this.viewNumber = view.number;
    this.members = new Map(view.members.map((member) => [member.incarnation, member]));
    this.plan = planOf(view);
    this.options.peers.setMembers(view.members.filter(({ incarnation }) => incarnation !== this.owner));
    if (this.phase === 'out' && this.members.has(this.owner)) this.phase = 'in';
    for (const incarnation of this.known.take(view)) {
      this.watch.forget(incarnation);
      this.relay.forget(incarnation);
      this.reachable.delete(incarnation);
    }
    void this.keeper.settle();
  }

  /** It slept, or could not be heard, for longer than its lease. Whatever it has in memory may be old. */
  private expelled(): void {
    if (this.phase === 'in') this.phase = 'out';
    this.lease.end();
    this.keeper.loseAll();
  }

  private async refresh(): Promise<void> {
    const { membership } = this.options;
    const before = membership.renewals(this.owner)?.count ?? -1;
    await membership.refresh();
    const after = membership.renewals(this.owner)?.count ?? -1;
    if (after <= before) throw new AppError('unavailable', 'The coordinator does not answer');
  }

  private up(incarnation: string): void {
    this.reachable.add(incarnation);
    this.watch.up(incarnation);
    this.relay.up(incarnation);
    // It may be the better owner of what this node has.
    void this.keeper.settle();
  }

  private proven(incarnation: string, tellOthers: boolean): void {
    if (incarnation === this.owner) return;
    this.provenDead.add(incarnation);
    if (tellOthers) this.tellAll(deadNews, incarnation);
    this.options.membership.refresh().then(() => this.keeper.settle());
  }

  private gone(incarnation: string): void {
    this.provenDead.delete(incarnation);
    for (const listener of this.listeners.gone) listener(incarnation);
    // Messages that it had committed and not yet passed on.
    this.passedOn(null);
  }

  private heardOfShards({ view, rows }: { view: number; rows: ShardRow[] }): void {
    this.map.learn(rows);
    if (view > this.viewNumber) this.options.membership.refresh().then(() => this.keeper.settle());
    else void this.keeper.settle();
  }

  private moves(rows: readonly ShardRow[]): void {
    this.keeper.handoffs.moved(rows);
    this.relay.moved(rows);
    this.known.announce();
    this.wake();
  }

  private passedOn(messages: readonly MessageDraft[] | null): void {
    for (const listener of this.listeners.messages) listener(messages);
  }

  private look(): void {
    this.relay.retry();
    this.keeper.look().catch((error) => this.options.log.warn({ err: error }, 'the table of shards could not be read'));
  }

  private tellAll(kind: string, payload: unknown): void {
    for (const member of this.members.values()) if (member.incarnation !== this.owner) this.options.peers.tell(member, kind, payload);
  }

  private wake(): void {
    for (const waiter of [...this.waiters]) waiter();
  }
}

/** Waits for the promise, but no longer than that. */
async function within(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.max(0, timeoutMs))));
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
