/** A node's part in a cluster: the streams to the others, the membership, the shards. Puts the three together in the order they need each other. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { shardCount } from './address.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { ClusterNode } from './cluster-node.ts';
import type { Member, Role } from './member.ts';
import { Membership } from './membership.ts';
import { ownProtocols } from './transport/contract.ts';
import type { ClusterTls } from './transport/credentials.ts';
import { createTransport, type Transport } from './transport/transport.ts';

export type ClusterOptions = {
  databaseUrl: string;
  redisUrl: string;
  secretKey: string;
  /** What other nodes may have beside it, while it is changed. */
  acceptedKeys?: readonly string[];
  name: string;
  roles: readonly Role[];
  /** Where this node's gRPC listens; port 0 takes any free one. */
  host: string;
  port: number;
  /** host:port that the others reach it at; null where that is what it listens on. */
  announce: string | null;
  /** For mutual TLS, PEM texts; null: nodes prove by the secret key who they are, and speak in the open. */
  tls: ClusterTls | null;
  log: Log;
  clock: Clock;
  onTakenOver?: (error: AppError) => void;
};

export type Cluster = { readonly transport: Transport; readonly membership: Membership; readonly node: ClusterNode };

/** Builds this node's part; nothing is joined before `node.start()`. Rejects with one line where its address cannot be listened on. */
export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const { databaseUrl, redisUrl, secretKey, acceptedKeys = [], name, roles, clock, onTakenOver } = options;
  const clusterId = await clusterIdentity(databaseUrl);
  const incarnation = `${name}/${randomUUID()}`;
  const log = options.log.child({ incarnation });
  const transport = await createTransport({
    self: { incarnation, name, host: options.host, port: options.port },
    secretKey,
    acceptedKeys,
    tls: options.tls,
    log,
    clock,
  });
  const { port } = await transport.listen();
  const self: Member = { incarnation, name, ...announced(options, port), roles, leaving: false, startedAtMs: clock.nowMs() };
  const digests = { secretKeyDigest: digest(secretKey), acceptedDigests: acceptedKeys.map(digest) };
  const shared = { shardCount, ...digests, protocol: ownProtocols, network: networkOf(self.host) };
  const membership = new Membership({ redisUrl, clusterId, self, shared, log });
  const node = new ClusterNode({ databaseUrl, self, membership, peers: transport.peers, log, ...(onTakenOver && { onTakenOver }) });
  return { transport, membership, node };
}

function announced({ host, announce }: ClusterOptions, port: number): { host: string; port: number } {
  if (announce === null) return { host, port };
  const at = announce.lastIndexOf(':');
  return { host: announce.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(announce.slice(at + 1)) };
}

/** A loopback address means another process on every machine: nodes that announce one must all be on this one. */
function networkOf(host: string): string {
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return isLoopback ? `loopback of ${machine()}` : 'reachable';
}

/** This machine, or this container of it: what shares a loopback. */
function machine(): string {
  try {
    const network = readlinkSync('/proc/self/ns/net');
    return createHash('sha256')
      .update(`${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${network}`)
      .digest('hex')
      .slice(0, 8);
  } catch {
    return hostname();
  }
}

function digest(secretKey: string): string {
  return createHash('sha256').update(`cluster ${secretKey}`).digest('hex');
}
