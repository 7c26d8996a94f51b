/** Faults of a cluster: each fault begins, lasts for some time, and is ended by its own code. The cluster must recover by itself. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { ClusterProcesses } from '../support/cluster-processes.ts';
import type { EarlierVersion } from '../support/earlier-version.ts';
import type { NodeProcess } from '../support/node-process.ts';
import type { Random } from '../support/random.ts';
import { clocksApart, clocksCanBeSet, stepClock } from './clock-faults.ts';
import { breakDisk, fillDisk } from './disk-faults.ts';
import type { History } from './history.ts';
import { dropSessions, freezePooler, poolerAway } from './pooler-faults.ts';
import type { Part } from './topology.ts';
import { changeVersion, versionOf } from './version-faults.ts';

export type Stage = {
  cluster: ClusterProcesses;
  history: History;
  random: Random;
  /** Nodes that a running fault affects. */
  busy: Set<NodeProcess>;
  /** Faults that have begun and are not repaired yet. */
  underWay: Set<Promise<unknown>>;
  /** The number of nodes that the cluster should have. */
  nodes: number;
  /** null where all nodes run this version. */
  earlier: EarlierVersion | null;
};
export type Fault = {
  name: string;
  /** The part of the topology that the fault needs. */
  needs?: Part;
  /** Whether this cluster can have the fault. */
  fits(stage: Stage): boolean;
  /** Resolves with a description of what was done, once the fault is repaired. */
  run(stage: Stage): Promise<string>;
};

const drainWithinMs = 30_000;
const startAttempts = 20;
const startAgainMs = 500;
/** Of connections while shards move, about 40 s: on a busy machine, behind PgBouncer, a node never starts between two of them. */
const maxCuts = 100;

const always = () => true;
const withRedis = ({ cluster }: Stage) => cluster.redis !== null;
const severalNodes = ({ cluster }: Stage) => cluster.redis !== null && cluster.up.length > 1;

export const faults: readonly Fault[] = [
  { name: 'kill', fits: always, run: (stage) => onNode(stage, (node) => killAndRestart(node, stage.random.between(0, 4_000))) },
  { name: 'term', fits: always, run: (stage) => onNode(stage, (node) => terminateAndRestart(stage, node, stage.random.between(0, 2_000))) },
  { name: 'kill two', fits: ({ cluster }) => cluster.redis !== null && cluster.up.length > 2, run: killTwo },
  { name: 'kill while leaving', fits: always, run: (stage) => onNode(stage, (node) => killWhileLeaving(node, stage.random)) },
  { name: 'freeze', fits: always, run: (stage) => onNode(stage, (node) => freeze(node, stage.random.between(100, 900))) },
  {
    name: 'freeze past the lease',
    fits: always,
    run: (stage) => onNode(stage, (node) => freeze(node, stage.random.between(6_000, 9_000))),
  },
  { name: 'add', fits: severalNodes, run: addAndRemove },
  { name: 'kill while joining', fits: severalNodes, run: killWhileJoining },
  { name: 'redis restarted empty', fits: withRedis, run: (stage) => redisAway(stage, stage.random.between(0, 5_000)) },
  { name: 'redis emptied', fits: withRedis, run: ({ cluster }) => cluster.redis!.flush().then(() => 'flushall') },
  { name: 'redis emptied while a node is frozen', fits: severalNodes, run: flushWhileFrozen },
  { name: 'redis frozen', fits: withRedis, run: (stage) => redisFrozen(stage, stage.random.between(500, 6_000)) },
  { name: 'redis slow', fits: withRedis, run: (stage) => slow(stage, 'redisLink', stage.random.between(50, 300)) },
  {
    name: 'postgres restarted',
    fits: ({ cluster }) => cluster.postgres !== null,
    run: ({ cluster }) => cluster.postgres!.restart().then(() => 'restart'),
  },
  {
    name: 'postgres crashed',
    fits: ({ cluster }) => cluster.postgres !== null,
    run: ({ cluster }) => cluster.postgres!.crash().then(() => 'crash'),
  },
  { name: 'postgres connections cut', fits: always, run: cutPostgres },
  { name: 'postgres connections cut while shards move', fits: severalNodes, run: cutPostgresInHandoffs },
  { name: 'postgres silent', fits: always, run: (stage) => postgresSilent(stage, stage.random.between(500, 4_000)) },
  { name: 'postgres slow', fits: always, run: (stage) => slow(stage, 'postgresLink', stage.random.between(20, 100)) },
  { name: 'rows locked', fits: always, run: lockRows },
  { name: 'PostgreSQL out of reach of one node (cut)', fits: severalNodes, run: (stage) => withoutPostgres(stage, 'cut') },
  { name: 'PostgreSQL out of reach of one node (silent)', fits: severalNodes, run: (stage) => withoutPostgres(stage, 'silence') },
  { name: 'node cut off', fits: severalNodes, run: (stage) => cutOff(stage, 'cut') },
  { name: 'node silent', fits: severalNodes, run: (stage) => cutOff(stage, 'silence') },
  { name: 'cluster in two parts', fits: ({ cluster }) => cluster.redis !== null && cluster.up.length > 3, run: inTwoParts },
  { name: 'pair cut', fits: severalNodes, run: (stage) => betweenTwo(stage, 'cut') },
  { name: 'pair silent', fits: severalNodes, run: (stage) => betweenTwo(stage, 'silence') },
  {
    name: 'clock stepped',
    fits: ({ cluster }) => clocksCanBeSet(cluster.up),
    run: (stage) => onNode(stage, (node) => stepClock(node, stage.random)),
  },
  {
    name: 'clocks a minute apart',
    fits: (stage) => severalNodes(stage) && clocksCanBeSet(stage.cluster.up),
    run: ({ cluster, random }) => clocksApart(cluster.nodes, random),
  },
  onDisk('postgres disk full', (stage) => fillDisk(stage.cluster.postgres!, 'tables', stage.random)),
  onDisk('postgres log disk full', (stage) => fillDisk(stage.cluster.postgres!, 'log', stage.random)),
  onDisk('postgres disk broken', (stage) => breakDisk(stage.cluster.postgres!, 'tables', stage.random)),
  onDisk('postgres log disk broken', (stage) => breakDisk(stage.cluster.postgres!, 'log', stage.random)),
  onPooler('pgbouncer killed', ({ cluster, random }) => poolerAway(cluster.pooler!, 'SIGKILL', random)),
  onPooler('pgbouncer restarted', ({ cluster, random }) => poolerAway(cluster.pooler!, 'SIGTERM', random)),
  onPooler('pgbouncer frozen', ({ cluster, random }) => freezePooler(cluster.pooler!, random)),
  onPooler('pgbouncer drops its sessions', ({ cluster, random }) =>
    dropSessions(cluster.pooler!, new URL(cluster.databaseUrl()).pathname.slice(1), random),
  ),
  onVersions('node replaced by one of the other version', (stage) => onNode(stage, (node) => replaceByOther(stage, node))),
  onVersions('roll to the other version', rollToOther),
  { name: 'pair silent one way', fits: severalNodes, run: (stage) => betweenTwo(stage, 'one way') },
];

