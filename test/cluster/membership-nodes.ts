/** Nodes for tests of the membership: each has its own connection to Redis, short leases, and a record of all its notifications. */
import assert from 'node:assert/strict';
import type { Member, View } from '../../src/cluster/member.ts';
import { Membership, type MembershipOptions } from '../../src/cluster/membership.ts';
import { noLog } from '../../src/log.ts';
import type { Scope } from '../support/scope.ts';
import { until } from '../support/until.ts';

/** Short, but the cluster's clock stops while this process does, so on a busy machine no node is expelled. */
export const leaseMs = 320;
export const renewEveryMs = 40;
export type TestNode = {
  name: string;
  incarnation: string;
  membership: Membership;
  views: View[];
  expelled: number;
  /** How often Redis did not answer it for a lease. */
  timesAlone: number;
};

export type NodeChanges = {
  port?: number;
  clusterId?: string;
  roles?: Member['roles'];
  shared?: Partial<MembershipOptions['shared']>;
  /** What a node does that was put out. */
  onExpelled?: () => Promise<void>;
};

let started = 0;

/** A node that has not joined yet; it ends with the test. */
export function testNode(t: Scope, redisUrl: string, name: string, changes: NodeChanges = {}): TestNode {
  const incarnation = `${name}/${++started}`;
  const membership = new Membership({
    redisUrl,
    clusterId: changes.clusterId ?? 'test',
    self: { incarnation, name, host: '127.0.0.1', port: changes.port ?? 4_000, roles: changes.roles ?? ['edge', 'actors'], leaving: false },
    shared: { shardCount: 1024, secretKeyDigest: 'a'.repeat(64), protocol: { lowest: 1, highest: 2 }, ...changes.shared },
    leaseMs,
    renewEveryMs,
    log: { ...noLog, warn: (_, message) => void (message.startsWith('Redis does not answer') && node.timesAlone++) },
  });
  const node: TestNode = { name, incarnation, membership, views: [], expelled: 0, timesAlone: 0 };
  membership.onView((view) => node.views.push(view));
  membership.onExpelled(async () => {
    node.expelled += 1;
    await changes.onExpelled?.();
  });
  t.after(() => membership.stop());
  return node;
}

/** Nodes that have joined, and all know each other. */
export async function joinedNodes(t: Scope, redisUrl: string, names: string[]): Promise<TestNode[]> {
  const nodes = names.map((name) => testNode(t, redisUrl, name));
  await Promise.all(nodes.map(({ membership }) => membership.start()));
  await agreed(nodes);
  return nodes;
}

/** Resolves when each of them has exactly these members, in the same view. */
export async function agreed(nodes: TestNode[]): Promise<void> {
  const wanted = nodes.map(({ incarnation }) => incarnation).sort();
  await until(() => {
    const views = nodes.map(({ membership }) => membership.view);
    return views.every((view) => view.number === views[0]!.number && incarnations(view).join() === wanted.join());
  }, `${wanted} agree`);
}

export function incarnations(view: View): string[] {
  return view.members.map(({ incarnation }) => incarnation);
}

/**
 * Throws if a node was expelled, if a node is missing from a view after it was first listed, or if the number of a view is not larger than
 * the number of the view before it.
 */
export function assertNobodyMissed(nodes: TestNode[]): void {
  for (const { views, expelled } of nodes) {
    assert.equal(expelled, 0);
    assert.ok(views.every((view, i) => i === 0 || view.number > views[i - 1]!.number));
    for (const { incarnation } of nodes) {
      const present = views.map((view) => incarnations(view).includes(incarnation));
      assert.ok(!present.slice(present.indexOf(true)).includes(false), `${incarnation} was always there`);
    }
  }
}
