/** Builds one node: its parts in the order in which they need each other, each with how it stops. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accountActor } from './actors/account/account.ts';
import { agentActor } from './actors/agent/agent.ts';
import { agentEffects } from './actors/agent/effects.ts';
import { apiKeyActor } from './actors/api-key/api-key.ts';
import { Canary, canaryActor } from './actors/canary/canary.ts';
import { emailAddressActor } from './actors/email-address/email-address.ts';
import { Runtime } from './actors/runtime/runtime.ts';
import { sessionActor } from './actors/session/session.ts';
import { taskEffects } from './actors/task/effects.ts';
import { taskActor } from './actors/task/task.ts';
import { userActor } from './actors/user/user.ts';
import { workspaceActor } from './actors/workspace/workspace.ts';
import { workspaceAccess } from './actors/workspace-file/workspace-access.ts';
import { workspaceFileActor } from './actors/workspace-file/workspace-file.ts';
import { workspaceNameActor } from './actors/workspace-name/workspace-name.ts';
import { startAdminServer } from './admin/admin-server.ts';
import { addClusterMetrics } from './admin/cluster-metrics.ts';
import { EventStats } from './admin/event-stats.ts';
import { addNodeMetrics } from './admin/node-metrics.ts';
import { systemClock } from './clock.ts';
import type { Cluster } from './cluster/cluster.ts';
import { SingleNode } from './cluster/single-node.ts';
import { type Config, ConfigError, collectorHeaders } from './config.ts';
import { apiDescription } from './edge/api-description.ts';
import { createApiKeySecrets } from './edge/auth/api-key-secret.ts';
import { createAuthenticator } from './edge/auth/authenticate.ts';
import { createPasswords } from './edge/auth/passwords.ts';
import { createRefreshTokens } from './edge/auth/refresh-token.ts';
import { createTokens } from './edge/auth/tokens.ts';
import { docsRoutes } from './edge/http/docs.ts';
import { RequestStats } from './edge/http/request-stats.ts';
import { createRouter } from './edge/http/router.ts';
import { createServer, type HttpHandler } from './edge/http/server.ts';
import { createIdempotency } from './edge/idempotency.ts';
import { unlimited } from './edge/limits.ts';
import { agentRoutes } from './edge/routes/agents.ts';
import { apiKeyRoutes } from './edge/routes/api-keys.ts';
import { authRoutes } from './edge/routes/auth.ts';
import { deliverableRoutes } from './edge/routes/deliverables.ts';
import { createDownloadLinks } from './edge/routes/download-link.ts';
import { healthRoutes } from './edge/routes/health.ts';
import { taskRoutes } from './edge/routes/tasks.ts';
import { workspaceRoutes } from './edge/routes/workspaces.ts';
import { EventRelay } from './edge/stream/event-relay.ts';
import { Stream } from './edge/stream/stream.ts';
import { StreamHub } from './edge/stream/stream-hub.ts';
import { AppError } from './errors.ts';
import type { Log } from './log.ts';
import type { OtlpTraces } from './otlp-traces.ts';
import { createEmbeddedMail } from './providers/mail/embedded.ts';
import { createSmtpMail } from './providers/mail/smtp.ts';
import { createModel } from './providers/model/create-model.ts';
import { offlineModel } from './providers/model/embedded.ts';
import { ModelStats, observedModel } from './providers/model/observed.ts';
import { createOutbound } from './providers/outbound/outbound.ts';
import { createCatalogue } from './providers/tools/catalogue.ts';
import { observedToolbox, ToolStats } from './providers/tools/observed.ts';
import { profileTableTool } from './providers/tools/profile-table.ts';
import { createSandboxPool } from './providers/tools/sandbox/pool.ts';
import { AccountOverrides } from './storage/account-overrides.ts';
import { adoptLocalFiles } from './storage/adopt-local-files.ts';
import { lockDataDir } from './storage/data-dir-lock.ts';
import { Database, poolsInCluster } from './storage/database.ts';
import { startEmbeddedPostgres } from './storage/embedded-postgres.ts';
import type { FileStore } from './storage/files.ts';
import { IdempotencyKeys } from './storage/idempotency-keys.ts';
import { openLocalFiles } from './storage/local-files.ts';
import { Maintenance } from './storage/maintenance.ts';
import { OrphanContent } from './storage/orphan-content.ts';
import { holdsContents, looseContents, openPostgresFiles } from './storage/postgres-files.ts';
import { deadOwnersMarkers, expiredIdempotencyKeys, oldCommandRecords, oldEvents } from './storage/retention.ts';
import { openS3Files, parseS3Url } from './storage/s3-files.ts';
import { resolveSecretKey } from './storage/secret-key.ts';
import { Secrets } from './storage/secrets.ts';
import type { Tracer } from './tracing.ts';

const version = '0.1.0';
const maxHeaderBytes = 16 * 1024;
const maxMessageBytes = 64 * 1024;
/** Beyond this a stream's reader is too slow (contract §8). */
const maxUnsentBytes = 1024 * 1024;
const socketIdleTimeoutS = 120;
const commandRecordsKeptMs = 24 * 3_600_000;
/** Clients that are sent away come back spread over at least so long. */
const fewestReconnectMs = 2_000;
/** What is still asked after the drain's grace has this long to be answered. */
const closeGraceMs = 10_000;
/** A leaving node hands over and ends what it has begun for at most this long; what then still runs goes on elsewhere, or after the next start. */
const leaveGraceMs = 15_000;

