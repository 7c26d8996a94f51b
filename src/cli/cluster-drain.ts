/** `troupe cluster drain`: asks a node to leave, and shows its progress until it has left. */
import { setTimeout as delay } from 'node:timers/promises';
import { canOwn } from '../cluster/member.ts';
import { type ClusterReading, readCluster, requestDrain } from '../cluster/membership-reading.ts';
import { AppError } from '../errors.ts';
import { shardsByOwner } from './cluster-database.ts';
import { exitCodes, Failure } from './failure.ts';
import { oneLine } from './plain-text.ts';

export type DrainParts = {
  node: string;
  wait: boolean;
  timeoutMs: number;
  databaseUrl: string;
  redis: { url: string; clusterId: string };
  print(line: string): void;
  /** Aborted when the user interrupts; the drain continues. */
  signal: AbortSignal;
};

const pollEveryMs = 250;

/** The exit code. Throws `Failure`: `refused` for an unknown node and for a node that has not left in time, `unreachable` without Redis. */
export async function drainNode({ node, wait, timeoutMs, databaseUrl, redis, print, signal }: DrainParts): Promise<number> {
  const before = await readCluster(redis.url, redis.clusterId);
  if (!before.redis.up) throw new Failure('unreachable', `${before.redis.trouble}; the node was not asked to leave`);
  const answer = await requestDrain(redis.url, redis.clusterId, node).catch((error: Error) => {
    if (error instanceof AppError)
      throw new Failure('unreachable', `${error.message}; the node may have been asked to leave`, { cause: error });
    throw error;
  });
  if (answer.kind === 'unknown') {
    const names =
      answer.names.length === 0 ? 'no node is running' : `running nodes: ${answer.names.map((name) => oneLine(name, 63)).join(', ')}`;
    throw new Failure('refused', `There is no node ${JSON.stringify(oneLine(node, 63))}; ${names}`);
  }
  const leaving = before.view.members.filter(({ name }) => name === node).map(({ incarnation }) => incarnation);
  print(answer.kind === 'leaving' ? `${node} is already leaving` : `Asked ${node} to leave`);
  if (!hasOthers(before, node)) print('No other node can take its shards: requests to their actors wait until a node joins');
  if (!wait) return exitCodes.complete;

  let lastPrinted = '';
  for (const giveUpAtMs = performance.now() + timeoutMs; ; await delay(pollEveryMs, undefined, { signal })) {
    const [reading, owned] = await Promise.all([readCluster(redis.url, redis.clusterId), shardsByOwner(databaseUrl)]);
    const left = leaving.reduce((sum, incarnation) => sum + (owned.get(incarnation) ?? 0), 0);
    const isMember = reading.view.members.some(({ incarnation }) => leaving.includes(incarnation));
    const out = reading.redis.up && !isMember;
    if (out && (left === 0 || !hasOthers(reading, node))) {
      print(`${node} has left`);
      return exitCodes.complete;
    }
    const message = !reading.redis.up ? `Redis does not answer (${reading.redis.trouble}); still waiting` : progress(node, left, out);
    if (message !== lastPrinted) print(message);
    lastPrinted = message;
    if (performance.now() >= giveUpAtMs)
      throw new Failure(
        'refused',
        `${node} has not left within ${timeoutMs / 1_000} s and is still leaving: follow it with cluster status --watch`,
      );
  }
}

function progress(node: string, left: number, out: boolean): string {
  const shards = `${left} shard${left === 1 ? '' : 's'}`;
  if (out) return `${node} has ended; other nodes still have to claim ${shards}`;
  return left > 0 ? `${node} still has to hand over ${shards}` : `${node} has handed over all shards and is finishing`;
}

function hasOthers({ view }: ClusterReading, node: string): boolean {
  return view.members.some((member) => member.name !== node && canOwn(member));
}
