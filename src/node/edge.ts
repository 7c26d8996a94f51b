/** A node's edge: who is calling, what they may do, the routes and the stream, on one server. */
import type { Runtime } from '../actors/runtime.ts';
import { EventStats } from '../admin/event-stats.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Placement } from '../cluster/placement.ts';
import type { Config } from '../config.ts';
import { settingsRoutes } from '../domains/accounts/routes/settings.ts';
import { createEmbeddedPayments } from '../domains/billing/payments/embedded.ts';
import type { PaymentProcessor } from '../domains/billing/payments/port.ts';
import { billingRoutes } from '../domains/billing/routes/billing.ts';
import { checkoutRoutes } from '../domains/billing/routes/checkout.ts';
import { depositRoutes } from '../domains/billing/routes/deposits.ts';
import { invoicePdf } from '../domains/billing/routes/draw-invoice.ts';
import { invoiceRoutes } from '../domains/billing/routes/invoices.ts';
import { paymentNewsRoutes } from '../domains/billing/routes/payment-news.ts';
import type { Issuing } from '../domains/commerce/issuing/open-issuing.ts';
import { cardRoutes } from '../domains/commerce/routes/cards.ts';
import { orderRoutes } from '../domains/commerce/routes/orders.ts';
import { walletRoutes } from '../domains/commerce/routes/wallet.ts';
import { openIdentity } from '../domains/identity/open-identity.ts';
import { user } from '../domains/identity/user/messages.ts';
import { agentRoutes } from '../domains/tasks/routes/agents.ts';
import { deliverableRoutes } from '../domains/tasks/routes/deliverables.ts';
import { taskRoutes } from '../domains/tasks/routes/tasks.ts';
import { webhookRoutes } from '../domains/webhooks/routes/webhooks.ts';
import { createDownloadLinks } from '../domains/workspaces/routes/download-link.ts';
import { workspaceRoutes } from '../domains/workspaces/routes/workspaces.ts';
import type { Tokens } from '../edge/auth/tokens.ts';
import { TrustedProxies } from '../edge/http/client-address.ts';
import { connectionBound } from '../edge/http/connection-bound.ts';
import { withCors } from '../edge/http/cors.ts';
import { docsRoutes } from '../edge/http/docs.ts';
import { RequestStats } from '../edge/http/request-stats.ts';
import { createRouter } from '../edge/http/router.ts';
import { createServer, type HttpHandler, type HttpServer } from '../edge/http/server.ts';
import { createIdempotency } from '../edge/idempotency.ts';
import { greetingRoutes } from '../edge/routes/greeting.ts';
import { type Health, healthRoutes } from '../edge/routes/health.ts';
import { EventRelay } from '../edge/stream/event-relay.ts';
import { Stream } from '../edge/stream/stream.ts';
import { StreamHub } from '../edge/stream/stream-hub.ts';
import type { Log } from '../log.ts';
import type { Compute } from '../providers/compute/port.ts';
import type { Outbound } from '../providers/outbound/port.ts';
import { IdempotencyKeys } from '../storage/idempotency-keys.ts';
import { Secrets } from '../storage/secrets.ts';
import type { Tracer } from '../tracing.ts';
import { apiReference } from './api-reference.ts';
import { eventCatalogue } from './event-catalogue.ts';
import type { LimitsOfNode } from './limits.ts';
import type { Stores } from './stores.ts';
import { webhookSecrets } from './webhooks.ts';

const maxHeaderBytes = 16 * 1024;
const maxMessageBytes = 64 * 1024;
/** Of a message that is too long so much is read, to tell its client why it is sent away. */
const maxReceivedBytes = 4 * 1024 * 1024;
/** Beyond this a stream's reader is too slow (contract §8). */
const maxUnsentBytes = 1024 * 1024;
/** A client is pinged after 24 s of silence, more often than balancers give up, and has 8 s to answer. */
const socketIdleTimeoutS = 32;

export type EdgeOptions = {
  config: Config;
  log: Log;
  tracer: Tracer | null;
  stores: Stores;
  tokens: Tokens;
  /** What webhooks go out by: it says where they may go. */
  deliveries: Outbound;
  compute: Compute;
  /** null: none is configured. */
  processor: PaymentProcessor | null;
  limits: LimitsOfNode;
  issuing: Issuing;
  runtime: Runtime;
  placement: Placement;
  /** null: a node alone. */
  cluster: Cluster | null;
};

export type Edge = {
  server: HttpServer;
  stream: Stream;
  hub: StreamHub;
  /** null: a node alone. */
  relay: EventRelay | null;
  idempotencyKeys: IdempotencyKeys;
  stats: { requests: RequestStats; events: EventStats };
  /** Takes requests from now on; resolves with the address. */
  listen(health: Health): Promise<string>;
};

