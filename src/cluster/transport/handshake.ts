/**
 * Mutual authentication of two nodes: identity, the same secret key and a common protocol version, before anything is served.
 *
 * H1 Each side signs a nonce that the other has just made; the dialer first, so that an unknown peer gets nothing signed.
 * H2 Both tokens name both incarnations, the side and the protocol: none can be replayed, reflected or forwarded to a third node.
 * H3 Only handshake parcels are read before the other side's token is verified.
 */
import { randomBytes } from 'node:crypto';
import type { DownReason } from '../peers.ts';
import type { ClusterTokens } from './cluster-token.ts';
import type { Parcel, Protocols, RefusalReason } from './contract.ts';
import type { Wire } from './wire.ts';

export type NodeIdentity = { incarnation: string; protocols: Protocols; tokens: ClusterTokens };

/** `duplicate`: the other side has a stream with this node, or opens one; this one is not needed. */
export type Dialed = { kind: 'welcome'; protocol: number } | { kind: 'duplicate' } | { kind: 'failed'; reason: DownReason; detail: string };

/** `yes`, or why an authenticated peer's stream is not accepted now. */
export type Admission = 'yes' | 'DUPLICATE' | 'CLOSING';

const nonceBytes = 32;
const maxIncarnationChars = 200;

/**
 * The dialer's part.
 *
 * @param challenged called when the other side has answered: the dial is now likely to succeed
 */
export async function dialHandshake(wire: Wire, own: NodeIdentity, to: string, challenged: () => void): Promise<Dialed> {
  const nonce = randomBytes(nonceBytes);
  const { lowest, highest } = own.protocols;
  wire.write({ hello: { lowestProtocol: lowest, highestProtocol: highest, from: own.incarnation, to, nonce } });
  const answer = await wire.next();
  if (!answer?.challenge) return refusalOrError(answer, wire);
  const { protocol, nonce: theirs } = answer.challenge;
  if (protocol < lowest || protocol > highest || theirs.length !== nonceBytes)
    return rejected('it answers with a protocol that this node does not support');
  challenged();
  const token = await own.tokens.sign({ from: own.incarnation, to, side: 'dialer', protocol, nonce: theirs });
  wire.write({ proof: { token } });
  const welcome = await wire.next();
  if (!welcome?.welcome) return refusalOrError(welcome, wire);
  const expected = { from: to, to: own.incarnation, side: 'acceptor', protocol, nonce } as const;
  if (!(await own.tokens.proves(welcome.welcome.token, expected))) return rejected(notAuthentic);
  return { kind: 'welcome', protocol };
}

/**
 * The acceptor's part. Resolves with null when the other side was accepted; otherwise it was refused, and the stream is ended.
 *
 * @param admit called when the other side is authenticated
 * @param accepted called synchronously when the other side has been accepted
 */
export async function acceptHandshake(
  wire: Wire,
  own: NodeIdentity,
  admit: (from: string) => Admission,
  accepted: (from: string, protocol: number) => void,
): Promise<Refused | null> {
  const hello = (await wire.next())?.hello;
  if (!hello || hello.nonce.length !== nonceBytes || hello.from === '' || hello.from.length > maxIncarnationChars) {
    wire.cut('no handshake');
    return { reason: null, detail: 'it began with something else than a handshake', from: '?' };
  }
  const { from } = hello;
  const refuse = (reason: RefusalReason, detail: string): Refused => {
    wire.write({ refusal: { reason, message: detail } });
    wire.end();
    return { reason, detail, from };
  };
  const protocol = commonProtocol(own.protocols, { lowest: hello.lowestProtocol, highest: hello.highestProtocol });
  if (protocol === null) {
    const theirs = versionRange(hello.lowestProtocol, hello.highestProtocol);
    const ours = versionRange(own.protocols.lowest, own.protocols.highest);
    return refuse('PROTOCOL', `no common protocol: ${from} speaks ${theirs}, ${own.incarnation} speaks ${ours}`);
  }
  if (hello.to !== own.incarnation) return refuse('OTHER_INCARNATION', `${own.incarnation} answers here, not ${hello.to}`);
  const nonce = randomBytes(nonceBytes);
  wire.write({ challenge: { protocol, nonce } });
  const token = (await wire.next())?.proof?.token ?? '';
  const expected = { from, to: own.incarnation, side: 'dialer', protocol, nonce } as const;
  const authentic = await own.tokens.proves(token, expected);
  if (wire.ended !== null) return { reason: null, detail: wire.ended, from };
  if (!authentic) return refuse('NOT_AUTHENTIC', notAuthentic);
  const ownToken = await own.tokens.sign({ from: own.incarnation, to: from, side: 'acceptor', protocol, nonce: hello.nonce });
  if (wire.ended !== null) return { reason: null, detail: wire.ended, from };
  // No await from here on: an admitted peer gets its `welcome`, and its stream is open.
  const admission = admit(from);
  if (admission !== 'yes')
    return refuse(admission, admission === 'DUPLICATE' ? 'a stream is open or is being opened' : 'the node is closing');
  wire.write({ welcome: { token: ownToken } });
  accepted(from, protocol);
  return null;
}

/** `reason` null: the other side disconnected, or did not start a handshake. */
export type Refused = { reason: RefusalReason | null; detail: string; from: string };

const notAuthentic = 'the cluster token is not good: another SECRET_KEY, or clocks that differ by more than a minute';

export function commonProtocol(ours: Protocols, theirs: Protocols): number | null {
  const highest = Math.min(ours.highest, theirs.highest);
  return highest >= Math.max(ours.lowest, theirs.lowest) ? highest : null;
}

function refusalOrError(parcel: Parcel | null, wire: Wire): Dialed {
  if (parcel === null) return { kind: 'failed', reason: 'broken', detail: wire.ended! };
  if (!parcel.refusal) return rejected('it answers with something else than a handshake');
  const { reason, message } = parcel.refusal;
  if (reason === 'DUPLICATE') return { kind: 'duplicate' };
  if (reason === 'OTHER_INCARNATION') return { kind: 'failed', reason: 'other', detail: message };
  return rejected(message);
}

function rejected(detail: string): Dialed {
  return { kind: 'failed', reason: 'rejected', detail };
}

function versionRange(lowest: number, highest: number): string {
  return lowest === highest ? `${lowest}` : `${lowest} to ${highest}`;
}
