/** Nodes that speak with each other over real sockets on the loopback, without the rest of the service. */
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { monotonicMs } from '../../src/clock.ts';
import type { Member } from '../../src/cluster/member.ts';
import type { DownReason } from '../../src/cluster/peers.ts';
import type { RemoteAsk } from '../../src/cluster/placement.ts';
import { createClusterTokens } from '../../src/cluster/transport/cluster-token.ts';
import { ownProtocols } from '../../src/cluster/transport/contract.ts';
import { dialCredentials } from '../../src/cluster/transport/credentials.ts';
import { Dial } from '../../src/cluster/transport/dial.ts';
import { createTransport, type Transport, type TransportOptions } from '../../src/cluster/transport/transport.ts';
import type { Wire } from '../../src/cluster/transport/wire.ts';
import { noLog } from '../../src/log.ts';

export const clusterKey = 'a secret key of a cluster, of 32 characters or more';

export type TestNode = {
  transport: Transport;
  member: Member;
  /** Every `onUp` and `onDown`, in order: `up`, or the reason. */
  received: { from: string; what: 'up' | DownReason }[];
  /** Resolves after `times` notifications that match, earlier ones included. */
  waitsFor(what: 'up' | DownReason, from?: Member, times?: number): Promise<void>;
};

/** A node that listens; it is closed when the test ends. It knows nobody yet. */
export async function testNode(t: TestContext, name: string, options: Partial<TransportOptions> = {}): Promise<TestNode> {
  const self = { incarnation: `${name}/${randomUUID()}`, name, host: '127.0.0.1', port: 0, ...options.self };
  const transport = await createTransport({ secretKey: clusterKey, log: noLog, ...options, self });
  t.after(() => transport.close(0));
  const { port } = await transport.listen();
  const member: Member = { ...self, port, roles: ['edge', 'actors'], leaving: false };
  const received: TestNode['received'] = [];
  const waiting = new Set<() => void>();
  const add = (from: string, what: 'up' | DownReason): void => {
    received.push({ from, what });
    for (const check of waiting) check();
  };
  transport.onUp((from) => add(from, 'up'));
  transport.onDown((from, reason) => add(from, reason));
  const waitsFor: TestNode['waitsFor'] = (what, from, times = 1) =>
    new Promise((resolve) => {
      const check = (): void => {
        const count = received.filter((each) => each.what === what && (from === undefined || each.from === from.incarnation)).length;
        if (count < times) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { transport, member, received, waitsFor };
}

/** Nodes that know each other and have streams to each other. */
export async function testCluster(t: TestContext, names: readonly string[], options: Partial<TransportOptions> = {}): Promise<TestNode[]> {
  const nodes = await Promise.all(names.map((name) => testNode(t, name, options)));
  connectAll(nodes);
  await Promise.all(nodes.flatMap((node) => nodes.filter((other) => other !== node).map(({ member }) => node.waitsFor('up', member))));
  return nodes;
}

export function connectAll(nodes: readonly TestNode[]): void {
  for (const { transport } of nodes) transport.setMembers(nodes.map(({ member }) => member));
}

/** A stream to the node by which a peer of that incarnation can say anything; it is cut when the test ends. */
export async function rawWire(t: TestContext, { member }: TestNode, incarnation: string): Promise<Wire> {
  const tokens = await createClusterTokens({ secretKey: clusterKey, clock: { nowMs: () => Date.now() } });
  const own = { incarnation, protocols: ownProtocols, tokens };
  const outcome = await new Dial(member, own, dialCredentials(null), 5_000).outcome;
  if (outcome.kind !== 'connected') throw new Error(`no stream: ${JSON.stringify(outcome)}`);
  t.after(() => outcome.wire.cut('the test is over'));
  return outcome.wire;
}

/** Such a stream by which batches of frames are written; `received` are the frames that arrive, as text. */
export async function rawStream(t: TestContext, node: TestNode, incarnation: string) {
  const wire = await rawWire(t, node, incarnation);
  const received: string[] = [];
  wire.listen(
    ({ batch }) => received.push(...(JSON.parse(batch!.toString()) as unknown[]).map((frame) => JSON.stringify(frame))),
    () => {},
  );
  return { wire, received, write: (...frames: string[]) => wire.write({ batch: Buffer.from(`[${frames.join()}]`) }) };
}

/** An ask with 10 s to go, of which a test changes what it is about. */
export function someAsk(change: Partial<RemoteAsk> = {}): RemoteAsk {
  const ask = { kind: 'counter', id: 'c1', name: 'add', input: null, query: false, deadlineMs: monotonicMs() + 10_000 };
  return { ...ask, repeat: false, commandId: null, effectId: null, trace: null, ...change };
}
