/** `troupe cluster`: the cluster's status, and draining a node. */
import { setTimeout as delay } from 'node:timers/promises';
import { clusterIdentity } from '../cluster/cluster-identity.ts';
import { readCluster } from '../cluster/membership-reading.ts';
import type { Config } from '../config.ts';
import { type DatabaseReading, readDatabase } from './cluster-database.ts';
import { drainNode } from './cluster-drain.ts';
import { type ClusterOptions, clusterHelp, readClusterOptions } from './cluster-options.ts';
import { type ClusterStatus, statusOf } from './cluster-status.ts';
import { statusLine, statusTable } from './cluster-view.ts';
import { exitCodes, Failure } from './failure.ts';
import { findDatabase, outOfReach } from './find-database.ts';
import { findRedisUrl } from './find-redis.ts';
import { Interrupted, watchInterrupts } from './interrupts.ts';
import type { Caller } from './run.ts';

/** `redis` is null for a service of one node. */
type Service = { databaseUrl: string; redis: { url: string; clusterId: string } | null; signal: AbortSignal };

/** Rates are counted over this time. */
const sampleMs = 1_000;
const screen = { clear: '\x1b[H\x1b[J', wrapOff: '\x1b[?7l', wrapOn: '\x1b[?7h', hideCursor: '\x1b[?25l', showCursor: '\x1b[?25h' };

/** The exit code; throws `Failure`. */
export async function cluster(args: string[], config: Config, caller: Caller): Promise<number> {
  const options = readClusterOptions(args);
  if (options === 'help') {
    process.stdout.write(clusterHelp);
    return exitCodes.complete;
  }
  const interrupts = watchInterrupts();
  const found = await findDatabase(config);
  try {
    const redisUrl = await findRedisUrl(config);
    const redis = redisUrl === null ? null : { url: redisUrl, clusterId: await identityOf(found.url) };
    const service: Service = { databaseUrl: found.url, redis, signal: interrupts.signal };
    if (options.kind === 'drain') return await drain(options, service);
    return await (options.watch ? watch(options, service, caller) : showOnce(options, service));
  } catch (error) {
    const { reason } = interrupts.signal;
    if (!(reason instanceof Interrupted)) throw error;
    return options.kind === 'status' && options.watch ? exitCodes.complete : reason.exitCode;
  } finally {
    await found.close();
  }
}

async function drain({ node, wait, timeoutMs }: Extract<ClusterOptions, { kind: 'drain' }>, service: Service): Promise<number> {
  const { databaseUrl, redis, signal } = service;
  if (redis === null)
    throw new Failure(
      'usage',
      'REDIS_URL is not set, so there is no cluster: stop the service with SIGTERM, or set the REDIS_URL of its cluster',
    );
  const print = (line: string) => process.stdout.write(`${line}\n`);
  return drainNode({ node, wait, timeoutMs, databaseUrl, redis, print, signal });
}

async function showOnce({ output }: Extract<ClusterOptions, { kind: 'status' }>, service: Service): Promise<number> {
  const earlier = await readDatabase(service.databaseUrl);
  await delay(sampleMs, undefined, { signal: service.signal });
  const { status } = await readStatus(service, earlier);
  if (status.redis?.up === false) process.stderr.write(`${status.redis.trouble}; only data from PostgreSQL is shown\n`);
  process.stdout.write(output === 'json' ? `${JSON.stringify(status)}\n` : statusTable(status));
  return exitCodes.complete;
}

/** Until Ctrl-C, also while the database is unavailable. */
async function watch({ output }: Extract<ClusterOptions, { kind: 'status' }>, service: Service, { dumbTerminal }: Caller): Promise<number> {
  const live = output === 'human' && process.stdout.isTTY && !dumbTerminal;
  const write = (text: string) =>
    process.stdout.write(live ? `${screen.hideCursor}${screen.wrapOff}${screen.clear}${text}${screen.wrapOn}` : text);
  // A failure of the first query is probably a wrong setting: it ends the command.
  let earlier = await readDatabase(service.databaseUrl);
  try {
    for (;;) {
      await delay(sampleMs, undefined, { signal: service.signal });
      try {
        const current: { reading: DatabaseReading; status: ClusterStatus } = await readStatus(service, earlier);
        earlier = current.reading;
        write(
          output === 'json'
            ? `${JSON.stringify(current.status)}\n`
            : live
              ? statusTable(current.status)
              : `${statusLine(current.status)}\n`,
        );
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (output === 'json') process.stderr.write(`${error.message}\n`);
        else write(`${error.message}\n`);
      }
    }
  } finally {
    if (live) process.stdout.write(screen.showCursor);
  }
}

/** Reads Redis and the database at the same time, so that a moving shard is counted once. */
async function readStatus(
  { databaseUrl, redis }: Service,
  earlier: DatabaseReading,
): Promise<{ reading: DatabaseReading; status: ClusterStatus }> {
  const members = redis === null ? null : readCluster(redis.url, redis.clusterId);
  const [reading, cluster] = await Promise.all([readDatabase(databaseUrl), members]);
  return { reading, status: statusOf(reading, earlier, cluster) };
}

function identityOf(databaseUrl: string): Promise<string> {
  return clusterIdentity(databaseUrl).catch((error: Error) => {
    throw outOfReach(error, databaseUrl);
  });
}
