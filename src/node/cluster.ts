/** A node's membership in a cluster. A single node does not load it. */
import { readFile } from 'node:fs/promises';
import type { Runtime } from '../actors/runtime.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Config, ConfigError } from '../config.ts';
import type { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Disposers } from './disposers.ts';
import type { Stores } from './stores.ts';

/** Time limit of a leaving node's handoff and drain; remaining work continues on another node, or after the next start. */
const leaveGraceMs = 15_000;

/** Listens for the other nodes; it joins when the runtime starts. */
export async function openCluster(
  config: Config,
  redisUrl: string,
  { databaseUrl, secretKey, acceptedKeys }: Stores,
  log: Log,
  disposers: Disposers,
  onTakenOver: (error: AppError) => void,
): Promise<Cluster> {
  const { nodeName: name, roles, clusterHost: host, clusterPort: port, clusterAnnounce: announce } = config;
  const { clusterTlsCa: ca, clusterTlsCert: cert, clusterTlsKey: key } = config;
  const tls = ca && cert && key ? { ca: await readPem(ca), cert: await readPem(cert), key: await readPem(key) } : null;
  const { createCluster } = await import('../cluster/cluster.ts');
  const clock = systemClock;
  const cluster = await createCluster({
    databaseUrl,
    redisUrl,
    secretKey,
    acceptedKeys,
    name,
    roles,
    host,
    port,
    announce,
    tls,
    log,
    clock,
    onTakenOver,
  });
  disposers.push(() => cluster.transport.close(1_000));
  return cluster;
}

/** Hands all shards over while requests are still answered, and finishes requests for actors that have moved meanwhile. */
export async function leaveCluster({ node }: Cluster, runtime: Runtime): Promise<void> {
  const deadlineMs = performance.now() + leaveGraceMs;
  await node.leave(leaveGraceMs);
  await runtime.finishEffects(deadlineMs - performance.now());
}

function readPem(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new ConfigError(`${file} of CLUSTER_TLS_* cannot be read: ${error.message}`);
  });
}
