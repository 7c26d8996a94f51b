/** A node's edge: authentication, limits, routes and the stream, on one server. */
import type { Runtime } from '../actors/runtime.ts';
import { EventStats } from '../admin/event-stats.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Placement } from '../cluster/placement.ts';
import type { Config } from '../config.ts';
import type { Authenticator } from '../edge/auth/authenticator.ts';
import { TrustedProxies } from '../edge/http/client-address.ts';
import { connectionBound } from '../edge/http/connection-bound.ts';
import { withCors } from '../edge/http/cors.ts';
import { docsRoutes } from '../edge/http/docs.ts';
import type { RequestStats } from '../edge/http/request-stats.ts';
import type { AnyRoute } from '../edge/http/route.ts';
import { createRouter } from '../edge/http/router.ts';
import { createServer, type HttpHandler, type HttpServer } from '../edge/http/server.ts';
import { createIdempotency } from '../edge/idempotency.ts';
import { greetingRoutes } from '../edge/routes/greeting.ts';
import { type Health, healthRoutes } from '../edge/routes/health.ts';
import { EventRelay } from '../edge/stream/event-relay.ts';
import { Stream } from '../edge/stream/stream.ts';
import type { StreamHub } from '../edge/stream/stream-hub.ts';
import type { Log } from '../log.ts';
import type { EventDraft } from '../storage/commit-unit.ts';
import { IdempotencyKeys } from '../storage/idempotency-keys.ts';
import { Secrets } from '../storage/secrets.ts';
import type { Tracer } from '../tracing.ts';
import type { LimitsOfNode } from './limits.ts';
import type { Product } from './product.ts';
import type { Stores } from './stores.ts';

const maxHeaderBytes = 16 * 1024;
const maxMessageBytes = 64 * 1024;
/** A message that is too long is read up to this length, so that its client gets the reason for the close. */
const maxReceivedBytes = 4 * 1024 * 1024;
/** A stream's reader with more unsent bytes is too slow (contract §8). */
const maxUnsentBytes = 1024 * 1024;
/** A client is pinged after 24 s of silence, before balancers close the connection, and has 8 s to answer. */
const socketIdleTimeoutS = 32;

export type EdgeOptions = {
  config: Config;
  product: Pick<Product, 'eventCatalogue' | 'apiReference'>;
  log: Log;
  tracer: Tracer | null;
  stores: Stores;
  hub: StreamHub;
  authenticator: Authenticator;
  limits: LimitsOfNode;
  /** Where requests are counted. */
  requests: RequestStats;
  runtime: Runtime;
  placement: Placement;
  /** null: a single node. */
  cluster: Cluster | null;
  /** Called with events once they are committed. */
  onCommitted(events: readonly EventDraft[]): void;
  /** Called with the service's address, once it listens. */
  onPublicUrl(url: string): void;
};

export type Edge = {
  server: HttpServer;
  stream: Stream;
  /** null: a single node. */
  relay: EventRelay | null;
  idempotencyKeys: IdempotencyKeys;
  stats: { requests: RequestStats; events: EventStats };
  /** Accepts requests for these routes and the service's own from now on; resolves with the address. */
  listen(domainRoutes: readonly AnyRoute[], health: Health): Promise<string>;
};

/** Publishes committed events from the start; accepts requests once `listen` is called. */
export async function openEdge({
  config,
  product,
  log,
  tracer,
  stores,
  hub,
  authenticator,
  limits,
  requests,
  runtime,
  placement,
  cluster,
  onCommitted,
  onPublicUrl,
}: EdgeOptions): Promise<Edge> {
  const { secretKey, acceptedKeys, database } = stores;
  const { actors } = runtime;
  const clock = systemClock;
  const stats = { requests, events: new EventStats() };
  const idempotencyKeys = new IdempotencyKeys(database, clock, {
    incarnation: placement.owner,
    isAlive: (incarnation) => placement.isAlive(incarnation),
  });
  // Links in answers need the port, which is known only when the server listens.
  let handler: HttpHandler = () => ({ status: 503, headers: null, body: null });
  const server = await createServer({
    handler: (request) => handler(request),
    log,
    maxHeaderBytes,
    accessLog: config.logLevel === 'debug',
    maxConnections: connectionBound(config.maxConnections),
    proxies: new TrustedProxies(config.trustedProxies),
  });

  const relay = cluster === null ? null : new EventRelay({ peers: cluster.transport, hub, database, log });
  cluster?.membership.onView(({ members }) => relay!.setMembers(members.filter(({ incarnation }) => incarnation !== placement.owner)));
  runtime.onEvents((events, seqs) => {
    stats.events.committed(events, clock.nowMs());
    onCommitted(events);
    (relay ?? hub).publish(events, seqs);
  });
  placement.onLostCommits(() => hub.endAll());
  const stream = new Stream({
    hub,
    eventCatalogue: product.eventCatalogue,
    database,
    authenticate: (token) => authenticator.authenticate(`Bearer ${token}`),
    admitRefusedToken: (clientAddress) => limits.requests.admitRefusedToken(clientAddress),
    isStillValid: (principal) => authenticator.isStillValid(principal),
    connections: limits.connections,
    retentionDays: config.retentionDays,
    log,
  });
  for (const path of ['/ws', '/v1/ws']) {
    server.webSocket(path, stream, {
      maxMessageBytes,
      maxReceivedBytes,
      maxBufferedBytes: maxUnsentBytes,
      idleTimeoutS: socketIdleTimeoutS,
      compression: config.streamCompression === 'on',
    });
  }

  async function listen(domainRoutes: readonly AnyRoute[], health: Health): Promise<string> {
    const { port } = await server.listen(config.host, config.port);
    const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    const publicUrl = config.publicUrl ?? address;
    onPublicUrl(publicUrl);
    const routes = [...domainRoutes, ...healthRoutes(health), ...greetingRoutes({ version: health.version, publicUrl })];
    const router = createRouter({
      routes: [...routes, ...docsRoutes(routes, { publicUrl, ...product.apiReference })],
      authenticate: (request) => authenticator.ofRequest(request),
      limits: limits.requests,
      isOverloaded: () => !actors.pending.hasCapacity,
      isStorageFull: () => stores.diskSpace.isFull,
      around: createIdempotency({
        keys: idempotencyKeys,
        secrets: new Secrets(secretKey, acceptedKeys),
        log,
        repeating: (commandIds) => actors.repeated.begin(commandIds),
      }),
      log,
      stats: stats.requests,
      tracer,
    });
    handler = withCors(router, config.corsOrigins);
    return address;
  }

  return { server, stream, relay, idempotencyKeys, stats, listen };
}
