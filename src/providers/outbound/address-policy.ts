/**
 * Which network addresses may be reached for a user or an agent: public unicast, and those that the operator allows. An address with an
 * embedded IPv4 address (mapped, NAT64, 6to4) is checked by that one, because its packets go there.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

export type AddressPolicy = {
  /** `address` as text, IPv4 or IPv6. Any other text is not permitted. */
  permits(address: string): boolean;
};

/** @param allow CIDR ranges or single addresses that are permitted although they are not public. Throws for an invalid one. */
export function createAddressPolicy(allow: string[]): AddressPolicy {
  const allowed = allow.map(parseRange);
  return {
    permits(text) {
      const literal = text.split('%', 1)[0]!;
      // ipaddr.js also reads 1.2.3 as 1.2.0.3, which other parsers read differently.
      if (!isIP(literal)) return false;
      const address = ipaddr.parse(literal);
      const target = innerAddress(address);
      const listed = (candidate: Address) =>
        allowed.some(([base, bits]) => base.kind() === candidate.kind() && candidate.match(base, bits));
      return listed(target) || listed(address) || isPublic(target);
    },
  };
}

function parseRange(text: string): Range {
  try {
    if (!isIP(text.replace(/\/\d+$/, ''))) throw new Error('no address');
    if (text.includes('/')) return ipaddr.parseCIDR(text) as Range;
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new Error(`"${text}" is no address range such as 10.0.0.0/8 or fd00::/8`);
  }
}

const nat64 = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number];
const sixToFour = ipaddr.parseCIDR('2002::/16') as [ipaddr.IPv6, number];
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** In a public range, but reachable only inside a cloud: Azure's wire server. */
const cloudServices = new Set(['168.63.129.16']);

function innerAddress(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const v6 = address as ipaddr.IPv6;
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address();
  const bytes = v6.toByteArray();
  if (v6.match(nat64)) return new ipaddr.IPv4(bytes.slice(12));
  if (v6.match(sixToFour)) return new ipaddr.IPv4(bytes.slice(2, 6));
  return v6;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !cloudServices.has(address.toString());
  return address.match(globalUnicast as never);
}
