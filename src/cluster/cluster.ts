/** A node's part in a cluster: the streams to other nodes, the membership, the shards. Connects the three in the order of their dependencies. */
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
  /** Other keys that other nodes may have while the key is being changed. */
  acceptedKeys?: readonly string[];
  name: string;
  roles: readonly Role[];
  /** The address of this node's gRPC server; port 0 takes any free port. */
  host: string;
  port: number;
  /** host:port at which other nodes reach it; null: the listening address. */
  announce: string | null;
  /** For mutual TLS, PEM texts; null: nodes authenticate by the secret key, without encryption. */
  tls: ClusterTls | null;
  log: Log;
  clock: Clock;
  onTakenOver?: (error: AppError) => void;
};

export type Cluster = { readonly transport: Transport; readonly membership: Membership; readonly node: ClusterNode };

/** Builds this node's part; it joins only with `node.start()`. Rejects with one line if its address cannot be listened on. */
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

/** On each machine a loopback address means another process: nodes that announce loopback addresses must all be on one machine. */
function networkOf(host: string): string {
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return isLoopback ? `loopback of ${machine()}` : 'reachable';
}

/** Identifies this machine or container: processes with the same value share a loopback. */
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
