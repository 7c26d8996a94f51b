/** `auto_deploy`: a task that completes publishes its workspace, once, at the target that it names. Creating the task is the consent. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { TurnContext } from '../../../actors/define-actor.ts';
import { colocatedId } from '../../../cluster/address.ts';
import { invalidField } from '../../../errors.ts';
import { derivedId } from '../../../ids.ts';
import type { AccountMode } from '../../../mode.ts';
import type { TaskConfig, TaskRow } from './entity.ts';
import type { TaskContract } from './messages.ts';
import { type DeployTarget, deployConfigsPort, deploymentPort, deployTargets } from './ports.ts';

/** Throws `invalid_request` where the deployment of such a task could not begin. Test keys need no configuration: theirs are previews. */
export async function mustBeDeployable(actors: ActorSystem, { accountId, mode }: AccountMode, config: TaskConfig): Promise<void> {
  if (!config.auto_deploy) return;
  const at = ['body', 'config', 'deploy_target'];
  const target = targetOf(config);
  if (target === null) throw invalidField(at, 'auto_deploy needs a deploy_target');
  if (mode === 'test') return;
  if ((await actors.query(deployConfigsPort, accountId, 'newest', { target, mode })) === null)
    throw invalidField(at, `This account has no deploy configuration for ${target}: create one first`);
}

/** The deployment is created in the turn that completes the task, so its id is valid as soon as it is shown. It is derived from the task's id. */
export function deployCompleted(task: TaskRow, ctx: TurnContext<TaskContract>): TaskRow {
  const { id: taskId, accountId, mode, workspaceId } = task;
  const target = task.config.auto_deploy ? targetOf(task.config) : null;
  // Tasks of earlier versions may have auto_deploy without a target.
  if (target === null) return task;
  const seed = derivedId('dep_', accountId, taskId, 'auto');
  const deploymentId = colocatedId(seed, deploymentPort.kind, { kind: 'task', id: taskId });
  ctx.callColocated(deploymentPort, deploymentId, 'create', { accountId, mode, workspaceId, target, configId: null, taskId });
  return { ...task, deploymentId };
}

function targetOf({ deploy_target: named }: TaskConfig): DeployTarget | null {
  return deployTargets.find((target) => target === named) ?? null;
}