/** What has been started, in order; stopping goes backwards. `graceMs`: how long a leaving node still accepts, so that balancers notice. */
export type Stops = ((graceMs: number) => Promise<unknown> | unknown)[];

/**
 * Starts a node and resolves with its address when it serves. What it has started is in `stops`, also when it rejects.
 *
 * @param onDrain called when an operator has asked this node to leave
 */
export async function startNode(config: Config, log: Log, stops: Stops, onDrain: () => void): Promise<{ address: string }> {
  const startedAtMs = Date.now();
  const clock = systemClock;
  if (config.redisUrl === null) {
    // Nodes of a cluster keep nothing of their own there, so they may share it.
    const lock = await lockDataDir(config.dataDir);
    stops.push(() => lock.release());
  }
  const tracing = config.otlpUrl === null ? null : await openTracing(config, config.otlpUrl, log, stops);
  const tracer = tracing?.tracer ?? null;
  const secretKey = await resolveSecretKey(config);
  const databaseUrl = config.databaseUrl ?? (await startPostgres(config, log, stops));

  const database = new Database(databaseUrl, config.redisUrl === null ? {} : poolsInCluster);
  stops.push(() => database.close());
  await database.migrate();
  const files = await openFiles(config, database, log);
  const overrides = new AccountOverrides(database, log);
  overrides.start();
  stops.push(() => overrides.stop());

  const outbound = createOutbound({ allow: [...config.outboundAllow] });
  stops.push(() => outbound.close());
  const mailSource = { from: config.mailFrom, clock };
  const mail =
    config.smtpUrl === null
      ? createEmbeddedMail({ directory: join(config.dataDir, 'mail'), ...mailSource })
      : createSmtpMail({ url: config.smtpUrl, ...mailSource });
  const sandbox = createSandboxPool({ directory: join(config.dataDir, 'sandbox') });
  stops.push(() => sandbox.close());
  const catalogue = createCatalogue({ outbound, searchUrl: config.searchUrl, mail, sandbox, profileTable: profileTableTool });
  const stats = { requests: new RequestStats(), events: new EventStats(), model: new ModelStats(), tools: new ToolStats() };
  const toolbox = observedToolbox(catalogue, stats.tools, tracer);
  const model = observedModel(createModel(config, { log, offline: offlineModel }), stats.model, tracer);

  const cluster = config.redisUrl === null ? null : await joinLater(config, config.redisUrl, databaseUrl, secretKey, log, stops);
  const placement = cluster?.node ?? new SingleNode(databaseUrl, config.nodeName, log);
  const runtime = new Runtime({ database, placement, log, clock, tracer });
  const { actors } = runtime;
  const workspace = (agent: { accountId: string; taskId: string; id: string; workspaceId: string }, callId: string) =>
    workspaceAccess({ actors, database, files }, { ...agent, agentId: agent.id, callId });
  runtime.register([
    canaryActor,
    accountActor,
    userActor,
    emailAddressActor,
    sessionActor,
    apiKeyActor,
    workspaceActor,
    workspaceNameActor,
    workspaceFileActor({ database, files }),
    taskActor(taskEffects({ model, database, actors })),
    agentActor(toolbox, agentEffects({ model, toolbox, workspace, database, actors, log })),
  ]);

  const tokens = await createTokens({ secretKey, clock });
  const authenticator = createAuthenticator({ actors, database, tokens, clock, log });
  const canary = new Canary(actors, placement, clock);
  let draining = false;
  const health = {
    version,
    node: config.nodeName,
    startedAtMs,
    readiness: () => (draining ? 'draining' : canary.status() === 'ok' ? 'ready' : canary.status()),
    clock,
    checks: {
      database: () => database.read({ name: 'health', text: 'select 1' }),
      files: () => files.check(),
      progress: async () => {
        if (canary.status() !== 'ok') throw new AppError('unavailable', canary.status());
      },
    },
  };
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
  });
  const hub = new StreamHub(database, log);
  const relay = cluster === null ? null : new EventRelay({ peers: cluster.transport, hub, database, log });
  cluster?.membership.onView(({ members }) => relay!.setMembers(members.filter(({ incarnation }) => incarnation !== placement.owner)));
  runtime.onEvents((events, seqs) => {
    stats.events.committed(events, clock.nowMs());
    (relay ?? hub).publish(events, seqs);
  });
  const stream = new Stream({
    hub,
    database,
    authenticate: (token) => authenticator.authenticate(`Bearer ${token}`),
    standing: (principal) => authenticator.standing(principal),
    retentionDays: config.retentionDays,
    log,
  });
  for (const path of ['/ws', '/v1/ws']) {
    server.webSocket(path, stream, { maxMessageBytes, maxBufferedBytes: maxUnsentBytes, idleTimeoutS: socketIdleTimeoutS });
  }

  cluster?.membership.onDrainRequested(onDrain);
  cluster?.node.serve((ask, _from, gone) => actors.answer(ask, gone));
  // What is committed while the runtime stops is still told.
  stops.push(() => relay?.stop());
  stops.push(() => runtime.stop());
  await runtime.start();
  await canary.start();
  stops.push(() => canary.stop());
  const { port } = await server.listen(config.host, config.port);
  const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  const publicUrl = config.publicUrl ?? address;
  const links = createDownloadLinks(tokens, publicUrl);
  // In the order of the API reference.
  const routes = [
    ...taskRoutes({ actors, database }),
    ...deliverableRoutes({ database, files, links }),
    ...agentRoutes({ actors }),
    ...workspaceRoutes({ actors, database, files, links }),
    ...authRoutes({ actors, tokens, refreshTokens: createRefreshTokens(secretKey), passwords: createPasswords(), overrides, clock }),
    ...apiKeyRoutes({ actors, database, secrets: createApiKeySecrets(secretKey), clock }),
    ...healthRoutes(health),
  ];
  handler = createRouter({
    routes: [...routes, ...docsRoutes(routes, { publicUrl, description: apiDescription })],
    authenticate: (request) => authenticator.ofRequest(request),
    limits: unlimited,
    isOverloaded: () => !actors.pending.hasRoom,
    around: createIdempotency({ keys: idempotencyKeys, secrets: new Secrets(secretKey), log }),
    log,
    stats: stats.requests,
    tracer,
  });
  stops.push(async (graceMs) => {
    draining = true;
    // Balancers see it in the answers of /health/ready, clients on open connections in `Connection: close`: each of them leaves by itself.
    server.drain();
    await new Promise((resolve) => setTimeout(resolve, graceMs));
    stream.goAway(Math.max(fewestReconnectMs, config.drainGraceMs));
    await Promise.all([server.close(closeGraceMs), cluster && leave(cluster, runtime)]);
  });

  const maintenance = new Maintenance({
    databaseUrl,
    log,
    chores: [
      oldEvents(config.retentionDays, clock),
      oldCommandRecords(commandRecordsKeptMs, clock),
      deadOwnersMarkers(clock),
      expiredIdempotencyKeys(idempotencyKeys),
      looseContents(clock),
      new OrphanContent({ database, files, clock }),
    ],
  });
  maintenance.start();
  stops.push(() => maintenance.stop());

  if (config.adminPort !== 0) {
    // Loaded only where somebody may ask.
    const { Metrics } = await import('./metrics.ts');
    const metrics = new Metrics(log);
    metrics.addProcess();
    const { version, node, readiness } = health;
    const traces = tracing?.traces ?? null;
    const parts = {
      version,
      node,
      incarnation: placement.owner,
      dataDir: config.dataDir,
      readiness,
      ...stats,
      runtime,
      placement,
      database,
      hub,
      stream,
      traces,
    };
    addNodeMetrics(metrics, parts);
    if (cluster !== null) addClusterMetrics(metrics, { ...cluster, relay: relay! });
    const status = () => ({
      version,
      node,
      incarnation: placement.owner,
      ready: readiness(),
      ...runtime.health,
      cluster: cluster?.node.status() ?? null,
    });
    const { adminHost: host, adminPort: port, adminPortGiven: portGiven } = config;
    const admin = await startAdminServer({ host, port, portGiven, metrics, status, readiness, log });
    stops.push(() => admin?.close());
  }
  return { address };
}