export function faultNamed(name: string): Fault {
  const found = faults.find((fault) => fault.name === name);
  if (found === undefined) throw new Error(`There is no fault "${name}"; there are ${faults.map((fault) => fault.name).join(', ')}`);
  return found;
}

function onDisk(name: string, run: Fault['run']): Fault {
  return { name, needs: 'disks', fits: ({ cluster }) => (cluster.postgres?.disks ?? null) !== null, run };
}

function onPooler(name: string, run: Fault['run']): Fault {
  return { name, needs: 'pooler', fits: ({ cluster }) => cluster.pooler !== null, run };
}

function onVersions(name: string, run: Fault['run']): Fault {
  return { name, needs: 'versions', fits: (stage) => stage.earlier !== null && severalNodes(stage), run };
}

/** Picks a node that no other fault affects. In a cluster of several nodes at least one node stays unaffected. */
async function onNode(stage: Stage, harm: (node: NodeProcess) => Promise<string>): Promise<string> {
  const free = stage.cluster.up.filter((node) => !stage.busy.has(node));
  if (free.length === 0 || (stage.cluster.redis !== null && free.length === 1)) return 'no node to spare';
  const node = stage.random.pick(free);
  stage.busy.add(node);
  try {
    return `${node.name}: ${await harm(node)}`;
  } finally {
    stage.busy.delete(node);
  }
}

async function killAndRestart(node: NodeProcess, awayMs: number): Promise<string> {
  await node.kill();
  await pause(awayMs);
  await startAgain(node);
  return `killed, away for ${awayMs} ms`;
}

/** Kills two nodes at once; at least one more node stays up. */
async function killTwo(stage: Stage): Promise<string> {
  const both = await Promise.all([
    onNode(stage, (node) => killAndRestart(node, stage.random.between(0, 4_000))),
    onNode(stage, (node) => killAndRestart(node, stage.random.between(0, 4_000))),
  ]);
  return both.join('; ');
}

