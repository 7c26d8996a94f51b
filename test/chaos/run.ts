/**
 * A run: load from real clients, faults in sequence and sometimes two at once, and after each a wait until every node is ready again. At
 * the end all faults are ended, pending work completes, and the checker runs.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { unpack } from '../support/earlier-version.ts';
import { withoutFaketime } from '../support/faketime.ts';
import { ownProgram } from '../support/node-process.ts';
import { onBusiness } from '../support/on-business.ts';
import { randomFrom } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Auditor } from './auditor.ts';
import { check, type Violation } from './check.ts';
import { checkDeployments } from './check-deployments.ts';
import { checkMoney } from './check-money.ts';
import { checkTrading } from './check-trading.ts';
import { Customer } from './customer.ts';
import { DeployHosts } from './deploy-hosts.ts';
import { Deployer } from './deployer.ts';
import { type Fault, faults, type Stage } from './faults.ts';
import { gather } from './gather.ts';
import { gatherDeployments, type KeptDeployments } from './gather-deployments.ts';
import { gatherMoney } from './gather-money.ts';
import { gatherTrading, type KeptTrading } from './gather-trading.ts';
import { type Decided, History, type Operation } from './history.ts';
import { replaceStuckPooler } from './pooler-faults.ts';
import { settle } from './settle.ts';
import { manners, Spender } from './spender.ts';
import { Subscriber } from './subscriber.ts';
import { plainTopology, type Topology } from './topology.ts';
import { Trader } from './trader.ts';
import { brokers, Venue } from './venue.ts';

export type RunOptions = {
  seed: number;
  nodes: number;
  /** false: a service of one node. */
  clustered: boolean;
  /** The time during which random faults begin; ignored if `script` is given. */
  minutes: number;
  /** Runs these faults, in this order, each once. */
  script?: readonly Fault[];
  /** Without a script: the faults to choose from at random. */
  among?: readonly Fault[];
  load?: Load;
  env?: Record<string, string>;
  /** The stores and proxies of the cluster; the smallest topology by default. */
  topology?: Topology;
  /** Aborts the run: everything is closed and the run rejects. */
  signal?: AbortSignal;
  onFault?: (line: string) => void;
};

/** Customers write, read and run tasks, spenders move money, traders trade on paper, deployers publish sites; each account has several concurrent clients. */
export type Load = {
  customers: number;
  customerClients: number;
  spenders: number;
  spenderClients: number;
  traders: number;
  traderClients: number;
  deployers?: number;
  deployerClients?: number;
  /** Whether every other trader trades at a broker, the second runs a strategy, and prices come from a file. Needs five traders. */
  broker?: boolean;
};

/** The values of the option `--only`. */
export const loads = {
  all: { customers: 3, customerClients: 3, spenders: 3, spenderClients: 3, traders: 2, traderClients: 2, deployers: 1, deployerClients: 2 },
  money: { customers: 0, customerClients: 0, spenders: 6, spenderClients: 5, traders: 0, traderClients: 0 },
  deployments: {
    customers: 0,
    customerClients: 0,
    spenders: 0,
    spenderClients: 0,
    traders: 0,
    traderClients: 0,
    deployers: 4,
    deployerClients: 3,
  },
  trading: { customers: 0, customerClients: 0, spenders: 0, spenderClients: 0, traders: 5, traderClients: 5, broker: true },
} as const satisfies Record<string, Load>;

export type Report = {
  violations: Violation[];
  history: History;
  summary: Record<string, number>;
  /** Descriptions of operations that took longer than one fault explains, the slowest first. */
  slow: string[];
  /** The last output of each node, for the diagnosis of failures. */
  logs: { node: string; log: string }[];
};

const readyWithinMs = 60_000;
const streamsWithinMs = 30_000;
const secondFaultChance = 0.25;
const slowMs = 6_000;
const slowShown = 5;
/** Log text that shows a bug of the service. */
const neverLogged = /unhandled promise rejection|TypeError|ReferenceError|RangeError|deadlock detected|already consumed/;

