/**
 * Finds the client's address of a request. `X-Forwarded-For` is used only as far as trusted proxies wrote it: its addresses are read from
 * the right; while an address belongs to a trusted proxy, the next one is read; the first other address is the client's. Entries before it
 * come from the client and are ignored. The same holds for the PROXY preamble of a proxy that forwards connections: it is read before the
 * header.
 */
import { BlockList, isIP } from 'node:net';

/** More hops than any real path has; further entries are not read. */
const maxHops = 20;
const mappedDotted = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;
/** As uWebSockets.js writes it, with every group in full. */
const mappedHex = /^(?:(?:0{1,4}:){5}|::)ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

export class TrustedProxies {
  private readonly ranges: BlockList | null;

  /** @param ranges addresses and CIDR ranges of proxies; empty: no proxy is trusted */
  constructor(ranges: readonly string[] = []) {
    this.ranges = ranges.length === 0 ? null : new BlockList();
    for (const range of ranges) {
      const [address, bits] = range.split('/') as [string, string?];
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      this.ranges!.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
    }
  }

  /**
   * The client's address: `remote`, or the address that trusted proxies report.
   *
   * @param headers lower-case names and their values, alternating
   * @param announced the address in a PROXY preamble; empty: there was no preamble
   */
  clientOf(remote: string, headers: readonly string[], announced = ''): string {
    const peer = plainAddress(remote);
    if (this.ranges === null || !this.trustsPlain(peer)) return peer;
    let client = announced === '' ? peer : plainAddress(announced);
    if (!this.trustsPlain(client)) return client;
    for (const hop of hopsOf(headers)) {
      const address = plainAddress(hop);
      if (isIP(address) === 0) return client;
      client = address;
      if (!this.trustsPlain(client)) return client;
    }
    return client;
  }

  /** Whether the other end of a connection is a trusted proxy. */
  trusts(remote: string): boolean {
    return this.trustsPlain(plainAddress(remote));
  }

  private trustsPlain(address: string): boolean {
    if (this.ranges === null) return false;
    const family = isIP(address);
    return family !== 0 && this.ranges.check(address, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/**
 * The network that an address is counted with: the first `bits` of an IPv6 address, the whole IPv4 address. A provider gives a customer at
 * least a /64 and often a /48, so a limit per /64 needs a larger one per /48 too; `addressGroups` gives both.
 */
export function addressGroup(address: string, bits: 48 | 64): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%', 1)[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  const first = [...groups, ...after].slice(0, bits / 16).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/${bits}`;
}

/** All networks that an address is counted with, smallest first: an IPv4 address itself; the /64 and the /48 of an IPv6 address. */
export function addressGroups(address: string): readonly [string] | readonly [string, string] {
  return address.includes(':') ? [addressGroup(address, 64), addressGroup(address, 48)] : [address];
}

/** The address without port and brackets; IPv4 inside IPv6 is written as IPv4. */
function plainAddress(text: string): string {
  let address = text.toLowerCase();
  if (address.startsWith('[')) address = address.slice(1).replace(/\](:\d+)?$/, '');
  else if (/^[\d.]+:\d+$/.test(address)) address = address.slice(0, address.indexOf(':'));
  if (!address.includes(':')) return address;
  const dotted = mappedDotted.exec(address);
  if (dotted !== null) return dotted[1]!;
  const hex = mappedHex.exec(address);
  if (hex === null) return address;
  const [high, low] = [Number.parseInt(hex[1]!, 16), Number.parseInt(hex[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The entries of all headers of that name, nearest hop first. */
function hopsOf(headers: readonly string[]): string[] {
  const hops: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i] === 'x-forwarded-for') hops.push(...headers[i + 1]!.split(',').slice(-maxHops));
  return hops
    .slice(-maxHops)
    .map((hop) => hop.trim())
    .reverse();
}
