/** Registers the metrics of one node: the source and name of each. All values are read at the scrape. */
import { statfs } from 'node:fs/promises';
import type { Runtime } from '../actors/runtime.ts';
import { monotonicMs } from '../clock.ts';
import type { Placement } from '../cluster/placement.ts';
import type { RequestStats } from '../edge/http/request-stats.ts';
import type { Stream } from '../edge/stream/stream.ts';
import type { StreamHub } from '../edge/stream/stream-hub.ts';
import type { Metrics } from '../metrics.ts';
import type { OtlpTraces } from '../otlp-traces.ts';
import type { BrowserStats } from '../providers/browser/stats.ts';
import type { ComputePool } from '../providers/compute/pool.ts';
import type { ModelStats } from '../providers/model/observed.ts';
import type { SandboxPool } from '../providers/sandbox/port.ts';
import type { Database } from '../storage/database.ts';
import type { DiskSpace } from '../storage/disk-space.ts';
import type { EventStats } from './event-stats.ts';
import { type Lag, WorkLag } from './work-lag.ts';

export type NodeParts = {
  version: string;
  node: string;
  incarnation: string;
  dataDir: string;
  diskSpace: Pick<DiskSpace, 'isFull'>;
  /** The correction of this machine's clock to the database's. */
  databaseClock: { readonly offsetMs: number };
  /** `ready`, or the reason why not. */
  readiness(): string;
  /** Whether the database answers this node and accepts its writes. */
  canCommit(): boolean;
  requests: RequestStats;
  limits: { requests: { readonly refused: Readonly<Record<string, number>> }; redisCommands: (() => number) | null };
  runtime: Runtime;
  placement: Placement;
  database: Database;
  hub: StreamHub;
  stream: Stream;
  events: EventStats;
  model: ModelStats;
  compute: ComputePool;
  sandbox: Pick<SandboxPool, 'load'>;
  browser: BrowserStats;
  /** null: nothing is traced. */
  traces: OtlpTraces | null;
};

export function addNodeMetrics(metrics: Metrics, parts: NodeParts): void {
  addNode(metrics, parts);
  addDatabase(metrics, parts);
  addPlaces(metrics, parts);
  addRequests(metrics, parts);
  addCommits(metrics, parts);
  addActors(metrics, parts);
  addStreams(metrics, parts);
  addModel(metrics, parts);
  addCompute(metrics, parts);
  addBrowser(metrics, parts);
}

function addNode(metrics: Metrics, parts: NodeParts): void {
  metrics.gauge('troupe_node_info', 'Always 1; the labels have the node, its version and its incarnation', () => {
    const { version, node, incarnation } = parts;
    return [{ labels: { version, node, incarnation }, value: 1 }];
  });
  metrics.gauge('troupe_ready', '1 while this node accepts requests and makes progress, else 0', () =>
    parts.readiness() === 'ready' ? 1 : 0,
  );
  metrics.gauge('troupe_draining', '1 while this node drains, else 0', () => (parts.readiness() === 'draining' ? 1 : 0));
  metrics.gauge(
    'troupe_clock_correction_seconds',
    "How far the database's clock is ahead of this machine's; 0 if they agree. The node uses the database's time",
    () => parts.databaseClock.offsetMs / 1_000,
  );
  metrics.gauge('troupe_data_dir_free_bytes', 'Free space on the disk of DATA_DIR', async () => {
    const { bavail, bsize } = await statfs(parts.dataDir);
    return bavail * bsize;
  });
  metrics.gauge('troupe_data_dir_size_bytes', 'Size of the disk of DATA_DIR', async () => {
    const { blocks, bsize } = await statfs(parts.dataDir);
    return blocks * bsize;
  });
  metrics.gauge('troupe_storage_full', '1 while commands are refused because the disk of DATA_DIR is full, else 0', () =>
    parts.diskSpace.isFull ? 1 : 0,
  );
  let before = performance.eventLoopUtilization();
  metrics.gauge(
    'troupe_event_loop_utilization_ratio',
    'Share of the time since the last scrape that the event loop was busy, 0 to 1',
    () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
  );
  metrics.counter(
    'troupe_trace_spans_total',
    'Spans sent to the collector, and dropped because the collector did not accept them; none without tracing',
    () => {
      const { traces } = parts;
      if (traces === null) return null;
      return [
        { labels: { outcome: 'sent' }, value: traces.sent },
        { labels: { outcome: 'dropped' }, value: traces.dropped },
      ];
    },
  );
}

