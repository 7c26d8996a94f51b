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
  say(line: string): void;
  /** Aborted when the user interrupts; the drain continues. */
  signal: AbortSignal;
};

const pollEveryMs = 250;

/** The exit code. Throws `Failure`: `refused` for an unknown node and for a node that has not left in time, `unreachable` without Redis. */
export async function drainNode({ node, wait, timeoutMs, databaseUrl, redis, say, signal }: DrainParts): Promise<number> {
  const before = await readCluster(redis.url, redis.clusterId);
  if (!before.redis.up) throw new Failure('unreachable', `${before.redis.trouble}; nobody was asked`);
  const answer = await requestDrain(redis.url, redis.clusterId, node).catch((error: Error) => {
    if (error instanceof AppError) throw new Failure('unreachable', `${error.message}; it may have been asked`, { cause: error });
    throw error;
  });
  if (answer.kind === 'unknown') {
    const names = answer.names.length === 0 ? 'no node lives' : `these live: ${answer.names.map((name) => oneLine(name, 63)).join(', ')}`;
    throw new Failure('refused', `There is no node ${JSON.stringify(oneLine(node, 63))}; ${names}`);
  }
  const leaving = before.view.members.filter(({ name }) => name === node).map(({ incarnation }) => incarnation);
  say(answer.kind === 'leaving' ? `${node} is leaving already` : `Asked ${node} to leave`);
  if (!hasOthers(before, node)) say('No other node can take its shards: their actors wait until one joins');
  if (!wait) return exitCodes.complete;

  let told = '';
  for (const giveUpAtMs = performance.now() + timeoutMs; ; await delay(pollEveryMs, undefined, { signal })) {
    const [reading, owned] = await Promise.all([readCluster(redis.url, redis.clusterId), shardsByOwner(databaseUrl)]);
    const left = leaving.reduce((sum, incarnation) => sum + (owned.get(incarnation) ?? 0), 0);
    const isMember = reading.view.members.some(({ incarnation }) => leaving.includes(incarnation));
    const out = reading.redis.up && !isMember;
    if (out && (left === 0 || !hasOthers(reading, node))) {
      say(`${node} has left`);
      return exitCodes.complete;
    }
    const words = !reading.redis.up ? `Redis does not answer (${reading.redis.trouble}); waiting` : progress(node, left, out);
    if (words !== told) say(words);
    told = words;
    if (performance.now() >= giveUpAtMs)
      throw new Failure(
        'refused',
        `${node} has not left within ${timeoutMs / 1_000} s; it goes on: look at it with cluster status --watch`,
      );
  }
}

function progress(node: string, left: number, out: boolean): string {
  const shards = `${left} shard${left === 1 ? '' : 's'}`;
  if (out) return `${node} has ended; ${shards} of it to be claimed by others`;
  return left > 0 ? `${node} has ${shards} to hand over` : `${node} has handed over all shards and finishes`;
}

function hasOthers({ view }: ClusterReading, node: string): boolean {
  return view.members.some((member) => member.name !== node && canOwn(member));
}