/** Loaded only where traces are wanted. */
async function openTracing(config: Config, url: string, log: Log, stops: Stops): Promise<{ tracer: Tracer; traces: OtlpTraces }> {
  const [{ OtlpTraces }, { createTracer }] = await Promise.all([import('./otlp-traces.ts'), import('./tracing.ts')]);
  const resource = { 'service.name': 'troupe', 'service.version': version, 'service.instance.id': config.nodeName };
  const headers = collectorHeaders(config);
  const traces = new OtlpTraces({ url, headers, resource, onDropping: (why) => log.warn({ why }, 'spans are dropped') });
  const tracer = createTracer({ sink: traces, sampleRatio: Number(config.traceRatio) });
  stops.push(() => tracer.stop());
  return { tracer, traces };
}

/** Listens for the other nodes; it joins when the runtime starts. */
async function joinLater(
  config: Config,
  redisUrl: string,
  databaseUrl: string,
  secretKey: string,
  log: Log,
  stops: Stops,
): Promise<Cluster> {
  const { nodeName: name, roles, clusterHost: host, clusterPort: port, clusterAnnounce: announce } = config;
  const { clusterTlsCa: ca, clusterTlsCert: cert, clusterTlsKey: key } = config;
  const tls = ca && cert && key ? { ca: await readPem(ca), cert: await readPem(cert), key: await readPem(key) } : null;
  // A node alone does without gRPC and Redis.
  const { createCluster } = await import('./cluster/cluster.ts');
  const clock = systemClock;
  const cluster = await createCluster({ databaseUrl, redisUrl, secretKey, name, roles, host, port, announce, tls, log, clock });
  stops.push(() => cluster.transport.close(1_000));
  return cluster;
}