/** Tells subscribers what the runtime commits from the start; takes requests when told to listen. */
export async function openEdge({
  config,
  log,
  tracer,
  stores,
  tokens,
  deliveries,
  compute,
  processor,
  limits,
  issuing,
  runtime,
  placement,
  cluster,
}: EdgeOptions): Promise<Edge> {
  const { secretKey, acceptedKeys, database, files } = stores;
  const { actors } = runtime;
  const clock = systemClock;
  const stats = { requests: new RequestStats(), events: new EventStats() };
  let publicUrl = config.publicUrl ?? '';
  const identity = openIdentity({ ...stores, actors, tokens, publicUrl: () => publicUrl, clock, log });
  const { authenticator } = identity;
  const idempotencyKeys = new IdempotencyKeys(database, clock, {
    incarnation: placement.owner,
    isAlive: (incarnation) => placement.isAlive(incarnation),
  });
  // Links in answers need the port, which may only be known once the server listens.
  let handler: HttpHandler = () => ({ status: 503, headers: null, body: null });
  const server = await createServer({
    handler: (request) => handler(request),
    log,
    maxHeaderBytes,
    accessLog: config.logLevel === 'debug',
    maxConnections: connectionBound(config.maxConnections),
    proxies: new TrustedProxies(config.trustedProxies),
  });

  const hub = new StreamHub(database, log);
  const relay = cluster === null ? null : new EventRelay({ peers: cluster.transport, hub, database, log });
  cluster?.membership.onView(({ members }) => relay!.setMembers(members.filter(({ incarnation }) => incarnation !== placement.owner)));
  runtime.onEvents((events, seqs) => {
    stats.events.committed(events, clock.nowMs());
    (relay ?? hub).publish(events, seqs);
  });
  placement.onLostCommits(() => hub.startOver());
  const stream = new Stream({
    hub,
    eventCatalogue,
    database,
    authenticate: (token) => authenticator.authenticate(`Bearer ${token}`),
    admitRefusedToken: (clientAddress) => limits.requests.admitRefusedToken(clientAddress),
    standing: (principal) => authenticator.standing(principal),
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

  async function listen(health: Health): Promise<string> {
    const { port } = await server.listen(config.host, config.port);
    const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    publicUrl = config.publicUrl ?? address;
    const links = createDownloadLinks(tokens, publicUrl);
    const pages = createEmbeddedPayments(secretKey, acceptedKeys);
    // In the order of the API reference.
    const routes = [
      ...taskRoutes({ actors, database, eventCatalogue }),
      ...deliverableRoutes({ database, files, links }),
      ...agentRoutes({ actors }),
      ...workspaceRoutes({ actors, database, files, links }),
      ...identity.routes,
      ...settingsRoutes({ actors }),
      ...webhookRoutes({
        actors,
        database,
        eventCatalogue,
        secrets: webhookSecrets(secretKey, acceptedKeys),
        checkUrl: (url) => deliveries.check(url),
        clock,
      }),
      ...billingRoutes({ actors, database, clock }),
      ...invoiceRoutes({
        database,
        links,
        pdf: (invoice, customer) => invoicePdf(compute, invoice, customer),
        customerOf: async ({ userId }) => (await actors.query(user, userId, 'profile', null))?.email ?? '',
      }),
      ...checkoutRoutes({ actors, pages, publicUrl, clock }),
      ...(processor === null ? [] : paymentNewsRoutes({ actors, read: (...signed) => processor.news(...signed), log })),
      ...cardRoutes({ actors, database, clock, issue: issuing.issue }),
      ...issuing.routes,
      ...walletRoutes({ actors, database, clock }),
      ...depositRoutes({ actors, database, pages, publicUrl, takesPayments: processor !== null, clock }),
      ...orderRoutes({ actors, database, clock }),
      ...healthRoutes(health),
      ...greetingRoutes({ version: health.version, publicUrl }),
    ];
    const router = createRouter({
      routes: [...routes, ...docsRoutes(routes, { publicUrl, ...apiReference })],
      authenticate: (request) => authenticator.ofRequest(request),
      limits: limits.requests,
      isOverloaded: () => !actors.pending.hasRoom,
      isStorageFull: () => stores.room.isFull,
      around: createIdempotency({ keys: idempotencyKeys, secrets: new Secrets(secretKey, acceptedKeys), log }),
      log,
      stats: stats.requests,
      tracer,
    });
    handler = withCors(router, config.corsOrigins);
    return address;
  }

  return { server, stream, hub, relay, idempotencyKeys, stats, listen };
}