export async function run(options: RunOptions): Promise<Report> {
  const { seed, nodes, clustered, env, topology = plainTopology, signal } = options;
  const folder = await temporaryFolder('troupe-chaos-program-');
  const venue = options.load?.broker ? await Venue.start(folder.path, randomFrom(seed + 30_000)) : null;
  const hosts = (options.load ?? loads.all).deployers ? await DeployHosts.start(randomFrom(seed + 40_000)) : null;
  try {
    const earlier = topology.earlier === null ? null : await unpack(topology.earlier, join(folder.path, 'earlier'));
    const programs = randomFrom(seed + 20_000);
    const cluster = await ClusterProcesses.start({
      nodes,
      redis: clustered,
      postgres: 'own',
      disks: topology.disks,
      pooler: topology.pooler,
      program: () => (earlier !== null && programs.next() < 0.5 ? earlier.program : ownProgram),
      clocks: withoutFaketime === false,
      env: { ...env, ...venue?.env, ...hosts?.env },
    });
    const stage: Stage = {
      cluster,
      history: new History(),
      random: randomFrom(seed),
      busy: new Set(),
      underWay: new Set(),
      nodes,
      earlier,
    };
    try {
      return await Promise.race([runOn(stage, options, { venue, hosts }), aborted(signal)]);
    } finally {
      // Each fault restarts what it stopped; these restarts must end before the cluster is closed.
      await Promise.allSettled(stage.underWay);
      await cluster.close();
    }
  } finally {
    await venue?.stop();
    await hosts?.stop();
    await folder.remove();
  }
}

