/** Cluster metrics of a node; a single node has none of them. */
import type { Cluster } from '../cluster/cluster.ts';
import type { MembershipState } from '../cluster/membership.ts';
import type { EventRelay } from '../edge/stream/event-relay.ts';
import type { Metrics } from '../metrics.ts';

const membershipStates: readonly MembershipState[] = ['joining', 'member', 'alone', 'stopped'];

export type ClusterParts = Cluster & { relay: EventRelay };

export function addClusterMetrics(metrics: Metrics, { node, membership, transport, relay }: ClusterParts): void {
  addPlacement(metrics, node);
  metrics.gauge('troupe_cluster_view', 'Number of the last view of the live nodes that this node knows', () => membership.view.number);
  metrics.gauge('troupe_cluster_members', 'Nodes in the last known view', () => membership.view.members.length);
  metrics.gauge(
    'troupe_cluster_isolated',
    'Isolated nodes in the last known view: not reachable from the others, so no shards are assigned to them',
    () => node.status().isolated.length,
  );
  metrics.gauge(
    'troupe_cluster_unable',
    '1 for each node in the last known view that cannot commit; no shards are assigned to it while another node can; else 0',
    () => {
      // By name: a restarted node may be in the view twice.
      const byName = new Map<string, number>();
      for (const { name, cannotCommit } of membership.view.members) byName.set(name, Math.max(byName.get(name) ?? 0, cannotCommit ? 1 : 0));
      return Array.from(byName, ([node, value]) => ({ labels: { node }, value }));
    },
  );
  metrics.gauge(
    'troupe_membership_state',
    '1 for the current membership state of this node, 0 for the other states; alone: Redis does not answer',
    () => membershipStates.map((state) => ({ labels: { state }, value: membership.state === state ? 1 : 0 })),
  );
  metrics.gauge('troupe_redis_up', "1 while Redis renews this node's lease, else 0", () => (membership.state === 'member' ? 1 : 0));
  addTransport(metrics, { transport, membership, node });
  metrics.counter(
    'troupe_events_relayed_total',
    'Events between the edges of nodes, by direction; lost ones are found in PostgreSQL',
    () => {
      const { sent, received, lost } = relay.counts;
      return [
        { labels: { direction: 'sent' }, value: sent },
        { labels: { direction: 'received' }, value: received },
        { labels: { direction: 'lost' }, value: lost },
      ];
    },
  );
  metrics.counter(
    'troupe_events_behind_total',
    'Accounts whose event counter was ahead of the events received here, found by polling',
    () => relay.counters.counts.behind,
  );
}

function addPlacement(metrics: Metrics, node: Cluster['node']): void {
  const shards = () => node.status().shards;
  metrics.gauge('troupe_shards_owned', 'Shards for which this node runs turns', () => shards().owned);
  metrics.gauge('troupe_shards_sealing', 'Shards that are being handed over: no new turns, pending commits finish', () => shards().sealing);
  metrics.gauge('troupe_shards_moving', 'Shards moving from or to this node', () => shards().inMotion);
  metrics.gauge('troupe_shards_unowned', 'Shards without an owner, as far as this node knows', () => node.status().routes[''] ?? 0);
  metrics.counter('troupe_handoffs_total', 'Shards handed over to other nodes', () => node.status().handoffsDone);
  metrics.counter('troupe_claims_total', 'Shards claimed', () => node.status().claimsDone);
}

function addTransport(metrics: Metrics, { transport, membership, node }: Pick<Cluster, 'transport' | 'membership' | 'node'>): void {
  const { counters } = transport;
  const byDirection = (sent: number, received: number) => [
    { labels: { direction: 'sent' }, value: sent },
    { labels: { direction: 'received' }, value: received },
  ];
  metrics.gauge('troupe_peer_up', '1 for each other node with an open stream, 0 without', () => {
    const up = new Set(transport.peerStatuses().flatMap((peer) => (peer.up ? [peer.incarnation] : [])));
    // By name: a restarted node may be in the view twice.
    const byName = new Map<string, number>();
    for (const { incarnation, name } of membership.view.members) {
      if (incarnation !== node.owner) byName.set(name, Math.max(byName.get(name) ?? 0, up.has(incarnation) ? 1 : 0));
    }
    return Array.from(byName, ([peer, value]) => ({ labels: { peer }, value }));
  });
  metrics.counter('troupe_peer_asks_total', 'Asks between nodes', () => byDirection(counters.asksSent, counters.asksReceived));
  metrics.gauge('troupe_peer_asks_waiting', 'Asks of this node that wait for another node', () => counters.asksWaiting);
  metrics.gauge('troupe_peer_asks_served', 'Asks of other nodes in progress', () => counters.asksServed);
  metrics.counter('troupe_peer_batches_total', 'Batches of frames sent between nodes', () =>
    byDirection(counters.batchesSent, counters.batchesReceived),
  );
  metrics.counter('troupe_peer_frames_total', 'Frames in batches between nodes', () =>
    byDirection(counters.framesSent, counters.framesReceived),
  );
  metrics.counter('troupe_peer_bytes_total', 'Bytes in batches between nodes, without the overhead of gRPC', () =>
    byDirection(counters.bytesSent, counters.bytesReceived),
  );
  metrics.counter(
    'troupe_peer_refused_total',
    'Asks and notifications dropped because the queue to another node was full',
    () => counters.refusedQueueFull,
  );
  metrics.counter(
    'troupe_peer_credit_stalls_total',
    'How often a queue to another node waited for flow-control credit',
    () => counters.creditStalls,
  );
}
