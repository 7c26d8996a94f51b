/** Builds one node, single or in a cluster: its parts in the order of their dependencies, each with its disposer. */

import { Canary, canaryActor } from '../actors/canary/canary.ts';
import { Runtime } from '../actors/runtime.ts';
import type { AdminServer } from '../admin/admin-server.ts';
import { monotonicMs, systemClock } from '../clock.ts';
import { SingleNode } from '../cluster/single-node.ts';
import type { Config } from '../config.ts';
import { createTokens } from '../edge/auth/tokens.ts';
import { RequestStats } from '../edge/http/request-stats.ts';
import { SpareTime } from '../edge/http/spare-time.ts';
import { StreamHub } from '../edge/stream/stream-hub.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { LargeTables } from '../storage/large-tables.ts';
import { Maintenance } from '../storage/maintenance.ts';
import { looseContents } from '../storage/postgres-files.ts';
import { deadOwnersMarkers, expiredIdempotencyKeys, oldCommandRecords, oldEvents, pastOwners } from '../storage/retention.ts';
import { leaveCluster, openCluster } from './cluster.ts';
import type { Disposers } from './disposers.ts';
import { openEdge } from './edge.ts';
import { LeavingTime } from './leaving-time.ts';
import { openLimits } from './limits.ts';
import { openAdminPort, openTracing } from './observation.ts';
import type { Product } from './product.ts';
import { createProviders } from './providers.ts';
import { openStores } from './stores.ts';

const version = '0.1.0';
const commandRecordsKeptMs = 24 * 3_600_000;
/** Disconnected clients reconnect spread over at least this time. */
const minReconnectMs = 2_000;
/** Requests that still run after the drain's grace have this time to be answered. */
const closeGraceMs = 10_000;
/** Running deliveries have this time to be answered; the next owner of the shard repeats the others. */
const deliveryGraceMs = 1_000;

/**
 * Starts a node and resolves with its address when it serves. The started parts are in `disposers`, also when it rejects.
 *
 * @param onDrain called when an operator has asked this node to leave
 * @param onTakenOver called when another node has taken the database lock: this node serves nothing more and must stop
 */
