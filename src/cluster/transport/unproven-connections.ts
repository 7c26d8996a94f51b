/**
 * Connections whose other end has not proved that it is a node: how many there may be from one address and in all, how often an address may open one,
 * and for how long. What is beyond is closed before a byte of it is read, so that strangers cost a node next to nothing and never keep its peers out.
 *
 * An address that proves itself gets back what its connection has cost: nodes that lose and find each other all day are not held up.
 */
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';

export type UnprovenBounds = {
  maxUnproven: number;
  maxUnprovenPerAddress: number;
  /** Connections that an address may open at once and then each second, those that proved themselves left out. */
  unprovenBurst: number;
  unprovenPerSecond: number;
};

export type UnprovenOptions = UnprovenBounds & {
  /** Time to prove itself. */
  withinMs: number;
  /** Milliseconds that never jump. */
  nowMs?: () => number;
};

type Address = { open: number; opened: number; atMs: number };
type Unproven = { socket: Socket; address: string; timer: NodeJS.Timeout };

const maxAddresses = 10_000;

export class UnprovenConnections {
  private readonly options: Required<UnprovenOptions>;
  private readonly addresses = new LRUCache<string, Address>({ max: maxAddresses });
  /** By the other end's address and port. */
  private readonly open = new Map<string, Unproven>();

  constructor(options: UnprovenOptions) {
    this.options = { nowMs: () => performance.now(), ...options };
  }

  /** Whether a new connection may stay for now. One that may not is closed. */
  admit(socket: Socket): boolean {
    const { remoteAddress, remotePort } = socket;
    const peer = `${remoteAddress}:${remotePort}`;
    if (remoteAddress === undefined || !this.hasRoom(remoteAddress)) {
      socket.destroy();
      return false;
    }
    const timer = setTimeout(() => socket.destroy(), this.options.withinMs);
    timer.unref();
    this.open.set(peer, { socket, address: remoteAddress, timer });
    socket.once('close', () => this.settle(peer));
    return true;
  }

  /** @param peer `address:port`, as gRPC reports it */
  proved(peer: string): void {
    const address = this.settle(peer);
    if (address !== undefined) address.opened = Math.max(0, address.opened - 1);
  }

  get count(): number {
    return this.open.size;
  }

  private hasRoom(name: string): boolean {
    const { maxUnproven, maxUnprovenPerAddress, unprovenBurst, unprovenPerSecond, nowMs } = this.options;
    const atMs = nowMs();
    const address = this.addresses.get(name) ?? { open: 0, opened: 0, atMs };
    address.opened = Math.max(0, address.opened - ((atMs - address.atMs) * unprovenPerSecond) / 1_000);
    address.atMs = atMs;
    this.addresses.set(name, address);
    if (this.open.size >= maxUnproven || address.open >= maxUnprovenPerAddress || address.opened + 1 > unprovenBurst) return false;
    address.open++;
    address.opened++;
    return true;
  }

  private settle(peer: string): Address | undefined {
    const found = this.open.get(peer);
    if (found === undefined) return undefined;
    this.open.delete(peer);
    clearTimeout(found.timer);
    const address = this.addresses.peek(found.address);
    if (address !== undefined && address.open > 0) address.open--;
    return address;
  }
}