function addDatabase(metrics: Metrics, { database, placement, canCommit }: NodeParts): void {
  metrics.gauge(
    'troupe_postgres_up',
    '1 while PostgreSQL answers this node and accepts its writes, else 0; 0 after 2 s without an answer',
    () => (canCommit() ? 1 : 0),
  );
  metrics.gauge('troupe_database_connections', 'Connections of the pool for reads, in use and idle', () => {
    const { totalCount, idleCount } = database.pool;
    return [
      { labels: { state: 'in_use' }, value: totalCount - idleCount },
      { labels: { state: 'idle' }, value: idleCount },
    ];
  });
  metrics.gauge('troupe_database_reads_waiting', 'Reads that wait for a connection of the pool', () => database.pool.waitingCount);
  const lag = new WorkLag(database, placement);
  const found = (pick: (lag: Lag) => number | null) => () => {
    const known = lag.read();
    return known === null ? null : pick(known);
  };
  metrics.gauge(
    'troupe_message_oldest_seconds',
    'Age of the oldest message that waits for an actor of this node',
    found(({ oldestMessageS }) => oldestMessageS),
  );
  metrics.gauge(
    'troupe_timer_overdue_seconds',
    'How long the earliest due timer of this node is overdue',
    found(({ mostOverdueTimerS }) => mostOverdueTimerS),
  );
  metrics.gauge(
    'troupe_dead_letters',
    'Rows of dead_letter, at most 10,000; the same on every node',
    found(({ deadLetters }) => deadLetters),
  );
  metrics.gauge(
    'troupe_database_size_bytes',
    'Size of the database; the same on every node',
    found(({ databaseBytes }) => databaseBytes),
  );
  metrics.gauge(
    'troupe_oldest_snapshot_seconds',
    'Age of the oldest open snapshot or writing transaction of the database; newer dead rows cannot be vacuumed; the same on every node',
    found(({ oldestSnapshotS }) => oldestSnapshotS),
  );
}

/** Shared queues of accounts, other than effects. */
function addPlaces(metrics: Metrics, { database, sandbox }: NodeParts): void {
  const places = (of: 'running' | 'waiting' | 'rejected') => () => [
    { labels: { place: 'lists' }, value: database.listLoad[of] },
    { labels: { place: 'sandbox' }, value: sandbox.load[of] },
  ];
  metrics.gauge('troupe_places_taken', 'Lists and sandbox runs that hold a concurrency slot', places('running'));
  metrics.gauge('troupe_places_waiting', 'Lists and sandbox runs that wait for a concurrency slot', places('waiting'));
  metrics.counter('troupe_places_refused_total', 'Lists and sandbox runs that got no concurrency slot in time', places('rejected'));
}

function addBrowser(metrics: Metrics, { browser }: NodeParts): void {
  metrics.gauge('troupe_browser_pages_open', 'Pages that are open in the browser of this node', () => browser.load().running);
  metrics.gauge('troupe_browser_pages_waiting', 'Pages that wait for a place in the browser of this node', () => browser.load().waiting);
  metrics.counter(
    'troupe_browser_pages_total',
    'Pages opened for agents, by outcome: done, crashed, or failed (the agent is told why)',
    () => browser.pages.read(),
  );
  metrics.counter('troupe_browser_pages_lost_total', 'Open pages whose browser ended; each is opened once more', () => browser.ended);
  metrics.distribution('troupe_browser_wait_seconds', 'Time that pages waited for a place in the browser', () => browser.waitS);
}