function readPem(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new ConfigError(`${file} of CLUSTER_TLS_* cannot be read: ${error.message}`);
  });
}

/** Hands everything over while what is asked here is still answered, and ends what was begun here for actors that live elsewhere by then. */
async function leave({ node }: Cluster, runtime: Runtime): Promise<void> {
  const deadlineMs = performance.now() + leaveGraceMs;
  await node.leave(leaveGraceMs);
  await runtime.finishEffects(deadlineMs - performance.now());
}

/** What every node of a cluster must see is kept where all of them look, and stays there when one node is left. */
async function openFiles(config: Config, database: Database, log: Log): Promise<FileStore> {
  if (config.s3Url !== null) return openS3Files(parseS3Url(config.s3Url));
  const directory = join(config.dataDir, 'files');
  if (config.redisUrl === null && !(await holdsContents(database))) return openLocalFiles(directory);
  const files = openPostgresFiles(database);
  await adoptLocalFiles(directory, files, log);
  return files;
}

async function startPostgres(config: Config, log: Log, stops: Stops): Promise<string> {
  const starting = startEmbeddedPostgres({ dataDir: config.dataDir, log, onLost: endAtOnce });
  // Known to the stop before it runs: Ctrl-C may come in the middle of a start.
  stops.push(() =>
    starting.then(
      (postgres) => postgres.stop(),
      () => {},
    ),
  );
  return (await starting).url;
}

/** As after a crash, which a start survives without a hand: an orderly stop would wait for commits that can no longer come. */
function endAtOnce(): never {
  process.stderr.write('The embedded PostgreSQL has ended, so this service ends too: start it again, nothing that was answered is lost\n');
  process.exit(1);
}