/** Rejects when the run is aborted, and never resolves. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(new Error('The run was ended before its time'));
    if (signal?.aborted) give();
    signal?.addEventListener('abort', give, { once: true });
  });
}

type Others = { venue: Venue | null; hosts: DeployHosts | null };

async function runOn(stage: Stage, options: RunOptions, { venue, hosts }: Others): Promise<Report> {
  const { seed, load = loads.all } = options;
  const { cluster, history } = stage;
  await onBusiness(cluster.databaseUrl());
  const running = () => cluster.nodes.filter((node) => node.isRunning);
  const parts = (n: number) => ({ history, nodes: running, random: randomFrom(seed + n) });
  const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
  const customers = await Promise.all(times(load.customers, (n) => Customer.register(parts(n + 1))));
  const spenders = await Promise.all(
    times(load.spenders, (n) => Spender.register(parts(n + 101), manners[n % manners.length]!, n % 2 === 0 ? 'live' : 'test')),
  );
  const traders = await Promise.all(times(load.traders, (n) => Trader.register(parts(n + 201), n % 2 === 0 ? 'live' : 'test')));
  const deployers = await Promise.all(times(load.deployers ?? 0, (n) => Deployer.register(parts(n + 301))));
  if (venue !== null) {
    const url = running()[0]!.url;
    // Every other trader has a live key; brokers do not accept test keys.
    await Promise.all(brokers.map((broker, n) => traders[2 * n]!.connect(url, broker)));
    await traders[1]!.runStrategy();
  }
  const allClients: AllClients = { customers, spenders, traders, all: [...customers, ...spenders, ...traders, ...deployers] };
  const subscribers = allClients.all.map(
    ({ account, token }, n) => new Subscriber(`subscriber ${n + 1}`, { ...parts(1_000 + n), account, token }),
  );
  const auditor = new Auditor(cluster.databaseUrl, history);
  let isOver = false;
  const working = [
    ...customers.flatMap((customer) => times(load.customerClients, () => customer.work(() => isOver))),
    ...spenders.flatMap((spender) => times(load.spenderClients, () => spender.work(() => isOver))),
    ...traders.flatMap((trader) => times(load.traderClients, () => trader.work(() => isOver))),
    ...deployers.flatMap((deployer) => times(load.deployerClients ?? 0, () => deployer.work(() => isOver))),
  ];
  const poolerWatch = watchPooler(stage, options);
  const recoveries = await makeFaults(stage, options);
  isOver = true;
  await Promise.all(working);
  venue?.quieten();
  hosts?.quieten();
  const unpaid = await settle(cluster.databaseUrl(), allClients);
  await allEventsArrived(allClients, subscribers, cluster.databaseUrl());
  await auditor.stop();
  const kept = await gather(cluster, customers, history);
  const clients = spenders.map(({ client }) => client);
  const where = { doors: cluster.up, databaseUrl: cluster.databaseUrl() };
  const money = await gatherMoney(where, clients, history, unpaid);
  const trading = await gatherTrading(
    where,
    traders.map(({ client }) => client),
    history,
    venue?.orders ?? [],
  );
  const deployed = await gatherDeployments(
    where,
    deployers.map(({ client }) => client),
    hosts?.made ?? [],
  );
  await Promise.all(subscribers.map((subscriber) => subscriber.stop()));
  await poolerWatch.stop();
  await endAll(cluster, history);
  const logs = cluster.nodes.map(({ name, log }) => ({ node: name, log }));
  for (const { node, log } of logs)
    for (const line of log.split('\n')) if (neverLogged.test(line)) history.anomaly(`${node} printed ${line.slice(0, 500)}`);
  const violations = [
    ...check(history, kept),
    ...checkMoney(history.operations, money),
    ...checkTrading(history.operations, trading),
    ...checkDeployments(history.operations, deployed),
  ];
  const summary = {
    ...summaryOf(history, allClients, subscribers, recoveries),
    audits: auditor.audits,
    ...moneySummaryOf(history),
    ...tradingSummaryOf(history, trading),
    ...deploymentSummaryOf(deployed),
  };
  return { violations, history, slow: slowOf(history), logs, summary };
}

type AllClients = {
  customers: readonly Customer[];
  spenders: readonly Spender[];
  traders: readonly Trader[];
  all: readonly (Customer | Spender | Trader | Deployer)[];
};

function watchPooler({ cluster, history }: Stage, { signal, onFault = () => {} }: RunOptions): { stop(): Promise<void> } {
  let isStopped = false;
  const watching =
    cluster.pooler === null
      ? Promise.resolve()
      : replaceStuckPooler(
          cluster.pooler,
          () => isStopped || signal?.aborted === true,
          () => onFault(`${(history.nowMs() / 1_000).toFixed(1).padStart(7)} s  PgBouncer did not answer for 15 s: replaced`),
        );
  return {
    stop: async () => {
      isStopped = true;
      await watching;
    },
  };
}

/** Resolves with the recovery time after each fault, in milliseconds. */
async function makeFaults(stage: Stage, { minutes, script, among = faults, signal, onFault = () => {} }: RunOptions): Promise<number[]> {
  const { history, random, cluster, underWay } = stage;
  const recoveries: number[] = [];
  const make = async (fault: Fault) => {
    if (signal?.aborted) return;
    const atMs = history.nowMs();
    const running = fault.run(stage).catch((error: Error) => {
      history.anomaly(`${fault.name} could not be healed: ${error.message.slice(0, 2_000)}`);
      return 'not healed';
    });
    underWay.add(running);
    const outcome = await running;
    underWay.delete(running);
    const words = `${fault.name}: ${outcome}`;
    history.faults.push({ atMs, endedMs: history.nowMs(), words });
    onFault(`${(atMs / 1_000).toFixed(1).padStart(7)} s  ${words}`);
  };
  const recover = async () => {
    const fromMs = history.nowMs();
    await cluster.untilReady(readyWithinMs).catch((error: Error) => history.anomaly(`not ready: ${error.message.slice(0, 1_000)}`));
    recoveries.push(history.nowMs() - fromMs);
  };
  if (script !== undefined) {
    for (const fault of script) {
      await pause(1_000);
      await make(fault);
      await recover();
    }
    return recoveries;
  }
  const fitting = () => among.filter((fault) => fault.fits(stage));
  const untilMs = history.nowMs() + minutes * 60_000;
  while (history.nowMs() < untilMs) {
    await pause(random.between(500, 3_000));
    const possible = fitting();
    if (possible.length === 0) continue;
    const first = random.pick(possible);
    const seconds = fitting().filter((fault) => !meet(first, fault));
    const together = random.next() < secondFaultChance && seconds.length > 0 ? [first, random.pick(seconds)] : [first];
    await Promise.all(together.map(make));
    await recover();
  }
  return recoveries;
}

/** Whether two faults affect the same Redis, PostgreSQL or PgBouncer, so that they must not run at the same time. */
function meet(a: Fault, b: Fault): boolean {
  const [part] = a.name.split(' ');
  return ['redis', 'postgres', 'pgbouncer'].includes(part!) && b.name.startsWith(`${part} `);
}

/** Waits until every subscriber has all events, for a limited time; the checker reports missing events. */
async function allEventsArrived({ all }: AllClients, subscribers: readonly Subscriber[], databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query('select account_id, last_seq from event_counter');
    const lastSeqs = new Map(rows.map(({ account_id, last_seq }) => [account_id, Number(last_seq)]));
    await Promise.all(subscribers.map((one, n) => one.untilPosition(lastSeqs.get(all[n]!.account) ?? 0, streamsWithinMs)));
  } finally {
    await client.end();
  }
}