async function killWhileLeaving(node: NodeProcess, random: Random): Promise<string> {
  const afterMs = random.between(0, 2_500);
  const leaving = node.term();
  await Promise.race([leaving, pause(afterMs)]);
  if (node.pid !== null) await node.kill();
  await leaving;
  await startAgain(node);
  return `killed ${afterMs} ms after its SIGTERM`;
}

/** Kills an additional node while it joins or shortly after. */
async function killWhileJoining({ cluster, random, nodes }: Stage): Promise<string> {
  if (cluster.up.length > nodes) return 'there is one more already';
  const node = await cluster.prepare();
  const afterMs = random.between(500, 3_500);
  const starting = node.start().catch(() => {});
  await pause(afterMs);
  await node.kill();
  await starting;
  return `${node.name}: killed ${afterMs} ms after its start`;
}

async function terminateAndRestart({ history }: Stage, node: NodeProcess, awayMs: number): Promise<string> {
  const drainMs = await terminate(history, node);
  await pause(awayMs);
  await startAgain(node);
  return `terminated, drained for ${drainMs} ms, away for ${awayMs} ms`;
}

/** Restarts a node in the other version, with the same name and folder, after a termination or a kill. */
async function replaceByOther({ history, random, earlier }: Stage, node: NodeProcess): Promise<string> {
  const manner = random.pick(['terminated', 'killed']);
  const from = versionOf(node);
  if (manner === 'killed') await node.kill();
  else await terminate(history, node);
  changeVersion(node, earlier!);
  await startAgain(node);
  return `${manner}, from ${from} to ${versionOf(node)}`;
}

/** Restarts one node after another until all run one version: a rolling update, or its reversal. */
async function rollToOther(stage: Stage): Promise<string> {
  const { cluster, history, busy, random, earlier } = stage;
  const first = random.pick(cluster.up);
  const from = versionOf(first);
  const rolled: string[] = [];
  for (const node of cluster.up.filter((node) => versionOf(node) === from)) {
    if (busy.has(node) || !node.isUp) continue;
    busy.add(node);
    try {
      await terminate(history, node);
      changeVersion(node, earlier!);
      await startAgain(node);
      await node.untilReady();
      rolled.push(node.name);
    } finally {
      busy.delete(node);
    }
  }
  return `from ${from}: ${rolled.join(', ')}`;
}

/** Starts a node again, as orchestrators do, if it cannot start because another fault makes the database unreachable. */
async function startAgain(node: NodeProcess, attempts = startAttempts): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await node.start();
    } catch (error) {
      if (attempt === attempts) throw error;
      await pause(startAgainMs);
    }
  }
}

async function terminate(history: History, node: NodeProcess): Promise<number> {
  const { code, signal, afterMs } = await node.term();
  const drainMs = Math.round(afterMs);
  if (code !== 0 || afterMs > drainWithinMs) history.anomaly(`${node.name} ended with ${code ?? signal} ${drainMs} ms after its SIGTERM`);
  return drainMs;
}

async function freeze(node: NodeProcess, forMs: number): Promise<string> {
  node.freeze();
  await pause(forMs);
  node.thaw();
  return `frozen for ${forMs} ms`;
}

async function addAndRemove(stage: Stage): Promise<string> {
  const { cluster, history, random } = stage;
  if (cluster.up.length > stage.nodes) return 'there is one more already';
  const node = await cluster.prepare();
  if (stage.earlier !== null && random.next() < 0.5) changeVersion(node, stage.earlier);
  await node.start();
  stage.busy.add(node);
  const stayMs = random.between(1_000, 5_000);
  await pause(stayMs);
  const drainMs = await terminate(history, node);
  stage.busy.delete(node);
  return `${node.name}: added, there for ${stayMs} ms, drained for ${drainMs} ms`;
}

async function redisAway({ cluster }: Stage, awayMs: number): Promise<string> {
  await cluster.redis!.kill();
  await pause(awayMs);
  await cluster.redis!.restart();
  return `killed, away for ${awayMs} ms, back empty`;
}

/** Freezes a node and empties Redis meanwhile, so that Redis has no record of the node when it continues. */
function flushWhileFrozen(stage: Stage): Promise<string> {
  return onNode(stage, async (node) => {
    const halfMs = stage.random.between(200, 3_500);
    node.freeze();
    await pause(halfMs);
    await stage.cluster.redis!.flush();
    await pause(halfMs);
    node.thaw();
    return `frozen for ${2 * halfMs} ms, flushall in the middle`;
  });
}

async function redisFrozen({ cluster }: Stage, forMs: number): Promise<string> {
  cluster.redis!.pause();
  await pause(forMs);
  cluster.redis!.resume();
  return `frozen for ${forMs} ms`;
}

