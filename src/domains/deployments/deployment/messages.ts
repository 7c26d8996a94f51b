/** Commands and queries of a deployment. */
import { type ActorRef, actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { DeploymentPort } from '../../tasks/contract.ts';
import type { Target } from '../targets.ts';
import type { DeploymentRow } from './entity.ts';

export type NewDeployment = {
  accountId: string;
  mode: Mode;
  workspaceId: string;
  target: Target;
  /** null: the newest configuration of the target when it begins. A test key's deployment may have none. */
  configId: string | null;
  /** The task it belongs to, by an agent or by `auto_deploy`. */
  taskId: string | null;
};

export type DeploymentContract = {
  commands: {
    /** The same id again: the deployment that is there. */
    create(input: NewDeployment): DeploymentRow;
    /** Ends it at once, whatever runs. Refused with `conflict` when it has ended. */
    cancel(input: null): DeploymentRow;
  };
  queries: { get(input: null): DeploymentRow | null };
  effects: Record<never, never>;
};

export const deployment = actorRef<DeploymentContract>('deployment') satisfies ActorRef<DeploymentPort>;
