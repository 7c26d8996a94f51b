/** Creates a deployment with the current configuration and the current files of its workspace. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { Builder } from '../build/builder.ts';
import type { DeployConfig } from '../configs/config.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { Snapshot, Snapshots } from '../snapshot/site.ts';
import type { DeploymentRow } from './entity.ts';
import { deployment, type NewDeployment } from './messages.ts';

export type CreationParts = {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  database: Pick<Database, 'read'>;
  snapshots: Snapshots;
  builder: Pick<Builder, 'refusal'>;
  creations: Creations;
};

/** Limits how many are created at once. */
export type Creations = { pass<T>(accountId: string, creator: Creator, create: () => Promise<T>): Promise<T> };
/** What waits for the creation. */
export type Creator = 'request' | 'agent';

export type Creation = Pick<NewDeployment, 'accountId' | 'mode' | 'workspaceId' | 'target' | 'taskId'> & {
  /** The same id gives the same deployment. */
  deploymentId: string;
  commandId?: string | undefined;
  /** The configuration of the target. null: the deployment of a test key, which needs none. */
  config: DeployConfig | null;
  /** A snapshot with files. It is removed if the deployment exists already. */
  snapshot?: Snapshot;
  /** Files of an earlier deployment, in place of the workspace's. */
  site?: Snapshot;
};

/** Per account, because each has a snapshot. */
const maxUnderWay = 200;

/**
 * Throws `conflict` if a build is needed and this node does not build, `invalid` for a workspace without files, and `rate_limited` while too many of the account are
 * under way.
 */
export function createDeployment(parts: CreationParts, creation: Creation, creator: Creator): Promise<DeploymentRow> {
  return parts.creations.pass(creation.accountId, creator, () => create(parts, creation));
}

async function create(parts: CreationParts, creation: Creation): Promise<DeploymentRow> {
  const { actors, database, snapshots, builder } = parts;
  const { deploymentId, commandId, config, snapshot: takenBefore = null, site = null, ...given } = creation;
  const there = await actors.query(deployment, deploymentId, 'get', null);
  if (there === null) await mustHaveRoom(database, given.accountId);
  const snapshot = takenBefore ?? (there !== null || site !== null ? null : await taken(snapshots, creation));
  const isBuilt = config !== null && config.buildCommand !== null && site === null;
  const refusal = there === null && isBuilt ? await builder.refusal() : null;
  if (refusal !== null) {
    if (snapshot !== null) await snapshots.remove(snapshot.snapshotId);
    throw new AppError('conflict', refusal);
  }
  const input: NewDeployment = { ...given, configId: config?.id ?? null, config, snapshot, site };
  const row = await actors.ask(deployment, deploymentId, 'create', input, { commandId });
  if (snapshot !== null && row.snapshotId !== snapshot.snapshotId) await snapshots.remove(snapshot.snapshotId);
  return row;
}

async function mustHaveRoom(database: Pick<Database, 'read'>, accountId: string): Promise<void> {
  const { rows } = await database.read({
    name: 'deployments_under_way',
    text: 'select count(*)::int as count from deployment where account_id = $1 and completed_at is null',
    values: [accountId],
  });
  if (rows[0].count >= maxUnderWay)
    throw new AppError('rate_limited', 'Too many deployments of this account are under way', { retryAfterS: 10 });
}

/** null: the workspace cannot be published; the deployment fails with the reason when it takes the snapshot itself. */
async function taken(snapshots: Snapshots, { workspaceId, accountId }: Creation): Promise<Snapshot | null> {
  try {
    const snapshot = await snapshots.take({ id: workspaceId, accountId });
    if (snapshot.files > 0) return snapshot;
    await snapshots.remove(snapshot.snapshotId);
  } catch (error) {
    if (error instanceof DeployFailed) return null;
    throw error;
  }
  throw invalidField(['body', 'workspace_id'], 'The workspace has no files', 'value_error', workspaceId);
}
