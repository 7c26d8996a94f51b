/**
 * A run: load from real clients, faults one after the other and sometimes two at once, and after each the wait until every node is ready again.
 * At the end all is healed, what was begun comes to its end, and the checker judges.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { randomFrom } from '../support/random.ts';
import { check, type Violation } from './check.ts';
import { Customer } from './customer.ts';
import { type Fault, faults, type Stage } from './faults.ts';
import { gather } from './gather.ts';
import { History, type Operation } from './history.ts';
import { Subscriber } from './subscriber.ts';

export type RunOptions = {
  seed: number;
  nodes: number;
  /** false: a service of one node. */
  clustered: boolean;
  /** How long faults are made; nothing when `script` says which. */
  minutes: number;
  /** These faults, in this order, each once. */
  script?: readonly Fault[];
  customers?: number;
  /** Clients of each customer. */
  workers?: number;
  env?: Record<string, string>;
  onFault?: (line: string) => void;
};

export type Report = {
  violations: Violation[];
  history: History;
  summary: Record<string, number>;
  /** Operations that took longer than a fault explains by itself, in words, the slowest first. */
  slow: string[];
  /** The newest of what the nodes printed, for a look when something is wrong. */
  logs: { node: string; log: string }[];
};

const readyWithinMs = 60_000;
const tasksWithinMs = 120_000;
const streamsWithinMs = 30_000;
const secondFaultChance = 0.25;
const slowMs = 6_000;
const slowShown = 5;
/** Never printed by a service that works. */
const neverLogged = /nobody listened|TypeError|ReferenceError|RangeError|deadlock detected|already consumed/;

export async function run(options: RunOptions): Promise<Report> {
  const { seed, nodes, clustered, env, customers: customerCount = 3, workers = 3 } = options;
  const random = randomFrom(seed);
  const history = new History();
  const cluster = await ClusterProcesses.start({ nodes, redis: clustered, postgres: 'own', env });
  try {
    const running = () => cluster.nodes.filter((node) => node.isRunning);
    const parts = (n: number) => ({ history, nodes: running, random: randomFrom(seed + n) });
    const customers = await Promise.all(Array.from({ length: customerCount }, (_, n) => Customer.register(parts(n + 1))));
    const subscribers = customers.map(
      (customer, n) => new Subscriber(`subscriber ${n + 1}`, { ...parts(1_000 + n), account: customer.account, token: customer.token }),
    );
    let isOver = false;
    const working = customers.flatMap((customer) => Array.from({ length: workers }, () => customer.work(() => isOver)));
    const stage: Stage = { cluster, history, random, busy: new Set(), nodes };
    const recoveries = await makeFaults(stage, options);
    isOver = true;
    await Promise.all(working);
    await settle(cluster, customers, subscribers, history);
    const kept = await gather(cluster, customers, history);
    await Promise.all(subscribers.map((subscriber) => subscriber.stop()));
    await endAll(cluster, history);
    const logs = cluster.nodes.map(({ name, log }) => ({ node: name, log }));
    for (const { node, log } of logs)
      for (const line of log.split('\n')) if (neverLogged.test(line)) history.anomaly(`${node} printed ${line.slice(0, 500)}`);
    const violations = check(history, kept);
    return { violations, history, slow: slowOf(history), logs, summary: summaryOf(history, customers, subscribers, recoveries) };
  } finally {
    await cluster.close();
  }
}

/** Resolves with how long each fault's healing took, in milliseconds. */
async function makeFaults(stage: Stage, { minutes, script, onFault = () => {} }: RunOptions): Promise<number[]> {
  const { history, random, cluster } = stage;
  const recoveries: number[] = [];
  const make = async (fault: Fault) => {
    const atMs = history.nowMs();
    const outcome = await fault.run(stage).catch((error: Error) => {
      history.anomaly(`${fault.name} could not be healed: ${error.message.slice(0, 2_000)}`);
      return 'not healed';
    });
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
  const fitting = () => faults.filter((fault) => fault.fits(stage));
  const untilMs = history.nowMs() + minutes * 60_000;
  while (history.nowMs() < untilMs) {
    await pause(random.between(500, 3_000));
    const first = random.pick(fitting());
    const seconds = fitting().filter((fault) => !meet(first, fault));
    const together = random.next() < secondFaultChance ? [first, random.pick(seconds)] : [first];
    await Promise.all(together.map(make));
    await recover();
  }
  return recoveries;
}

/** There is one Redis and one PostgreSQL: what is done to it is done by one at a time. */
function meet(a: Fault, b: Fault): boolean {
  const [part] = a.name.split(' ');
  return ['redis', 'postgres'].includes(part!) && b.name.startsWith(`${part} `);
}

/** Waits until every task has ended, nothing is on its way any more, and every subscriber has all there is. */
async function settle(
  cluster: ClusterProcesses,
  customers: readonly Customer[],
  subscribers: readonly Subscriber[],
  history: History,
): Promise<void> {
  for (const customer of customers) await customer.resumeAll();
  const client = new pg.Client({ connectionString: cluster.databaseUrl() });
  await client.connect();
  try {
    const unfinished = `select (select count(*) from task where status not in ('complete', 'failed', 'cancelled'))
      + (select count(*) from message) + (select count(*) from effect) as count`;
    const giveUpAtMs = history.nowMs() + tasksWithinMs;
    while (Number((await client.query(unfinished)).rows[0].count) > 0 && history.nowMs() < giveUpAtMs) await pause(100);
    const counters = new Map<string, number>();
    for (const { account_id, last_seq } of (await client.query('select account_id, last_seq from event_counter')).rows)
      counters.set(account_id, Number(last_seq));
    // What a stream lacks after this the checker will tell.
    await Promise.all(subscribers.map((one, n) => one.untilPosition(counters.get(customers[n]!.account) ?? 0, streamsWithinMs)));
  } finally {
    await client.end();
  }
}

/** The last act of every node is an orderly end. */
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

function summaryOf(history: History, customers: readonly Customer[], subscribers: readonly Subscriber[], recoveries: readonly number[]) {
  const { operations } = history;
  const count = (outcome: string) => operations.filter((one) => one.outcome === outcome).length;
  const tookMs = operations.map(durationMs).sort((a, b) => a - b);
  return {
    seconds: Math.round(history.nowMs() / 1_000),
    operations: operations.length,
    requests: customers.reduce((sum, { client }) => sum + client.requests, 0),
    retries: customers.reduce((sum, { client }) => sum + client.retries, 0),
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
