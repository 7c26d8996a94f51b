/**
 * Routes an ask to the node that owns its actor. If there is no open stream to that member, another reachable node forwards the ask, so a
 * broken link between two nodes does not make actors unreachable.
 *
 * A1 An ask is forwarded at most once: the forwarding node sends it to the owner directly, or refuses it.
 */
import { AppError } from '../errors.ts';
import type { ClusterMembers } from './cluster-members.ts';
import type { AnswerAsk, Peers } from './peers.ts';
import type { RemoteAsk } from './placement.ts';
import type { ShardMap } from './shard-map.ts';

export type RouterOptions = {
  self: string;
  map: ShardMap;
  peers: Peers;
  clusterMembers: ClusterMembers;
  /** The known owner has refused: the shard map is out of date. */
  onStaleRoute: () => void;
};

/** Kind of an ask to be forwarded: its `id` is the target incarnation, its `input` the ask. No actor has this kind. */
const forwardKind = '>';
const maxTries = 3;

export class Router {
  private readonly waiters = new Set<() => void>();
  private nextForwarder = 0;
  private readonly options: RouterOptions;

  constructor(options: RouterOptions) {
    this.options = options;
  }

  forward(shard: number, ask: RemoteAsk): Promise<unknown> {
    const { self, map, clusterMembers, peers } = this.options;
    const owner = map.ownerOf(shard);
    const to = owner !== null && owner !== self && clusterMembers.reachable.has(owner) ? clusterMembers.member(owner) : null;
    if (to === null) return this.forwardWithRetry(shard, ask);
    // Fast path: the map is nearly always up to date.
    return peers.ask(to, ask).catch((error) => {
      if (isElsewhere(error)) return this.forwardWithRetry(shard, ask);
      throw error;
    });
  }

  private async forwardWithRetry(shard: number, ask: RemoteAsk): Promise<unknown> {
    const { self, map, onStaleRoute } = this.options;
    for (let tries = 1; ; tries++) {
      const owner = map.ownerOf(shard);
      try {
        if (owner === null || owner === self) throw notOwned();
        return await this.askNode(owner, ask);
      } catch (error) {
        if (!isElsewhere(error)) throw error;
        const ownerNow = map.ownerOf(shard);
        // The notification of the new owner may have arrived meanwhile.
        if (tries < maxTries && ownerNow !== owner && ownerNow !== null && ownerNow !== self) continue;
        if (ownerNow === owner) onStaleRoute();
        throw error;
      }
    }
  }

  /** Answers asks of other nodes, and forwards asks for another member. */
  withForwarding(answer: AnswerAsk): AnswerAsk {
    return (ask, from, callerSignal) => {
      if (ask.kind !== forwardKind) return answer(ask, from, callerSignal);
      const { clusterMembers } = this.options;
      const member = clusterMembers.member(ask.id);
      if (member === null || !clusterMembers.reachable.has(ask.id)) throw notOwned();
      return this.options.peers.ask(member, { ...(ask.input as RemoteAsk), deadlineMs: ask.deadlineMs }, callerSignal());
    };
  }

  /** Resolves with the next call of `wake`, at the latest after `timeoutMs`. */
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

  wake(): void {
    for (const waiter of [...this.waiters]) waiter();
  }

  private async askNode(owner: string, ask: RemoteAsk): Promise<unknown> {
    const { clusterMembers, peers } = this.options;
    const to = clusterMembers.member(owner);
    if (to === null) throw notOwned();
    if (clusterMembers.reachable.has(owner)) return peers.ask(to, ask);
    // Round-robin, because a chosen node may not reach it either.
    const others = clusterMembers.relaysTo(to);
    if (others.length === 0) throw notOwned();
    const through = others[this.nextForwarder++ % others.length]!;
    return peers.ask(through, { ...ask, kind: forwardKind, id: owner, input: ask });
  }
}

function isElsewhere(error: unknown): boolean {
  return error instanceof AppError && error.code === 'shard_not_owned';
}

function notOwned(): AppError {
  return new AppError('shard_not_owned', 'No reachable node is known to own the shard now');
}
