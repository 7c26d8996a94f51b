/** Nodes for tests of the membership: each with a connection to Redis of its own, quick leases, and a note of all it was told. */
import type { TestContext } from 'node:test';
import type { Member, View } from '../../src/cluster/member.ts';
import { Membership, type MembershipOptions } from '../../src/cluster/membership.ts';
import { silentLog } from '../../src/log.ts';

/** Short, but the cluster's clock stands still while this process does, so a busy machine puts nobody out. */
export const leaseMs = 400;
export const renewEveryMs = 40;
export const clusterId = 'test';

export type TestNode = { name: string; incarnation: string; membership: Membership; views: View[]; expelled: number };

export type NodeChanges = {
  port?: number;
  incarnation?: string;
  roles?: Member['roles'];
  shared?: Partial<MembershipOptions['shared']>;
  /** What a node does that was put out. */
  onExpelled?: () => Promise<void>;
};

let started = 0;

/** A node that has not joined yet; it ends with the test. */
export function testNode(t: Pick<TestContext, 'after'>, redisUrl: string, name: string, changes: NodeChanges = {}): TestNode {
  const incarnation = changes.incarnation ?? `${name}/${++started}`;
  const membership = new Membership({
    redisUrl,
    clusterId,
    self: { incarnation, name, host: '127.0.0.1', port: changes.port ?? 4_000, roles: changes.roles ?? ['edge', 'actors'], leaving: false },
    shared: { shardCount: 1024, secretKeyDigest: 'a'.repeat(64), protocol: { lowest: 1, highest: 2 }, ...changes.shared },
    leaseMs,
    renewEveryMs,
    log: silentLog,
  });
  const node: TestNode = { name, incarnation, membership, views: [], expelled: 0 };
  membership.onView((view) => node.views.push(view));
  membership.onExpelled(async () => {
    node.expelled += 1;
    await changes.onExpelled?.();
  });
  t.after(() => membership.stop());
  return node;
}

/** Nodes that have joined, and all know each other. */
export async function joinedNodes(t: Pick<TestContext, 'after'>, redisUrl: string, names: string[]): Promise<TestNode[]> {
  const nodes = names.map((name) => testNode(t, redisUrl, name));
  await Promise.all(nodes.map(({ membership }) => membership.start()));
  await agreed(nodes);
  return nodes;
}

/** Resolves when each of them knows exactly these, in the same view. */
export async function agreed(nodes: TestNode[]): Promise<void> {
  const wanted = nodes.map(({ incarnation }) => incarnation).sort();
  await until(`${wanted} agree`, () => {
    const views = nodes.map(({ membership }) => membership.view);
    return views.every((view) => view.number === views[0]!.number && incarnations(view).join() === wanted.join());
  });
}

export function incarnations(view: View): string[] {
  return view.members.map(({ incarnation }) => incarnation);
}

/** Resolves when it is so; looks again and again. Rejects after 20 seconds, so that a test that never gets there says where it stood. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadlineMs) throw new Error(`It never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