/** Terminates every node in order. */
async function endAll(cluster: ClusterProcesses, history: History): Promise<void> {
  await Promise.all(
    cluster.up.map(async (node) => {
      const { code, signal, afterMs } = await node.term();
      if (code !== 0 || afterMs > 30_000)
        history.anomaly(`${node.name} ended with ${code ?? signal} ${Math.round(afterMs)} ms after its SIGTERM`);
    }),
  );
}

function slowOf({ operations, faults: made }: History): string[] {
  const slow = operations.filter((operation) => durationMs(operation) > slowMs).sort((a, b) => durationMs(b) - durationMs(a));
  return slow.slice(0, slowShown).map((operation) => {
    const { name, subject, begunMs, requests, status } = operation;
    const during = made.filter(({ atMs, endedMs }) => atMs < begunMs + durationMs(operation) && endedMs > begunMs - slowMs);
    const took = `${name} ${subject} took ${Math.round(durationMs(operation))} ms and ${requests} requests, answered ${status}`;
    return `at ${(begunMs / 1_000).toFixed(1)} s ${took}; meanwhile: ${during.map(({ words }) => words).join('; ') || 'nothing'}`;
  });
}

function durationMs({ begunMs, endedMs }: Operation): number {
  return (endedMs ?? begunMs) - begunMs;
}

function summaryOf(history: History, { all }: AllClients, subscribers: readonly Subscriber[], recoveries: readonly number[]) {
  const { operations } = history;
  const count = (outcome: string) => operations.filter((one) => one.outcome === outcome).length;
  const tookMs = operations.map(durationMs).sort((a, b) => a - b);
  return {
    seconds: Math.round(history.nowMs() / 1_000),
    operations: operations.length,
    requests: all.reduce((sum, { client }) => sum + client.requests, 0),
    retries: all.reduce((sum, { client }) => sum + client.retries, 0),
    acknowledged: count('done'),
    refused: count('refused'),
    unknown: count('unknown'),
    events: history.received.length,
    streams_resumed: subscribers.reduce((sum, { resumed }) => sum + resumed, 0),
    faults: history.faults.length,
    slowest_recovery_ms: Math.round(Math.max(0, ...recoveries)),
    p50_operation_ms: Math.round(tookMs[Math.floor(tookMs.length / 2)] ?? 0),
    slowest_operation_ms: Math.round(tookMs.at(-1) ?? 0),
  };
}

function tradingSummaryOf({ operations }: History, { orders, fills }: KeptTrading): Record<string, number> {
  const acknowledged = operations.filter(({ name, outcome }) => name === 'trade' && outcome === 'done').length;
  const ended = Map.groupBy(orders, ({ status }) => status);
  const counts = [...ended].map(([status, ones]) => [`trades_${status}`, ones.length]);
  return {
    trades: acknowledged,
    trades_unknown: orders.filter(({ isUnknown }) => isUnknown).length,
    fills: fills.length,
    ...Object.fromEntries(counts.sort()),
  };
}

function deploymentSummaryOf({ deployments, atHosts }: KeptDeployments): Record<string, number> {
  const ended = Map.groupBy(deployments, ({ status, code }) => code ?? status);
  const counts = [...ended].map(([how, ones]) => [`deployments_${how}`, ones.length]);
  return { deployments: deployments.length, made_at_hosts: atHosts.length, ...Object.fromEntries(counts.sort()) };
}

function moneySummaryOf({ operations }: History): Record<string, number> {
  const named = (name: Operation['name']) => operations.filter((one) => one.name === name && one.outcome === 'done');
  const decided = named('authorize').map(({ result }) => result as Decided);
  const reasons = Map.groupBy(decided, ({ reason }) => reason ?? 'none');
  const declined = [...reasons].filter(([reason]) => reason !== 'none').map(([reason, ones]) => [`declined_${reason}`, ones.length]);
  return {
    authorizations: decided.length,
    approved: reasons.get('none')?.length ?? 0,
    ...Object.fromEntries(declined.sort()),
    deposits: named('deposit').length,
    cards: named('issue card').length,
    freezes_and_cancels: named('freeze card').length + named('cancel card').length,
    orders: named('place order').length,
    orders_approved: named('approve order').length,
    orders_rejected: named('reject order').length,
  };
}
