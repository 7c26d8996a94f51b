/**
 * Schedules password hashes. A hash costs 19 MiB and some 50 ms of a core, so few run at once; a flood from one network must not keep other
 * users from signing in.
 *
 * H1 Three queues are served round-robin: sign-ins from a network that recently sent a right password, or by users who have proven their
 *    identity; other sign-ins; registrations.
 * H2 In a queue networks are served round-robin (/24 of IPv4, /48 of IPv6), in a network its addresses (/64 of IPv6).
 * H3 The number of waiting requests of an address, of a network and of a queue is bounded, and none waits longer than `maxWaitMs` for its
 *    network. If a queue is full, a request of a network with few requests replaces one of a network with many.
 */
import { LRUCache } from 'lru-cache';
import { addressGroup } from '../../../edge/http/client-address.ts';
import { FairGate } from '../../../fair-queue.ts';

export type HashQueue = 'known' | 'login' | 'register';
/** The origin of a hash request: its queue, and the network and address whose turns it shares. */
export type HashRequester = { queue: HashQueue; network: string; address: string };

export type HashQueuesOptions = {
  /** Fewer than the four threads of the pool, which file access needs too. */
  maxRunning?: number;
  maxWaitingOfAddress?: number;
  maxWaitingOfNetwork?: number;
  maxWaitingOfQueue?: number;
  maxWaitMs?: number;
};

const maxKnown = 20_000;
const knownForMs = 24 * 3_600_000;
const full = 'Too many sign-ins at once; try again shortly';

export class HashQueues {
  private readonly options: Required<HashQueuesOptions>;
  private readonly all: FairGate;
  private readonly queues = new Map<HashQueue, FairGate>();
  /** One network in one queue, while it has a running or waiting request. */
  private readonly networks = new Map<string, FairGate>();
  /** Networks that have sent a right password. */
  private readonly known = new LRUCache<string, true>({ max: maxKnown, ttl: knownForMs });

  constructor(options: HashQueuesOptions = {}) {
    this.options = {
      maxRunning: 2,
      maxWaitingOfAddress: 100,
      maxWaitingOfNetwork: 100,
      maxWaitingOfQueue: 100,
      maxWaitMs: 10_000,
      ...options,
    };
    this.all = new FairGate({ maxRunning: this.options.maxRunning, full });
  }

  /** The requester of a client. @param address the client's */
  requesterOf(address: string, queue: 'login' | 'register'): HashRequester {
    const network = networkOf(address);
    const requester = { network, address: addressGroup(address, 64) };
    return { queue: queue === 'login' && this.known.has(network) ? 'known' : queue, ...requester };
  }

  /** The requester of a user who has proven their identity. */
  requesterOfUser(userId: string): HashRequester {
    return { queue: 'known', network: userId, address: userId };
  }

  /** Records that this client sent a right password. */
  noteRight(address: string): void {
    this.known.set(networkOf(address), true);
  }

  /** Runs `work` in its turn. Rejects as `work` does, and with `overloaded` if too many wait. */
  async pass<T>({ queue, network, address }: HashRequester, work: () => Promise<T>): Promise<T> {
    const name = `${queue} ${network}`;
    const ofNetwork = this.networkGate(name);
    try {
      return await ofNetwork.pass(address, () => this.queueGate(queue).pass(network, () => this.all.pass(queue, work)));
    } finally {
      const { running, waiting } = ofNetwork.size;
      if (running === 0 && waiting === 0) this.networks.delete(name);
    }
  }

  private queueGate(queue: HashQueue): FairGate {
    let gate = this.queues.get(queue);
    const { maxRunning, maxWaitingOfQueue: maxWaiting } = this.options;
    if (gate === undefined) this.queues.set(queue, (gate = new FairGate({ maxRunning, maxWaiting, full })));
    return gate;
  }

  private networkGate(name: string): FairGate {
    let gate = this.networks.get(name);
    const { maxRunning, maxWaitingOfNetwork: maxWaiting, maxWaitingOfAddress: maxWaitingEach, maxWaitMs } = this.options;
    if (gate === undefined) this.networks.set(name, (gate = new FairGate({ maxRunning, maxWaiting, maxWaitingEach, maxWaitMs, full })));
    return gate;
  }
}

/** A /24 of IPv4 rarely has several unrelated users; a provider assigns a /48 of IPv6 to one customer. */
function networkOf(address: string): string {
  return address.includes(':') ? addressGroup(address, 48) : `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
}
