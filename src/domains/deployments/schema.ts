/** The tables of deployments. */
import type { Schema } from '../../storage/schema.ts';
import { DeployConfigs } from './configs/entity.ts';
import { Deployment } from './deployment/entity.ts';
import { DeploymentLogLine } from './deployment/log-entity.ts';
import { Deployments } from './migrations/0046-deployments.ts';
import { KnownContents } from './migrations/0049-known-contents.ts';
import { SnapshotFile } from './snapshot/entity.ts';

export const deploymentsSchema: Schema = {
  entities: [Deployment, DeploymentLogLine, DeployConfigs, SnapshotFile],
  migrations: [Deployments, KnownContents],
};
