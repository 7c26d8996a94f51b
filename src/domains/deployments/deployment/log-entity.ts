/** Lines of deployments' logs. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

export const logSources = ['troupe', 'build', 'provider'] as const;
export type LogSource = (typeof logSources)[number];

export const DeploymentLogLine = defineEntity({
  name: 'DeploymentLogLine',
  tableName: 'deployment_log',
  properties: {
    deploymentId: p.text().primary(),
    /** From 1. */
    line: p.integer().primary(),
    at: epochMs(),
    source: p.text().$type<LogSource>(),
    text: p.text(),
  },
});
export type DeploymentLogLineRow = InferEntity<typeof DeploymentLogLine>;