function addRequests(metrics: Metrics, { requests, limits }: NodeParts): void {
  metrics.counter('troupe_http_requests_total', 'Requests answered, by route pattern', () => requests.requests());
  metrics.distribution('troupe_http_request_duration_seconds', "From the request's headers to its response, without streamed bodies", () =>
    requests.durations(),
  );
  metrics.gauge('troupe_http_requests_in_flight', 'Requests without a response yet', () => requests.inFlight);
  metrics.counter(
    'troupe_http_failures_total',
    'Requests refused or failed, by error code; overloaded and mailbox_full mean shed load',
    () => requests.failuresByCode(),
  );
  metrics.counter(
    'troupe_limits_refused_total',
    'Requests refused by a limit, by reason; account_: all keys of an account together, link_: signed links, address_: callers without a token',
    () => Object.entries(limits.requests.refused).map(([reason, value]) => ({ labels: { reason }, value })),
  );
  metrics.counter(
    'troupe_limits_redis_commands_total',
    'Commands sent to Redis to count requests and connections; none on a single node',
    () => (limits.redisCommands === null ? null : limits.redisCommands()),
  );
}

function addCommits(metrics: Metrics, { runtime: { commit } }: NodeParts): void {
  metrics.counter('troupe_commit_turns_total', 'Turns committed', () => commit.committedTurns);
  metrics.distribution('troupe_commit_batch_turns', 'Turns in one batch', () => commit.batchTurns);
  metrics.distribution('troupe_commit_duration_seconds', 'From sending a batch until its outcome is certain', () => commit.durationS);
  metrics.gauge(
    'troupe_commit_waiting_seconds',
    'How long the batch in flight has waited for its result; 0 without a batch in flight. Values of seconds mean that PostgreSQL does not answer',
    () => {
      const { sendingSinceMs } = commit;
      return sendingSinceMs === null ? 0 : Math.max(0, (monotonicMs() - sendingSinceMs) / 1_000);
    },
  );
  metrics.gauge(
    'troupe_commit_blocked',
    'Actors whose commit waits for a lock of another session, and actors that wait for these',
    () => commit.blockedUnits,
  );
  metrics.gauge(
    'troupe_commit_last_timestamp_seconds',
    'Time of the last committed batch, in seconds since 1970; 0 before the first',
    () => commit.lastCommitAtMs / 1_000,
  );
  metrics.counter('troupe_commit_failures_total', 'Actors in batches whose turns were not committed, by outcome', () =>
    commit.notCommitted.read(),
  );
  metrics.counter('troupe_dead_letters_total', 'Messages, outcomes and timers that became dead letters', () => commit.deadLetters);
}

