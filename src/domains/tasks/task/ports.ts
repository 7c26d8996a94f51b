/** The actors of deployments that tasks use. That domain depends on this one: a port names only the commands and queries that are used. */

import { actorRef, type Contract } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';

/** Where a task can be published. */
export const deployTargets = ['vercel', 'netlify', 'cloudflare', 'expo'] as const;
export type DeployTarget = (typeof deployTargets)[number];

/** Publishes a workspace. Called in a co-located transaction: `create` never throws. */
export type DeploymentPort = {
  commands: {
    create: (input: {
      accountId: string;
      mode: Mode;
      workspaceId: string;
      target: DeployTarget;
      /** The newest configuration of the target, of which a deployment of a test key needs none. */
      configId: null;
      taskId: string;
    }) => unknown;
  };
  queries: Contract['queries'];
};

/** The configurations of an account, whose id is the account's. */
export type DeployConfigsPort = {
  commands: Contract['commands'];
  queries: { newest: (input: { target: DeployTarget; mode: Mode }) => object | null };
};

export const deploymentPort = actorRef<DeploymentPort>('deployment');
export const deployConfigsPort = actorRef<DeployConfigsPort>('deploy_configs');