async function slow({ cluster, random }: Stage, which: 'redisLink' | 'postgresLink', delayMs: number): Promise<string> {
  const link = cluster[which]!;
  const forMs = random.between(1_000, 5_000);
  link.delayMs = delayMs;
  await pause(forMs);
  link.delayMs = 0;
  return `${delayMs} ms slower for ${forMs} ms`;
}

async function cutPostgres({ cluster }: Stage): Promise<string> {
  cluster.postgresLink.breakOpen();
  return 'all cut';
}

/** Locks rows of actors or counters of accounts in a transaction of another client, for less time than callers wait for an answer. */
async function lockRows({ cluster, random }: Stage): Promise<string> {
  const client = new pg.Client({ connectionString: cluster.databaseUrl() });
  // Another fault may end the database during this transaction.
  client.on('error', () => {});
  const table = random.pick(['event_counter', 'account', 'task', 'agent', 'wallet', 'card']);
  const forMs = random.between(300, 5_000);
  try {
    await client.connect();
    await client.query('begin');
    const { rowCount } = await client.query(
      `select from ${table} where ctid = any(array(select ctid from ${table} order by random() limit 3)) for update skip locked`,
    );
    await pause(forMs);
    await client.query('commit');
    return `${rowCount} of ${table} for ${forMs} ms`;
  } catch (error) {
    return `${table}: ${error}`;
  } finally {
    client.end().catch(() => {});
  }
}

/** Cuts connections repeatedly while a node hands over all of its shards and then acquires shards again. */
function cutPostgresInHandoffs(stage: Stage): Promise<string> {
  const { cluster, random } = stage;
  return onNode(stage, async (node) => {
    let isOver = false;
    const cutting = (async () => {
      for (let cuts = 0; ; cuts++) {
        await pause(random.between(100, 700));
        if (isOver || cuts === maxCuts) return cuts;
        cluster.postgresLink.breakOpen();
      }
    })();
    let drainMs: number;
    try {
      drainMs = await terminate(stage.history, node);
      // Several cuts during a start end the process, so the start is repeated until it succeeds between two cuts, or after the last one.
      await startAgain(node, startAttempts * 3);
    } finally {
      isOver = true;
    }
    return `drained for ${drainMs} ms and started again under ${await cutting} cuts`;
  });
}

async function postgresSilent({ cluster }: Stage, forMs: number): Promise<string> {
  const heal = cluster.postgresLink.silence();
  await pause(forMs);
  heal();
  return `silent for ${forMs} ms`;
}

function cutOff(stage: Stage, manner: 'cut' | 'silence'): Promise<string> {
  return onNode(stage, async (node) => {
    // The shortest cut is not detected; the longest exceeds the time to hand over all shards.
    const forMs = stage.random.between(500, 8_000);
    const heal = stage.cluster.isolate(node, manner);
    await pause(forMs);
    heal();
    return `${manner === 'cut' ? 'cut off' : 'silenced'} for ${forMs} ms`;
  });
}

function withoutPostgres(stage: Stage, manner: 'cut' | 'silence'): Promise<string> {
  return onNode(stage, async (node) => {
    // The shortest fault is not detected; the longest exceeds the time until other nodes own all shards.
    const forMs = stage.random.between(500, 8_000);
    const heal = stage.cluster.withoutPostgres(node, manner);
    await pause(forMs);
    heal();
    return `${node.name} without PostgreSQL (${manner}) for ${forMs} ms`;
  });
}

/** Cuts all links between two nodes and the others. */
async function inTwoParts({ cluster, random }: Stage): Promise<string> {
  const first = random.pick(cluster.up);
  const part = [first, random.pick(cluster.up.filter((node) => node !== first))];
  const rest = cluster.up.filter((node) => !part.includes(node));
  const forMs = random.between(500, 8_000);
  const heals = part.flatMap((node) => rest.map((other) => cluster.sever(node, other, 'cut')));
  await pause(forMs);
  for (const heal of heals) heal();
  return `${part.map(({ name }) => name).join(' and ')} apart from the rest for ${forMs} ms`;
}

async function betweenTwo({ cluster, random }: Stage, manner: 'cut' | 'silence' | 'one way'): Promise<string> {
  const a = random.pick(cluster.up);
  const others = cluster.up.filter((node) => node !== a);
  if (others.length === 0) return 'no pair';
  const b = random.pick(others);
  const forMs = random.between(500, 8_000);
  const heal = manner === 'one way' ? cluster.deafen(a, b) : cluster.sever(a, b, manner);
  await pause(forMs);
  heal();
  return `${a.name} and ${b.name}: ${manner} for ${forMs} ms`;
}