function addActors(metrics: Metrics, { runtime }: NodeParts): void {
  metrics.gauge('troupe_activations', 'Actors in memory, by kind', () =>
    Array.from(runtime.actors.kinds.values(), ({ name, activations }) => ({ labels: { kind: name }, value: activations.size })),
  );
  metrics.gauge('troupe_mailbox_waiting', 'Envelopes waiting in mailboxes', () => runtime.actors.load.waiting);
  metrics.gauge('troupe_asks_pending', 'Asks without an answer', () => runtime.actors.load.pending);
  metrics.counter('troupe_turn_defects_total', 'Turns that were discarded because their command threw, by kind', () =>
    runtime.actors.turns.defects.read(),
  );
  metrics.counter(
    'troupe_work_retries_total',
    'Retries of valid messages, outcomes and timers that the database refused, by SQLSTATE',
    () => runtime.actors.completion.refusedWork.retries.read(),
  );
  metrics.gauge(
    'troupe_work_refused',
    'Messages, outcomes and timers that the database refused and that are being retried',
    () => runtime.actors.completion.refusedWork.size.count,
  );
  metrics.gauge(
    'troupe_work_refused_seconds',
    'How long the oldest refused work has been retried; 0 if there is none',
    () => runtime.actors.completion.refusedWork.size.oldestS,
  );
  metrics.counter('troupe_work_early_total', 'Tries of messages, outcomes and timers that arrived before something they need', () =>
    runtime.actors.completion.earlyWork.tries.read(),
  );
  metrics.gauge(
    'troupe_work_early',
    'Messages, outcomes and timers that wait for something they need and are being retried',
    () => runtime.actors.completion.earlyWork.size.count,
  );
  metrics.gauge(
    'troupe_work_early_seconds',
    'How long the oldest early work has been retried; after 600 s it becomes a dead letter; 0 if there is none',
    () => runtime.actors.completion.earlyWork.size.oldestS,
  );
  metrics.gauge('troupe_messages_in_hand', 'Committed messages in delivery to actors of this node', () => runtime.health.messages);
  metrics.gauge('troupe_left_work', 'Messages, timers and effects that wait for a node of a newer version', () =>
    runtime.left.found.reduce((sum, { rows }) => sum + rows, 0),
  );
  metrics.gauge('troupe_left_work_oldest_seconds', 'How long the oldest of the left work has waited; 0 if there is none', () =>
    runtime.left.found.reduce((oldest, { oldestS }) => Math.max(oldest, oldestS), 0),
  );
  const lanes = (of: 'running' | 'waiting') => () =>
    runtime.effects.laneSizes.map(({ lane, ...size }) => ({ labels: { lane }, value: size[of] }));
  metrics.gauge('troupe_effects_running', 'Effects that are running, by lane', lanes('running'));
  metrics.gauge('troupe_effects_waiting', 'Effects in memory that wait for a concurrency slot, by lane', lanes('waiting'));
  metrics.counter('troupe_effects_total', 'Effects that have run, by outcome', () => runtime.effects.ran.read());
  metrics.counter(
    'troupe_effects_abandoned_total',
    'Effects abandoned because each of five processes that ran them died',
    () => runtime.effects.abandoned,
  );
}

function addStreams(metrics: Metrics, { hub, stream, events }: NodeParts): void {
  metrics.gauge('troupe_stream_connections', 'Open WebSockets', () => stream.connections);
  metrics.gauge('troupe_stream_subscribers', 'WebSockets and webhooks subscribed to an account', () => hub.subscribers);
  metrics.gauge('troupe_stream_accounts', 'Accounts with subscribers on this node', () => hub.listening.size);
  metrics.counter('troupe_stream_gaps_filled_total', 'Gaps in event numbers that were filled from PostgreSQL', () => hub.counts.gapsFilled);
  metrics.counter(
    'troupe_stream_pages_read_total',
    'Pages of events read from PostgreSQL for replays and gaps',
    () => hub.counts.pagesRead,
  );
  metrics.counter('troupe_events_published_total', 'Events committed on this node and published to streams', () => events.published);
  metrics.distribution(
    'troupe_event_lag_seconds',
    'From the turn that recorded an event until it was committed and published to streams',
    () => events.lagS,
  );
}

function addModel(metrics: Metrics, { model }: NodeParts): void {
  metrics.counter('troupe_model_turns_total', 'Model turns, by outcome', () => model.turns.read());
  metrics.distribution('troupe_model_turn_duration_seconds', 'Duration of model turns, including retries', () => model.durationS);
  metrics.counter('troupe_model_tokens_total', 'Tokens of model turns, sent and received', () => model.tokens.read());
  metrics.counter('troupe_model_cost_dollars_total', 'Cost of model turns by the price list, in US dollars', () => model.cost.read());
}

function addCompute(metrics: Metrics, { compute }: NodeParts): void {
  metrics.gauge('troupe_compute_processes', 'Running computing processes', () => compute.size.processes);
  metrics.gauge('troupe_compute_running', 'Jobs running in computing processes', () => compute.size.running);
  metrics.gauge('troupe_compute_waiting', 'Jobs that wait for a computing process', () => compute.size.waiting);
  metrics.counter(
    'troupe_compute_jobs_total',
    'Jobs for computing processes, by outcome; stopped_: a limit of time or memory was exceeded',
    () => compute.stats.jobs.read(),
  );
  metrics.distribution('troupe_compute_job_duration_seconds', 'Duration of jobs in their process', () => compute.stats.durationS);
  metrics.distribution('troupe_compute_job_wait_seconds', 'How long jobs waited for a computing process', () => compute.stats.waitS);
}
