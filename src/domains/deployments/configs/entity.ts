/** The deploy configurations of accounts, one row for each account. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { json } from '../../../storage/column-types.ts';
import type { DeployConfig } from './config.ts';

export const DeployConfigs = defineEntity({
  name: 'DeployConfigs',
  tableName: 'deploy_configs',
  properties: {
    accountId: p.text().primary(),
    configs: json<DeployConfig[]>(),
  },
});
export type DeployConfigsRow = InferEntity<typeof DeployConfigs>;
