/** Which configuration a deployment is made with. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import type { Target } from '../targets.ts';
import type { DeployConfig } from './config.ts';
import { deployConfigs } from './messages.ts';

export type ConfigChoice = AccountMode & {
  target: Target;
  /** null: the newest of the target. */
  configId: string | null;
};

/**
 * null: a test key's deployment that names no configuration, in an account that has none.
 *
 * Throws `invalid` about `target` where the account has no configuration of the target, and about `config_id` where that is of another target;
 * `not_found` for a configuration that does not exist.
 */
export async function chooseConfig(actors: Pick<ActorSystem, 'query'>, choice: ConfigChoice): Promise<DeployConfig | null> {
  const { accountId, mode, target, configId } = choice;
  const all = await actors.query(deployConfigs, accountId, 'list', { mode });
  const named = configId === null ? null : all.find(({ id }) => id === configId);
  if (named != null) {
    if (named.target === target) return named;
    throw invalidField(['body', 'config_id'], `This configuration is of ${named.target}`, 'value_error', configId);
  }
  const newest = all.find((one) => one.target === target);
  if (configId === null && mode === 'test') return newest ?? null;
  if (newest === undefined) throw invalidField(['body', 'target'], noConfig(target), 'value_error', target);
  if (configId !== null) throw new AppError('not_found', 'Deploy configuration not found');
  return newest;
}

export function noConfig(target: Target): string {
  return `There is no deploy configuration of ${target}: make one with POST /deployments/configs`;
}
