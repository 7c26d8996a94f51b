/**
 * Limits connections whose other end is not authenticated as a node: how many there may be from one address and in all, how often an
 * address may open one, and for how long. A connection beyond the limits is closed before a byte of it is read, so that unknown clients
 * cost a node almost nothing and never block its peers.
 *
 * When a connection is authenticated, its address gets back its cost: nodes that reconnect often are not delayed.
 */
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';

export type UnauthenticatedBounds = {
  maxUnauthenticated: number;
  maxUnauthenticatedPerAddress: number;
  /** Connections that an address may open at once and then each second, without authenticated ones. */
  unauthenticatedBurst: number;
  unauthenticatedPerSecond: number;
};

export type UnauthenticatedOptions = UnauthenticatedBounds & {
  /** Time to authenticate. */
  withinMs: number;
  /** Monotonic clock in milliseconds. */
  nowMs?: () => number;
};

type Address = { open: number; opened: number; atMs: number };
type Unauthenticated = { socket: Socket; address: string; timer: NodeJS.Timeout };

const maxAddresses = 10_000;

export class UnauthenticatedConnections {
  private readonly options: Required<UnauthenticatedOptions>;
  private readonly addresses = new LRUCache<string, Address>({ max: maxAddresses });
  /** By the other end's address and port. */
  private readonly open = new Map<string, Unauthenticated>();

  constructor(options: UnauthenticatedOptions) {
    this.options = { nowMs: () => performance.now(), ...options };
  }

  /** Whether a new connection may stay for now. Otherwise it is closed. */
  admit(socket: Socket): boolean {
    const { remoteAddress, remotePort } = socket;
    const peer = `${remoteAddress}:${remotePort}`;
    if (remoteAddress === undefined || !this.hasCapacity(remoteAddress)) {
      socket.destroy();
      return false;
    }
    const timer = setTimeout(() => socket.destroy(), this.options.withinMs);
    timer.unref();
    this.open.set(peer, { socket, address: remoteAddress, timer });
    socket.once('close', () => this.remove(peer));
    return true;
  }

  /** @param peer `address:port`, as gRPC reports it */
  authenticated(peer: string): void {
    const address = this.remove(peer);
    if (address !== undefined) address.opened = Math.max(0, address.opened - 1);
  }

  get count(): number {
    return this.open.size;
  }

  private hasCapacity(name: string): boolean {
    const { maxUnauthenticated, maxUnauthenticatedPerAddress, unauthenticatedBurst, unauthenticatedPerSecond, nowMs } = this.options;
    const atMs = nowMs();
    const address = this.addresses.get(name) ?? { open: 0, opened: 0, atMs };
    address.opened = Math.max(0, address.opened - ((atMs - address.atMs) * unauthenticatedPerSecond) / 1_000);
    address.atMs = atMs;
    this.addresses.set(name, address);
    if (this.open.size >= maxUnauthenticated || address.open >= maxUnauthenticatedPerAddress || address.opened + 1 > unauthenticatedBurst)
      return false;
    address.open++;
    address.opened++;
    return true;
  }

  private remove(peer: string): Address | undefined {
    const found = this.open.get(peer);
    if (found === undefined) return undefined;
    this.open.delete(peer);
    clearTimeout(found.timer);
    const address = this.addresses.peek(found.address);
    if (address !== undefined && address.open > 0) address.open--;
    return address;
  }
}
