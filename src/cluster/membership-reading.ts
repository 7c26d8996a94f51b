/** Reads and changes the cluster for an operator's command: through Redis, without being a member. */
import { randomBytes } from 'node:crypto';
import type { AppError } from '../errors.ts';
import type { View } from './member.ts';
import { pairsOf, recordsOf, viewOf } from './membership-reply.ts';
import { keysOf, membershipScripts, numberOfKeys, type ProtocolRange } from './membership-scripts.ts';
import { RedisConnection } from './redis-connection.ts';

export type ClusterReading = {
  /** `trouble`: why Redis does not answer, in one line for the operator; the other fields are empty then. */
  redis: { up: boolean; trouble: string | null };
  view: View;
  /** Random, new whenever Redis lost its data; null if no node has ever joined. */
  generation: string | null;
  /** In the order of the view's members. */
  nodes: {
    incarnation: string;
    protocol: ProtocolRange;
    /** The number of its lease renewals. */
    renewals: number;
    /** Time since its latest renewal, by the cluster's clock, which does not advance while no member renews. */
    sinceRenewalMs: number;
    /** An operator has asked it to leave. */
    drainRequested: boolean;
  }[];
};

export type DrainRequest =
  /** The node sees the request with its next renewal, within a second. */
  | { kind: 'asked' }
  /** It is leaving already. */
  | { kind: 'leaving' }
  /** No live node has that name; `names` lists the live ones. */
  | { kind: 'unknown'; names: string[] };

const timeoutMs = 5_000;

/** The state of the cluster. Also resolves when Redis is unavailable, and reports that. */
export async function readCluster(redisUrl: string, clusterId: string): Promise<ClusterReading> {
  try {
    return await runScript(redisUrl, clusterId, 'troupe_read', {}, readingOf);
  } catch (error) {
    const redis = { up: false, trouble: (error as AppError).message };
    return { redis, view: { number: 0, members: [] }, generation: null, nodes: [] };
  }
}

/** Asks the node with that name to leave as with SIGTERM. Rejects `unavailable` when Redis does not answer. */
export async function requestDrain(redisUrl: string, clusterId: string, nodeName: string): Promise<DrainRequest> {
  return runScript(redisUrl, clusterId, 'troupe_drain', { name: nodeName }, ([kind, names]: any) =>
    kind === 'unknown' ? { kind, names: names.sort() } : { kind },
  );
}

async function runScript<T>(url: string, clusterId: string, script: string, ask: object, read: (answer: any) => T): Promise<T> {
  const name = `troupe-command-${randomBytes(3).toString('hex')}`;
  const redis = new RedisConnection({ url, name, scripts: membershipScripts, numberOfKeys });
  try {
    await redis.connect(timeoutMs);
    return read(await redis.run(script, keysOf(clusterId), JSON.stringify(ask), timeoutMs));
  } finally {
    redis.close();
  }
}

function readingOf([generation, number, texts, counts, renewalTimes, servedMs, drains]: any): ClusterReading {
  const records = recordsOf(texts);
  const view = viewOf(number, records);
  const renewals = new Map(pairsOf(counts));
  const renewedAtMs = new Map(pairsOf(renewalTimes));
  const nodes = view.members.map(({ incarnation }) => ({
    incarnation,
    protocol: records.get(incarnation)!.protocol,
    renewals: renewals.get(incarnation) ?? 0,
    sinceRenewalMs: servedMs - (renewedAtMs.get(incarnation) ?? servedMs),
    drainRequested: drains.includes(incarnation),
  }));
  return { redis: { up: true, trouble: null }, view, generation, nodes };
}
