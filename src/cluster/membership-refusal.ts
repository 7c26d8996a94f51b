/** The reason why a node may not join, in one line for the operator. */
import { AppError } from '../errors.ts';
import type { Reply } from './membership-reply.ts';
import type { AcceptedDigests, MemberRecord, SharedSettings } from './membership-scripts.ts';

/**
 * A permanent reason; null if the node should ask again.
 *
 * @param firstConflict the first reply that named a node of the same name: if that node has renewed since, it is alive
 */
export function refusalOf(
  reply: Reply | { kind: 'unanswered' },
  self: MemberRecord,
  shared: SharedSettings & AcceptedDigests,
  firstConflict: { incarnation: string; count: number } | null,
): AppError | null {
  switch (reply.kind) {
    case 'settings':
      if (reply.shardCount !== shared.shardCount) return otherShardCount(reply, shared);
      return [shared.secretKeyDigest, ...shared.acceptedDigests].includes(reply.secretKeyDigest)
        ? otherNetwork(reply, shared, self)
        : otherKey(reply, shared);
    case 'protocol':
      return new AppError(
        'conflict',
        `This node speaks ${versions(self.protocol)} of the protocol between nodes, but the running node ${reply.name} speaks ` +
          `${versions(reply)}: upgrade the nodes one version at a time`,
      );
    case 'name_in_use':
      return firstConflict?.incarnation === reply.incarnation && reply.count > firstConflict.count ? nameInUse(reply, self) : null;
    default:
      return null;
  }
}

/** For a node that was not admitted within its time limit. */
export function tooLate(reply: Reply | { kind: 'unanswered'; error: AppError }, self: MemberRecord): AppError {
  if (reply.kind === 'unanswered') return reply.error;
  if (reply.kind === 'name_in_use') return nameInUse(reply, self);
  return new AppError('unavailable', 'The cluster did not admit this node in time: try again');
}

function otherKey(reply: SharedSettings, shared: SharedSettings): AppError {
  return new AppError(
    'conflict',
    `SECRET_KEY of this node (digest ${short(shared.secretKeyDigest)}) is not the one of the running nodes (digest ` +
      `${short(reply.secretKeyDigest)}): give all nodes of a cluster the same key`,
  );
}

function otherShardCount(reply: SharedSettings, shared: SharedSettings): AppError {
  return new AppError(
    'conflict',
    `This node divides actors into ${shared.shardCount} shards, but the running nodes into ${reply.shardCount}: ` +
      'run one version, or stop all nodes of the other first',
  );
}

function otherNetwork(reply: SharedSettings, shared: SharedSettings, { host, port }: MemberRecord): AppError {
  return new AppError(
    'conflict',
    `This node announces ${host}:${port} (${shared.network}), but the running nodes announce addresses of another network ` +
      `(${reply.network}): set CLUSTER_HOST to an address that the other nodes reach`,
  );
}

function nameInUse({ host, port }: { host: string; port: number }, self: MemberRecord): AppError {
  return new AppError(
    'conflict',
    `NODE_NAME ${self.name} is in use by a running node at ${host}:${port}: give each node of a cluster a name of its own`,
  );
}

function short(digest: string): string {
  return digest.slice(0, 8);
}

function versions({ lowest, highest }: { lowest: number; highest: number }): string {
  return lowest === highest ? `version ${lowest}` : `versions ${lowest} to ${highest}`;
}