export async function startNode(
  product: Product,
  config: Config,
  log: Log,
  disposers: Disposers,
  onDrain: () => void,
  onTakenOver: (error: AppError) => void,
): Promise<{ address: string }> {
  const clock = systemClock;
  const tracing = await openTracing(config, version, log, disposers);
  const tracer = tracing?.tracer ?? null;
  const stores = await openStores(config, product.schema, log, disposers);
  const { database, files } = stores;
  const startedAtMs = monotonicMs();
  const providers = createProviders(config, log, disposers, tracer);

  const cluster = config.redisUrl === null ? null : await openCluster(config, config.redisUrl, stores, log, disposers, onTakenOver);
  // The lock on DATA_DIR keeps all other processes from the embedded database, so no earlier owner still runs.
  const mayHaveEarlierOwner = config.databaseUrl !== null;
  const placement = cluster?.node ?? new SingleNode(stores.databaseUrl, config.nodeName, log, { mayHaveEarlierOwner, onTakenOver });
  const runtime = new Runtime({ database, placement, log, clock, tracer });
  const { actors } = runtime;
  stores.diskSpace.onChange((isFull) => runtime.effects.pause(isFull));
  const tokens = await createTokens({ ...stores, clock });
  const hub = new StreamHub(database, log);
  const requests = new RequestStats();
  let publicUrl = config.publicUrl ?? '';
  const started = product.start({
    ...stores,
    ...providers,
    config,
    log,
    clock,
    tracer,
    actors,
    placement,
    tokens,
    hub,
    spareTime: new SpareTime(requests),
    publicUrl: () => publicUrl,
  });
  runtime.register([canaryActor, ...started.domains.flatMap((domain) => domain.actors)]);
  const limits = await openLimits(config, stores, cluster, log, disposers);
  const edge = await openEdge({
    config,
    product,
    log,
    tracer,
    stores,
    hub,
    authenticator: started.authenticator,
    limits,
    requests,
    runtime,
    placement,
    cluster,
    onCommitted: (events) => started.domains.forEach((domain) => domain.committed?.(events)),
    onPublicUrl: (url) => (publicUrl = url),
  });
  const { server, stream, relay } = edge;

  cluster?.membership.onDrainRequested(onDrain);
  cluster?.node.serve((ask, _from, gone) => actors.answer(ask, gone));
  // Events that are committed while the runtime stops are still published.
  disposers.push(() => relay?.stop());
  const leavingTime = new LeavingTime();
  disposers.push(() => runtime.stop(leavingTime.forAnswersMs()));
  disposers.push(() => Promise.all(started.domains.map((domain) => domain.stop?.())));
  await runtime.start();
  const canary = new Canary(actors, placement);
  await canary.start();
  disposers.push(() => canary.stop());
  for (const domain of started.domains) domain.begin?.();

  let draining = false;
  const readiness = () => {
    if (placement.state === 'taken over') return 'taken over: another node uses the database of this one';
    if (draining) return 'draining';
    if (placement.state === 'unconfirmed') return 'database lock not held: the connection to the database is broken, trying again';
    if (placement.state === 'unable') return 'unable: this node cannot commit, and others are given its shards';
    if (cluster?.node.state === 'isolated') return 'isolated: other nodes do not reach this one';
    return canary.status() === 'ok' ? 'ready' : canary.status();
  };
  const checks = {
    database: () => database.read({ name: 'health', text: 'select 1' }),
    files: () => files.check(),
    disk: async () => stores.diskSpace.check(),
    sandbox: () => providers.sandbox.check(),
    progress: async () => {
      if (canary.status() !== 'ok') throw new AppError('unavailable', canary.status());
    },
  };
  const address = await edge.listen(
    started.domains.flatMap(({ routes = [] }) => routes),
    { version, node: config.nodeName, startedAtMs, readiness, checks, browser: () => providers.browser.health() },
  );
  let admin: AdminServer | null = null;
  disposers.push(() => admin?.close());
  // The admin port serves meanwhile.
  disposers.push(async (graceMs) => {
    draining = true;
    // Balancers see it in the answers of /health/ready, clients on open connections in `Connection: close`.
    server.drain();
    await new Promise((resolve) => setTimeout(resolve, graceMs));
    leavingTime.begin();
    stream.disconnectAll(Math.max(minReconnectMs, config.drainGraceMs));
    await Promise.all([
      server.close(closeGraceMs),
      Promise.all(started.domains.map((domain) => domain.finish?.(deliveryGraceMs))).then(() => cluster && leaveCluster(cluster, runtime)),
    ]);
  });

  const maintenance = new Maintenance({
    databaseUrl: stores.databaseUrl,
    log,
    jobs: [
      new LargeTables(stores.databaseUrl, log),
      oldEvents(config.retentionDays, clock),
      oldCommandRecords(commandRecordsKeptMs, clock),
      deadOwnersMarkers(clock),
      expiredIdempotencyKeys(edge.idempotencyKeys),
      pastOwners(clock),
      looseContents(clock),
      ...started.domains.flatMap(({ jobs = [] }) => jobs),
    ],
  });
  maintenance.start();
  disposers.push(() => maintenance.stop());

  const { nodeName: node, dataDir } = config;
  const stats = { ...edge.stats, ...providers.stats };
  const traces = tracing?.traces ?? null;
  const parts = {
    version,
    node,
    incarnation: placement.owner,
    dataDir,
    diskSpace: stores.diskSpace,
    readiness,
    canCommit: () => cluster?.node.commits.canCommit ?? placement.state === 'ready',
    ...stats,
    limits,
    runtime,
    placement,
    database,
    databaseClock: stores.databaseClock,
    hub,
    stream,
    compute: providers.compute,
    traces,
  };
  admin = await openAdminPort(config, parts, started.domains, cluster && { ...cluster, relay: relay! }, log);
  return { address };
}
